"""Serves the page at a socket that listens, until the process ends."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final, NamedTuple

import uvicorn

from coordinator_server.client.settings import ConnectionSettings
from coordinator_server.ops.hosts import Hosts
from coordinator_server.page import summaries
from coordinator_server.page.answers import Answers, Findings, Removed
from coordinator_server.page.app import page_app
from coordinator_server.page.board import Board
from coordinator_server.page.door import Door
from coordinator_server.page.summary import Words
from coordinator_server.page.updater import Updater
from coordinator_server.pipeline.index.feed import DIRECTORY

_MOST_CONNECTIONS: Final = 512
_STOP_S: Final = 1


class Known(NamedTuple):
    """What others know: how events are put into words, what is wrong with the directory, and what a cluster has removed."""

    words: Words
    findings: Findings
    removed_to: Removed


class Secured(NamedTuple):
    """A page that other machines reach: TLS, and how the cluster is reached where viewers log in, without a login."""

    context: ssl.SSLContext
    where: Callable[[], ConnectionSettings]


def serve(
    bound: socket.socket,
    data_dir: Path,
    known: Known,
    allowed_hosts: Collection[str] = (),
    secured: Secured | None = None,
) -> None:
    """Serve the page of a data directory. Without ``secured``, everybody who reaches it sees everything."""
    board = Board()
    updater = Updater(data_dir, board, known.words)
    door = None if secured is None else Door(secured.where, lambda: _topics(data_dir))
    answers = Answers(data_dir, updater, known.findings, known.removed_to)
    app = page_app(answers, board, updater, Hosts(bound.getsockname()[0], allowed_hosts), door)
    config = uvicorn.Config(
        app,
        # The client's connections, where viewers log in, are asyncio's.
        loop="asyncio",
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_STOP_S,
    )
    config.load()
    config.ssl = None if secured is None else secured.context
    uvicorn.Server(config).run(sockets=[bound])


def _topics(data_dir: Path) -> Collection[str]:
    with summaries.open_to_read(data_dir / DIRECTORY) as found:
        return set() if found is None else found.topics()
