"""The alarm for a clock that is far behind the log: someone has set it wrong, or it was wrong when the log was written."""

from __future__ import annotations

from typing import Final

import structlog

from coordinator_server.log.shards import ShardId

log = structlog.get_logger(__name__)

MOST_BEHIND_MS: Final = 10_000


class ClockAlarm:
    """Logs one line for each time that the clock has gone back, or was found to be behind."""

    def __init__(self) -> None:
        self._told_ms = 0

    def behind(self, shard: ShardId, last_ms: int, now_ms: int) -> None:
        """Compare the clock with the last batch of a shard. Both times are in ms since 1970."""
        if last_ms - now_ms <= MOST_BEHIND_MS or last_ms <= self._told_ms:
            return
        # Other shards were written at about the same time.
        self._told_ms = last_ms + MOST_BEHIND_MS
        log.error(
            "log-ahead-of-clock",
            shard=str(shard),
            last_ms=last_ms,
            ahead_ms=last_ms - now_ms,
            action="set the clock, if it is wrong; new records have the time last_ms until the clock has passed it",
        )
