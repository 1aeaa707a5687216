"""What can go wrong with storage.

LogError
├── Unavailable       nothing was written (disk full, too many files): the caller may try again later
├── OutcomeUnknown    it may or may not be durable: the process must not go on with this log
├── Fenced            somebody else owns the shard now
├── DamagedLog        bytes that were durable are not what they were: refuse to start; names file and position
└── LockedLog         another process holds the data directory; names its pid
"""

from __future__ import annotations

from collections.abc import Sequence

from coordinator_server.log.shards import ShardId


class LogError(Exception):
    """Anything the log refuses or cannot do."""


class Unavailable(LogError):
    """Nothing was written; the shard is as before."""


class OutcomeUnknown(LogError):
    """A sync failed: what was written since the last good one may or may not be durable."""


class Fenced(LogError):
    """The epoch of an append is older than its shard's. ``shards`` are those; others of the same submit were not written either."""

    def __init__(self, message: str, shards: Sequence[ShardId] = ()) -> None:
        super().__init__(message)
        self.shards = shards


class DamagedLog(LogError):
    """Durable bytes are damaged."""

    def __init__(self, path: str, position: int, why: str) -> None:
        super().__init__(f"{path} at byte {position}: {why}")
        self.path = path
        self.position = position
        self.why = why


class LockedLog(LogError):
    """The data directory is in use by another process: ``holder``, when that is known."""

    def __init__(self, message: str, holder: int | None = None) -> None:
        super().__init__(message)
        self.holder = holder
