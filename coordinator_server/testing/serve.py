"""Run a server for tests until it is asked to end, or no process is left that could ask it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Coroutine
from typing import Any

import structlog

from coordinator_server.log.errors import LogError
from coordinator_server.testing.channel import Channel
from coordinator_server.testing.ephemeral import EphemeralServer
from coordinator_server.testing.operations import operations_of

log = structlog.get_logger(__name__)


async def serve(server: EphemeralServer, host: str, port: int, channel: Channel, *ends: Coroutine[Any, Any, object]) -> None:
    """Start, say so on the channel, and serve until the first of ``ends``. Raises StartError and LogError.

    Among ``ends`` is ``channel.serve``, if there are requests to expect.
    """
    try:
        await server.start(host, port)
    except BaseException:
        for end in ends:
            end.close()
        raise
    listeners = server.listeners
    ready = {"bootstrap_servers": next(iter(listeners.values())), "pid": os.getpid(), "cluster_id": server.cluster_id}
    channel.send(ready | {"listeners": listeners})
    tasks = [asyncio.ensure_future(end) for end in ends]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        if task.done():
            task.result()
        task.cancel()


async def requests_end(server: EphemeralServer, channel: Channel) -> None:
    """Run the requests of a channel, and return when they end."""
    await channel.serve(operations_of(server))


def die(failure: LogError) -> None:
    """End the process: its log cannot be trusted."""
    log.error("log-failed", why=str(failure))
    sys.stderr.flush()
    os._exit(1)
