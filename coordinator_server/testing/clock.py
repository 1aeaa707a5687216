"""The clock of a server for tests: real time, which a test may set forward."""

from __future__ import annotations

from coordinator_server.runtime.clock import ProcessClock, SystemClock


class ShiftedClock:
    """The times of a clock, plus ``ahead_ms``. They go on between two moves, so that clients meet a server that is alive."""

    def __init__(self, ahead_ms: int = 0, clock: ProcessClock | None = None) -> None:
        self.ahead_ms = ahead_ms
        self._clock = clock or SystemClock()

    def wall_ms(self) -> int:
        """Return milliseconds since the Unix epoch."""
        return self._clock.wall_ms() + self.ahead_ms

    def now_ms(self) -> int:
        """Return monotonic milliseconds since an arbitrary start."""
        return self._clock.now_ms() + self.ahead_ms

    def boot_ms(self) -> int:
        """Return milliseconds since an arbitrary start, including the time that the machine was suspended."""
        return self._clock.boot_ms() + self.ahead_ms
