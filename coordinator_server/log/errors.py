"""What can go wrong with storage.

LogError
├── Unavailable       nothing was written (disk full, too many files): the caller may try again later
├── OutcomeUnknown    it may or may not be durable: the process must not go on with this log
├── Fenced            another process owns the shard now
├── DamagedLog        durable bytes have changed: the server refuses to start; names file and position
├── LockedLog         another process has the data directory; names its pid
└── WrongDirectory    it is another directory than the command line or the properties mean
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from coordinator_server.log.shards import ShardId


class LogError(Exception):
    """Any refusal or failure of the log. ``exit_code`` is that of a command that it ends."""

    exit_code: ClassVar = 1


class WrongDirectory(LogError):
    """The data directory is another one than the command line or the properties mean."""

    exit_code: ClassVar = 2


class Unavailable(LogError):
    """Nothing was written; the shard is as before."""


class OutcomeUnknown(LogError):
    """A sync failed: what was written since the last successful sync may or may not be durable."""


class Fenced(LogError):
    """The epoch of an append is older than its shard's: that of ``shards``.

    The other appends of the submit were not written either.
    """

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
    """The data directory is in use by another process: ``holder``, if its pid is known, and its ``job``, if it is no server."""

    def __init__(self, message: str, holder: int | None = None, job: str = "") -> None:
        super().__init__(message)
        self.holder = holder
        self.job = job
