"""The ``Clock`` of state machines, implemented by the operating system's clocks."""

from __future__ import annotations

import time


class SystemClock:
    """Wall and monotonic time of this computer."""

    __slots__ = ()

    def wall_ms(self) -> int:
        """Return milliseconds since the Unix epoch."""
        return time.time_ns() // 1_000_000

    def now_ms(self) -> int:
        """Return monotonic milliseconds since an arbitrary start."""
        return time.monotonic_ns() // 1_000_000
