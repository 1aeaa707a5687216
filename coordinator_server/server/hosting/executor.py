"""The child process for a loop's tasks (cli/executor.py). A loop starts it with its first task; it ends with its loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from coordinator_server.runtime.executor import Child, Done
from coordinator_server.server.cluster.link import Link
from coordinator_server.server.hosting.interpreter import child_command

_REAP_AGAIN_S: Final = 0.02
_ENDS_WITHIN_S: Final = 1.0


class Run(Struct, frozen=True):
    """The message to the child that starts a task."""

    task: str
    argument: bytes


def start_executor(done: Callable[[Done], None], lost: Callable[[], None]) -> Child:
    """Start a child process. Raises OSError if no process can be started."""
    ours, its = socket.socketpair()
    with its:
        words = [*child_command("executor"), str(its.fileno()), str(os.getpid())]
        try:
            # As loops are started: in a separate process group, with stdout sent to the log.
            process = subprocess.Popen(
                words, pass_fds=(its.fileno(),), process_group=0, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno()
            )
        except OSError:
            ours.close()
            raise
    return ExecutorProcess(process, ours, done, lost)


class ExecutorProcess:
    """The child process and the socket to it."""

    def __init__(
        self, process: subprocess.Popen[bytes], channel: socket.socket, done: Callable[[Done], None], lost: Callable[[], None]
    ) -> None:
        self._process = process
        self._lost = lost
        self._loop = asyncio.get_running_loop()
        self._link: Link[Done] = Link(Done, done, self._ended)
        # Messages that wait until the event loop has connected the socket.
        self._waiting: list[Run] = []
        self._is_connected = False
        self._connecting = self._loop.create_task(self._connect(channel))

    def run(self, task: str, argument: bytes, /) -> None:
        """Send a task to the child."""
        if self._is_connected:
            self._link.send(Run(task, argument))
        else:
            self._waiting.append(Run(task, argument))

    def kill(self) -> None:
        """Send SIGKILL: the child has no state to save."""
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDS_WITHIN_S)
        self._link.close()

    async def _connect(self, channel: socket.socket) -> None:
        await self._loop.create_unix_connection(lambda: self._link, sock=channel)
        self._is_connected = True
        for run in self._waiting:
            self._link.send(run)

    def _ended(self) -> None:
        """Kill and reap the child, whose connection has closed or sent an invalid message."""
        self._process.kill()
        self._reap()
        self._lost()

    def _reap(self) -> None:
        if self._process.poll() is None:
            self._loop.call_later(_REAP_AGAIN_S, self._reap)
