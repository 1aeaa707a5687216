"""When the steps of passes run: one after the other, in all shards of a loop together.

All shards get a deletion of topics at once, and are due for an expiry at about the same time. Without an order each turn of the
loop would have a step of each shard.
"""

from __future__ import annotations

from typing import Final

STEP_INTERVAL_MS: Final = 10
"""A step takes some milliseconds; the rest of the interval is for requests."""
_SHARE: Final = 5


class PassTimes:
    """The times of the steps of a loop."""

    __slots__ = ("_last_ms",)

    def __init__(self) -> None:
        self._last_ms = -STEP_INTERVAL_MS

    def reserve(self, now_ms: int) -> int:
        """Return after how many milliseconds the next step may run, 0 for at once. The time is taken then."""
        self._last_ms = max(now_ms, self._last_ms + STEP_INTERVAL_MS)
        return self._last_ms - now_ms

    def after_step(self, now_ms: int, took_ms: int = 0) -> int:
        """Return after how many milliseconds the pass of the present step may go on: not at once, however late it is.

        A step that took longer than usual delays those after it, so that steps take a fifth of the time at most.
        """
        self._last_ms = max(self._last_ms, now_ms - STEP_INTERVAL_MS) + max(0, _SHARE * took_ms - STEP_INTERVAL_MS)
        return max(self.reserve(now_ms), 1)
