"""Finds turns of the loop that take long, and says what they were doing.

The loop gives a sign of life ten times per second, and a thread wakes when the next one would be late. If it is, the thread looks at what
the loop's thread is executing. Neither wakes the other: wake-ups are what an idle server costs. Compiled functions have no frames and
are not seen.
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
SIGN_EVERY_S: Final = 0.1
LATE_S: Final = SIGN_EVERY_S + SLOW_S
"""After a sign: the loop is slow if it has not given another by then. So a turn twice as long as a slow one is never missed."""
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
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._next_sign: asyncio.TimerHandle | None = None
        # When the last sign was given. Written by the loop only.
        self._signed_s = 0.0

    def start(self) -> None:
        """Begin to watch the running loop."""
        self._sign(asyncio.get_running_loop())
        self._thread = threading.Thread(target=self._watch, args=(threading.get_ident(),), name="slow-turns", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the watch."""
        if self._next_sign is not None:
            self._next_sign.cancel()
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()

    def _sign(self, loop: asyncio.AbstractEventLoop) -> None:
        self._signed_s = time.monotonic()
        self._next_sign = loop.call_later(SIGN_EVERY_S, self._sign, loop)

    def _watch(self, watched: int) -> None:
        look_s = self._signed_s + LATE_S
        while not self._stopping.wait(max(0.0, look_s - time.monotonic())):
            now_s, signed_s = time.monotonic(), self._signed_s
            if now_s > look_s + PAUSED_S:
                look_s = now_s + SLOW_S
                continue
            if now_s >= signed_s + LATE_S:
                seen = self._look(watched)
                while self._signed_s == signed_s:
                    if self._stopping.wait(SLOW_S):
                        return
                self._count(seen, self._signed_s - signed_s - SIGN_EVERY_S)
            look_s = self._signed_s + LATE_S

    def _count(self, seen: Seen, late_s: float) -> None:
        self.counts[seen.api] += 1
        log.warning("slow-turn", api=seen.api, function=seen.function, ms=round(late_s * 1000), count=self.counts[seen.api])


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
