"""Counts of the requests of one API in one version, and how long they take. ``control.sock`` and metrics show them.

A request adds one to a number. The time of a request is measured for all requests of most APIs, and for a part of those of the APIs
in FREQUENT, so that it costs them next to nothing; never before the first request for metrics.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

from coordinator_server.histogram_bounds import REQUEST_BOUNDS_S

FREQUENT: Final = frozenset(
    {
        "ConsumerGroupHeartbeat",
        "Fetch",
        "Heartbeat",
        "OffsetCommit",
        "OffsetFetch",
        "ReadShareGroupState",
        "ShareAcknowledge",
        "ShareFetch",
        "ShareGroupHeartbeat",
        "StreamsGroupHeartbeat",
        "TxnOffsetCommit",
        "WriteShareGroupState",
    }
)
"""APIs that clients use all the time."""
ONE_IN: Final = 64
"""The part of their requests that is measured. A power of two."""
NEVER: Final = -1


class Tally:
    """The counts of one API in one version, since the start.

    A request is measured when ``requests & unmeasured`` is 0: all with a mask of 0, none with NEVER.
    """

    __slots__ = ("errors", "requests", "seconds", "times", "unmeasured")

    def __init__(self) -> None:
        self.requests = 0
        self.unmeasured = NEVER
        # The number of answers by error code.
        self.errors: dict[int, int] = {}
        # The number of measured requests by class, the last one for those beyond all bounds; and the sum of their times.
        self.times = [0] * (len(REQUEST_BOUNDS_S) + 1)
        self.seconds = 0.0

    def measure(self, api_name: str) -> None:
        """Measure requests from now on."""
        self.unmeasured = ONE_IN - 1 if api_name in FREQUENT else 0

    def count_error(self, code: int, times: int = 1) -> None:
        """Count answers with an error."""
        self.errors[code] = self.errors.get(code, 0) + times

    def count_time(self, seconds: float) -> None:
        """Count the time from the arrival of a request to its answer."""
        self.times[bisect_left(REQUEST_BOUNDS_S, seconds)] += 1
        self.seconds += seconds
