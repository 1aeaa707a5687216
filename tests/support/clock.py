"""A clock that moves only when a test moves it."""

from __future__ import annotations


class ManualClock:
    """Both times start at something that is not zero."""

    def __init__(self, now_ms: int = 1_000_000, wall_ms: int = 1_700_000_000_000) -> None:
        self._now_ms = now_ms
        self._wall_ms = wall_ms
        self._suspended_ms = 0

    def now_ms(self) -> int:
        return self._now_ms

    def wall_ms(self) -> int:
        return self._wall_ms

    def boot_ms(self) -> int:
        return self._now_ms + self._suspended_ms

    def advance(self, ms: int) -> None:
        """Time passes."""
        self._now_ms += ms
        self._wall_ms += ms

    def suspend(self, ms: int) -> None:
        """The machine is suspended: the steady clock stands still."""
        self._suspended_ms += ms
        self._wall_ms += ms

    def jump_wall(self, ms: int) -> None:
        """Somebody sets the date."""
        self._wall_ms += ms


class BusyClock(ManualClock):
    """Every look at it takes a while: whatever is done until some time has passed is done one piece a turn."""

    def now_ms(self) -> int:
        self.advance(10)
        return super().now_ms()
