"""The machine's clocks behind the Clock that state machines know."""

from __future__ import annotations

import time


class SystemClock:
    """Wall and monotonic time of this machine."""

    __slots__ = ()

    def wall_ms(self) -> int:
        """Milliseconds since the epoch."""
        return time.time_ns() // 1_000_000

    def now_ms(self) -> int:
        """Milliseconds since some moment in the past; never goes back."""
        return time.monotonic_ns() // 1_000_000
