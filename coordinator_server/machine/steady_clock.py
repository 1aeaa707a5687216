"""The clock by which stored state ages: a jump of the wall clock makes nothing old."""

from __future__ import annotations

from coordinator_server.machine.shard import Clock


class SteadyClock:
    """Wall-clock time that advances no faster than the monotonic clock, and is never ahead of the wall clock."""

    __slots__ = ("_clock", "_since_ms", "_wall_ms")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wall_ms = clock.wall_ms()
        self._since_ms = clock.now_ms()

    def now_ms(self) -> int:
        """Return milliseconds since the Unix epoch."""
        return min(self._clock.wall_ms(), self._wall_ms + self._clock.now_ms() - self._since_ms)
