"""The clocks of a process, implemented by the operating system's."""

from __future__ import annotations

import time
from typing import Final, Protocol

from coordinator_server.machine.shard import Clock

# Where there is no such clock, the monotonic one does not stand still while the machine is suspended.
_BOOTTIME: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class ProcessClock(Clock, Protocol):
    """The clocks of a process: those of its state machines, and the one by which leases end."""

    def boot_ms(self) -> int:
        """Return milliseconds since an arbitrary start, including the time that the machine was suspended."""


class SystemClock:
    """Wall and monotonic time of this computer."""

    __slots__ = ()

    def wall_ms(self) -> int:
        """Return milliseconds since the Unix epoch."""
        return time.time_ns() // 1_000_000

    def now_ms(self) -> int:
        """Return monotonic milliseconds since an arbitrary start."""
        return time.monotonic_ns() // 1_000_000

    def boot_ms(self) -> int:
        """Return milliseconds since an arbitrary start, including the time that the machine was suspended."""
        return time.clock_gettime_ns(_BOOTTIME) // 1_000_000
