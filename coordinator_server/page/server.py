"""Serves the page at a socket that listens, until the process ends."""

from __future__ import annotations

import socket
from collections.abc import Collection
from pathlib import Path
from typing import Final

import uvicorn

from coordinator_server.ops.hosts import Hosts
from coordinator_server.page.answers import Answers
from coordinator_server.page.app import page_app
from coordinator_server.page.board import Board
from coordinator_server.page.summary import Words
from coordinator_server.page.updater import Updater

_MOST_CONNECTIONS: Final = 512
_STOP_S: Final = 1


def serve(bound: socket.socket, data_dir: Path, words: Words, allowed_hosts: Collection[str] = ()) -> None:
    """Serve the page of a data directory."""
    board = Board()
    updater = Updater(data_dir, board, words)
    app = page_app(Answers(data_dir, updater), board, updater, Hosts(bound.getsockname()[0], allowed_hosts))
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_STOP_S,
    )
    uvicorn.Server(config).run(sockets=[bound])
