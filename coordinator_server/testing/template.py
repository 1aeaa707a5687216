"""A process that has everything imported, and becomes a server by a fork: ``python -m coordinator_server.testing.template FD``.

A start of Python and its imports take longer than most tests. So each test process has one template, which starts all its servers.
Messages are JSON objects on the socket FD, each in a packet of its own. A start has two descriptors beside it: the server's
channel, and the file that gets its log.

    {"start": {"properties": {}, "port": 40123, "data_dir": null, "ahead_ms": 0}}   {"pid": 4711}
    {"end": 4711}    wait for its end, and kill it if that takes long               {"status": 0}
    {"kill": 4711}   SIGKILL                                                        {"status": 9}
    {"poll": 4711}   the status of a server that has ended unasked                 {"status": null}

A server that ended stays known to the system until it is asked for here, so no pid can mean a different process. The template ends
with the test process: the socket ends then. A server ends with its channel.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NoReturn

import msgspec
import uvloop

from coordinator_server.config import ConfigError
from coordinator_server.log.errors import LogError
from coordinator_server.ops.logging import configure
from coordinator_server.server.errors import StartError
from coordinator_server.testing.channel import Channel
from coordinator_server.testing.ephemeral import EphemeralServer
from coordinator_server.testing.ports import ADDRESS
from coordinator_server.testing.serve import die, requests_end, serve
from coordinator_server.testing.settings import load_settings

PACKET_BYTES: Final = 1 << 16
END_WITHIN_S: Final = 5.0
_LOOK_S: Final = 0.0005


class Start(msgspec.Struct):
    """What a server is started with. ``ahead_ms``: its clock, after one that was killed."""

    properties: dict[str, str]
    port: int
    data_dir: str | None = None
    ahead_ms: int = 0


class Order(msgspec.Struct):
    """A message to the template: one of the fields is set."""

    start: Start | None = None
    end: int | None = None
    kill: int | None = None
    poll: int | None = None


def main() -> None:
    """Serve the test process until it ends."""
    # ctrl-C is for the test runner, which ends its servers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    peer = socket.socket(fileno=int(sys.argv[1]))
    with _silence():
        configure("info", "console")
        asyncio.run(_warm_up())
    # What is shared with the servers stays shared: the collector does not touch it.
    gc.collect()
    gc.freeze()
    while True:
        packet, descriptors, _, _ = socket.recv_fds(peer, PACKET_BYTES, 2)
        if not packet:
            return
        answer = _obey(msgspec.json.decode(packet, type=Order), descriptors, peer)
        peer.send(msgspec.json.encode(answer))


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Send what is logged nowhere."""
    stderr = os.dup(sys.stderr.fileno())
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stderr.fileno())
    try:
        yield
    finally:
        os.dup2(stderr, sys.stderr.fileno())
        os.close(stderr)
        os.close(nowhere)


async def _warm_up() -> None:
    """Run a server once, so that all codecs are generated and all modules imported. No thread and no loop of it is left."""
    server = EphemeralServer(load_settings({}), die)
    await server.start(ADDRESS, 0)
    await server.stop()
    server.release()


def _obey(order: Order, descriptors: list[int], peer: socket.socket) -> dict[str, Any]:
    if order.start is not None:
        pid = os.fork()
        if pid == 0:
            peer.close()
            _become_server(order.start, *descriptors)
        for each in descriptors:
            os.close(each)
        return {"pid": pid}
    if order.end is not None:
        return {"status": _end(order.end)}
    if order.kill is not None:
        os.kill(order.kill, signal.SIGKILL)
        return {"status": os.waitpid(order.kill, 0)[1]}
    assert order.poll is not None
    pid, status = os.waitpid(order.poll, os.WNOHANG)
    return {"status": status if pid else None}


def _end(pid: int) -> int:
    deadline = time.monotonic() + END_WITHIN_S
    while time.monotonic() < deadline:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return status
        time.sleep(_LOOK_S)
    os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def _become_server(start: Start, channel: int, log: int) -> NoReturn:
    code = 1
    try:
        os.dup2(log, sys.stderr.fileno())
        os.dup2(log, sys.stdout.fileno())
        code = uvloop.run(_serve(start, Channel(channel, channel)))
    except BaseException:  # noqa: BLE001 - this process must not go on as the template
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


async def _serve(start: Start, channel: Channel) -> int:
    data_dir = Path(start.data_dir) if start.data_dir is not None else None
    try:
        server = EphemeralServer(load_settings(start.properties), die, data_dir, start.ahead_ms)
        await serve(server, ADDRESS, start.port, channel, requests_end(server, channel))
    except (ConfigError, StartError, LogError) as failure:
        channel.send({"ok": False, "error": str(failure)})
        return 1
    # The test waits for the end, and nothing has to be left in order.
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
