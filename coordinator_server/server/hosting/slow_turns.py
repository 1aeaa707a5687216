"""Finds turns of the loop that take long, and says what they were doing.

The loop gives a sign of life ten times per second, and a thread wakes when the next one would be late. If it is, the thread looks
at what the loop's thread is executing. Neither wakes the other: wake-ups are what an idle server costs.
Compiled functions have no frames and are not seen.

A thread that was ready and had no core did nothing meanwhile. The kernel counts this time, and it is no part of a turn.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Final, NamedTuple

import structlog

from coordinator_server.server.exchange.exchange import Exchange

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

    ``counts`` has the number of slow turns by the API that was served. ``look`` and ``waited`` are ``look_at`` and
    ``waited_for_core``. ``now_s`` and ``wait`` are the time of the thread: ``wait`` returns whether the watch ends.
    """

    def __init__(
        self,
        look: Callable[[int], Seen] | None = None,
        waited: Callable[[int], float] | None = None,
        now_s: Callable[[], float] = time.monotonic,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._look = look or look_at
        self._waited = waited or waited_for_core
        self._now_s = now_s
        self._native_id = 0
        self._stopping = threading.Event()
        self._wait = wait or self._stopping.wait
        self._thread: threading.Thread | None = None
        self._next_sign: asyncio.TimerHandle | None = None
        # Written by the loop only.
        self._last = _Sign(0.0, 0.0)

    def start(self) -> None:
        """Begin to watch the running loop."""
        self._native_id = threading.get_native_id()
        self._sign_again(asyncio.get_running_loop())
        self._thread = threading.Thread(target=self.watch, args=(threading.get_ident(),), name="slow-turns", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the watch."""
        if self._next_sign is not None:
            self._next_sign.cancel()
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()

    def _sign_again(self, loop: asyncio.AbstractEventLoop) -> None:
        self.sign()
        self._next_sign = loop.call_later(SIGN_EVERY_S, self._sign_again, loop)

    def sign(self) -> None:
        """Give a sign of life. Called on the loop."""
        self._last = _Sign(self._now_s(), self._waited(self._native_id))

    def watch(self, watched: int) -> None:
        """Look at a thread whenever its loop is late, until the watch ends. The thread of the watch runs this."""
        look_s = self._last.at_s + LATE_S
        while not self._wait(max(0.0, look_s - self._now_s())):
            now_s, last = self._now_s(), self._last
            if now_s > look_s + PAUSED_S:
                look_s = now_s + SLOW_S
                continue
            if now_s >= last.at_s + LATE_S:
                seen = self._look(watched)
                while self._last is last:
                    if self._wait(SLOW_S):
                        return
                self._judge(seen, last, self._last)
            look_s = self._last.at_s + LATE_S

    def _judge(self, seen: Seen, before: _Sign, after: _Sign) -> None:
        waited_s = after.waited_s - before.waited_s
        took_s = after.at_s - before.at_s - SIGN_EVERY_S - waited_s
        if took_s < SLOW_S:
            return
        self.counts[seen.api] += 1
        fields = {"ms": round(took_s * 1000), "waited_for_core_ms": round(waited_s * 1000), "count": self.counts[seen.api]}
        log.warning("slow-turn", api=seen.api, function=seen.function, **fields)


class _Sign(NamedTuple):
    """A sign of life: when, and for how long the loop's thread had waited for a core until then."""

    at_s: float
    waited_s: float


def waited_for_core(native_id: int) -> float:
    """Return for how many seconds a thread of this process has been ready without a core; 0 if the kernel does not say it."""
    try:
        # The second number is that time in ns (the kernel's Documentation/scheduler/sched-stats).
        return int(Path(f"/proc/self/task/{native_id}/schedstat").read_bytes().split()[1]) / 1e9
    except OSError:
        return 0.0


def look_at(thread: int) -> Seen:
    """Return what a thread executes: the request in its innermost frame that serves one, and the innermost function of ours."""
    function, frame = "", sys._current_frames().get(thread)
    while frame is not None:
        function = function or _ours(frame)
        for value in frame.f_locals.values():
            if isinstance(value, Exchange):
                return Seen(value.row.name, function)
        frame = frame.f_back
    return Seen(NO_API, function)


def _ours(frame: FrameType) -> str:
    module = frame.f_globals.get("__name__", "")
    return f"{module}.{frame.f_code.co_qualname}" if module.split(".")[0] in ("coordinator_server", "protocol") else ""
