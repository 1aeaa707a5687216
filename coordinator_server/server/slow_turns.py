"""Finds turns of the loop that take long, and says what they were doing.

A thread asks the loop for a sign of life many times per second. If none comes, it looks at what the loop's thread is executing. So the
loop itself measures nothing: the price is one callback per question. Compiled functions have no frames and are not seen.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Final, NamedTuple

import structlog

from coordinator_server.server.reply import PendingReply

log = structlog.get_logger(__name__)

SLOW_S: Final = 0.1
ASK_EVERY_S: Final = 0.05
PAUSED_S: Final = 0.05
"""If the thread itself is this late, the machine has no time for this process, and nothing is known about the turn."""
NO_API: Final = "none"


class Seen(NamedTuple):
    """What the loop's thread was executing: the API of the request, or NO_API, and the function."""

    api: str
    function: str


class SlowTurns:
    """The watch over one loop. ``start`` and ``stop`` are called on it.

    ``counts`` has the number of slow turns by the API that was served.
    """

    def __init__(self, look: Callable[[int], Seen] | None = None) -> None:
        self.counts: Counter[str] = Counter()
        self._look = look or look_at
        self._answered = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to watch the running loop."""
        loop, watched = asyncio.get_running_loop(), threading.get_ident()
        self._thread = threading.Thread(target=self._watch, args=(loop, watched), name="slow-turns", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the watch."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self, loop: asyncio.AbstractEventLoop, watched: int) -> None:
        while not self._stopping.wait(ASK_EVERY_S):
            self._answered.clear()
            asked = time.monotonic()
            try:
                loop.call_soon_threadsafe(self._answered.set)
            except RuntimeError:  # the loop is closed
                return
            if self._answered.wait(SLOW_S):
                continue
            if time.monotonic() - asked > SLOW_S + PAUSED_S:
                continue
            seen = self._look(watched)
            while not self._answered.wait(SLOW_S):
                if self._stopping.is_set():
                    return
            self.counts[seen.api] += 1
            log.warning(
                "slow-turn",
                api=seen.api,
                function=seen.function,
                ms=round((time.monotonic() - asked) * 1000),
                count=self.counts[seen.api],
            )


def look_at(thread: int) -> Seen:
    """Return what a thread executes: the request in its innermost frame that serves one, and the innermost function of ours."""
    function, frame = "", sys._current_frames().get(thread)
    while frame is not None:
        function = function or _ours(frame)
        reply = frame.f_locals.get("reply")
        if isinstance(reply, PendingReply):
            return Seen(reply.api.name, function)
        frame = frame.f_back
    return Seen(NO_API, function)


def _ours(frame: FrameType) -> str:
    module = frame.f_globals.get("__name__", "")
    return f"{module}.{frame.f_code.co_qualname}" if module.split(".")[0] in ("coordinator_server", "protocol") else ""
