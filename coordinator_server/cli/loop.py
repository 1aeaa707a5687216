"""Run one of several loops: ``python -m coordinator_server.cli.child loop FD``.

Not a command: only the supervisor starts it, and controls it over the socket FD. The process dies
with its supervisor.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import sys
from pathlib import Path
from typing import NoReturn

import msgspec
import structlog

from coordinator_server.cli.deadline import end_within
from coordinator_server.cli.output import complain
from coordinator_server.cli.parent import die_with_parent
from coordinator_server.cli.process_settings import return_freed_memory
from coordinator_server.cli.serve import calm_the_collector, die, unless
from coordinator_server.cli.signals import stop_signals
from coordinator_server.log.errors import LogError
from coordinator_server.ops.logging import configure
from coordinator_server.server.cluster.link import Link
from coordinator_server.server.cluster.nodes import Place
from coordinator_server.server.control.control_socket import run_operation
from coordinator_server.server.control.json_pieces import json_pieces
from coordinator_server.server.daemon import Daemon
from coordinator_server.server.errors import StartError
from coordinator_server.server.hosting.slow_turns import SlowTurns
from coordinator_server.server.supervisor.messages import (
    AnswerPiece,
    Listen,
    Listening,
    LoopEnded,
    OperationDone,
    Ping,
    Pong,
    Prepared,
    Recovered,
    Reload,
    RunOperation,
    Serving,
    StartLoop,
    ToLoop,
)

log = structlog.get_logger(__name__)


def main() -> int:
    """Run the loop and return the exit code."""
    import uvloop

    die_with_parent()
    return_freed_memory()
    # A load creates millions of objects and no garbage.
    gc.disable()
    channel = socket.socket(fileno=int(sys.argv[1]))
    order = _read_order(channel)
    if order is None or os.getppid() != order.supervisor:
        # The supervisor ended before die_with_parent took effect.
        return 1
    # The supervisor handles ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    configure(order.log_level, order.log_format, order.loop)
    try:
        return uvloop.run(_be(order, channel))
    except LogError as failure:
        return complain(failure, 1)


async def _be(order: StartLoop, channel: socket.socket) -> int:
    return await _Loop(order).run(channel)


def _read_order(channel: socket.socket) -> StartLoop | None:
    size = _read(channel, 4)
    data = _read(channel, int.from_bytes(size, "big")) if size else None
    return msgspec.msgpack.decode(data, type=StartLoop) if data else None


def _read(channel: socket.socket, size: int) -> bytes | None:
    data = b""
    while len(data) < size:
        more = channel.recv(size - len(data))
        if not more:
            return None
        data += more
    return data


class _Loop:
    """Run a loop as the supervisor's order says."""

    def __init__(self, order: StartLoop) -> None:
        self._order = order
        self._stopping = stop_signals(signal.SIGTERM)
        self._may_listen = asyncio.Event()
        self._asked: set[asyncio.Task[None]] = set()
        self._link: Link[ToLoop] = Link(ToLoop, self._received, self._orphaned)
        place = Place(order.loop, order.view, order.serving, order.incarnation)
        self._slow_turns = SlowTurns()
        self._daemon = Daemon(order.config, Path(order.data_dir), die, place, slow_turns=self._slow_turns.counts)

    async def run(self, channel: socket.socket) -> int:
        daemon = self._daemon
        await asyncio.get_running_loop().create_unix_connection(lambda: self._link, sock=channel)
        try:
            await daemon.adopt([[socket.socket(fileno=each) for each in bound] for bound in self._order.sockets])
            self._link.send(Recovered())
            if await unless(self._stopping, daemon.prepare()):
                self._link.send(Prepared(tuple(daemon.operations)))
            if await unless(self._stopping, self._may_listen.wait()):
                await daemon.listen()
                self._link.send(Listening())
                log.info("loop-listening", port=self._port)
                if await unless(self._stopping, daemon.finish_loading()):
                    calm_the_collector()
                    self._slow_turns.start()
                    self._link.send(Serving())
                    log.info("loop-serving", port=self._port)
        except (StartError, LogError) as failure:
            await daemon.stop()
            return complain(failure, failure.exit_code)
        await self._stopping.wait()
        end_within(self._order.config.live.stop_timeout_ms)
        self._slow_turns.stop()
        await daemon.stop()
        return 0

    @property
    def _port(self) -> int:
        return self._daemon.rooms.wire.listener.addresses[0][1]

    def _received(self, message: ToLoop) -> None:
        match message:
            case Listen():
                self._may_listen.set()
            case Reload(config=changed):
                self._daemon.reload(changed)
            case LoopEnded(loop=loop, incarnation=incarnation):
                self._daemon.loop_ended(loop, incarnation)
            case Ping():
                self._link.send(Pong())
            case RunOperation():
                task = asyncio.get_running_loop().create_task(self._answer(message))
                self._asked.add(task)
                task.add_done_callback(self._asked.discard)
            case StartLoop():
                raise AssertionError("a loop gets one StartLoop, which main has read")

    async def _answer(self, asked: RunOperation) -> None:
        answer = await run_operation(self._daemon.operations, asked.request)
        for piece in json_pieces(dict(answer)):
            self._link.send(AnswerPiece(asked.id, piece))
            await asyncio.sleep(0)
        self._link.send(OperationDone(asked.id))

    def _orphaned(self) -> NoReturn:
        log.error("supervisor-lost", action="the loop ends: no process could stop it")
        os._exit(1)
