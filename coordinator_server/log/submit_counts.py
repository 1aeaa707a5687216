"""Counts of what a log has written: submits, the sizes of batches, and how long each submit took to be durable."""

from __future__ import annotations

from bisect import bisect_left

from coordinator_server.histogram_bounds import SIZE_BOUNDS, SYNC_BOUNDS_S


class SubmitCounts:
    """The counts of one log, since its start. ``times`` and ``sizes`` have one class more than bounds."""

    __slots__ = ("bytes", "refusal", "refusals", "refused_at_s", "seconds", "sizes", "submits", "times")

    def __init__(self) -> None:
        self.submits = 0
        self.times = [0] * (len(SYNC_BOUNDS_S) + 1)
        self.seconds = 0.0
        self.sizes = [0] * (len(SIZE_BOUNDS) + 1)
        self.bytes = 0
        self.refusals = 0
        # Why the last submit was refused, if it was, and when, by a monotonic clock.
        self.refusal: str | None = None
        self.refused_at_s = 0.0

    def count_batch(self, size: int) -> None:
        """Count a batch of a submit."""
        self.sizes[bisect_left(SIZE_BOUNDS, size)] += 1
        self.bytes += size

    def count_submit(self, seconds: float) -> None:
        """Count a submit that is durable after this time."""
        self.submits += 1
        self.refusal = None
        self.times[bisect_left(SYNC_BOUNDS_S, seconds)] += 1
        self.seconds += seconds

    def count_refusal(self, why: str, now_s: float) -> None:
        """Count a submit that was refused, as by a full disk."""
        self.refusals += 1
        self.refusal, self.refused_at_s = why, now_s
