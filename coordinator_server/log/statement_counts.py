"""Counts of the statements of a session with a store: how long each took until it was answered, and those in doubt."""

from __future__ import annotations

from bisect import bisect_left

from coordinator_server.histogram_bounds import SYNC_BOUNDS_S


class StatementCounts:
    """The counts of one session, since its start. ``times`` has one class more than bounds."""

    __slots__ = ("in_doubt", "seconds", "times")

    def __init__(self) -> None:
        self.times = [0] * (len(SYNC_BOUNDS_S) + 1)
        self.seconds = 0.0
        self.in_doubt = 0

    def count(self, seconds: float) -> None:
        """Count a statement that was answered after this time."""
        self.times[bisect_left(SYNC_BOUNDS_S, seconds)] += 1
        self.seconds += seconds

    def count_doubt(self) -> None:
        """Count a statement whose outcome is unknown."""
        self.in_doubt += 1
