"""The child process that a loop's tasks run in (cli/executor.py): one for each loop that has had any. It ends with its loop."""

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
from coordinator_server.server.interpreter import interpreter

_REAP_AGAIN_S: Final = 0.02
_ENDS_WITHIN_S: Final = 1.0


class Run(Struct, frozen=True):
    """Run the task of this name."""

    task: str
    argument: bytes


def start_executor(done: Callable[[Done], None], lost: Callable[[], None]) -> Child:
    """Start a child of this process. OSError when there can be no more processes."""
    ours, its = socket.socketpair()
    with its:
        words = [*interpreter(), "-m", "coordinator_server.cli.executor", str(its.fileno()), str(os.getpid())]
        try:
            # As a loop is started: in a process group of its own, with its output to the log.
            process = subprocess.Popen(
                words, pass_fds=(its.fileno(),), process_group=0, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno()
            )
        except OSError:
            ours.close()
            raise
    return ExecutorProcess(process, ours, done, lost)


class ExecutorProcess:
    """The process, and the socket to it."""

    def __init__(
        self, process: subprocess.Popen[bytes], channel: socket.socket, done: Callable[[Done], None], lost: Callable[[], None]
    ) -> None:
        self._process = process
        self._lost = lost
        self._loop = asyncio.get_running_loop()
        self._link: Link[Done] = Link(Done, done, self._ended)
        # Until the loop has taken the socket.
        self._waiting: list[Run] = []
        self._is_connected = False
        self._connecting = self._loop.create_task(self._connect(channel))

    def run(self, task: str, argument: bytes, /) -> None:
        """Send it a task."""
        if self._is_connected:
            self._link.send(Run(task, argument))
        else:
            self._waiting.append(Run(task, argument))

    def kill(self) -> None:
        """SIGKILL: it has nothing to lose."""
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
        """It has ended, or has said what nobody understands."""
        self._process.kill()
        self._reap()
        self._lost()

    def _reap(self) -> None:
        if self._process.poll() is None:
            self._loop.call_later(_REAP_AGAIN_S, self._reap)
