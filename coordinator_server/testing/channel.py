"""The channel on which a test controls its server: JSON objects, one per line, each answered before the next one is read.

The server ends when the channel does. A pipe or a socket ends with the process that has its other end, however that ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import threading
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from coordinator_server.server.control.control_socket import run_operation
from coordinator_server.server.local_operation import Operation
from protocol.printable import printable_json

ORPHAN_CHECK_S: Final = 0.2
_END: Final = "end"


class Channel:
    """Two descriptors, which may be the same: requests come from the first, answers go to the second."""

    def __init__(self, requests: int, answers: int) -> None:
        self._requests = requests
        self._answers = answers
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()

    def send(self, answer: Mapping[str, Any]) -> None:
        """Write a line."""
        line = f"{printable_json(msgspec.json.encode(answer).decode())}\n".encode()
        # The peer may be gone. The end of its requests says so.
        with contextlib.suppress(OSError):
            while line:
                line = line[os.write(self._answers, line) :]

    async def serve(self, operations: Mapping[str, Operation]) -> None:
        """Run requests until they end, or one asks for the end."""
        # The error for an unknown operation lists this one, too.
        known = {**operations, _END: _ended}
        loop = asyncio.get_running_loop()
        # A descriptor of any kind can be read in a thread, and the loop stays free.
        threading.Thread(target=self._read, args=(loop,), name="test-channel", daemon=True).start()
        while line := await self._lines.get():
            try:
                request = msgspec.json.decode(line, type=dict[str, Any])
            except msgspec.DecodeError as bad:
                self.send({"ok": False, "error": f"not a JSON object on a line: {bad}"})
                continue
            if request.get("op") == _END:
                return
            self.send(await run_operation(known, request))

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        with contextlib.suppress(OSError), open(self._requests, "rb", closefd=False) as lines:
            for line in lines:
                loop.call_soon_threadsafe(self._lines.put_nowait, line)
        # The loop may be closed already.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self._lines.put_nowait, b"")


async def _ended(_request: Mapping[str, Any]) -> Mapping[str, Any]:
    raise AssertionError("the channel ends without an answer")


def is_channel(descriptor: int) -> bool:
    """Return whether a process at the other end can be missed: not for a terminal, a file or /dev/null."""
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


async def parent_gone(parent: int) -> None:
    """Return when the process ``parent`` is no longer the parent of this one.

    PR_SET_PDEATHSIG would report at once, but the end of the thread that started this process:
    test runners end threads all the time.
    """
    while os.getppid() == parent:  # noqa: ASYNC110 - no event tells of it on all systems
        await asyncio.sleep(ORPHAN_CHECK_S)
