"""What can go wrong with storage.

LogError
├── Unavailable       nothing was written (disk full, too many files): the caller may try again later
├── OutcomeUnknown    it may or may not be durable: the store is asked, and if it cannot say, the process must not go on with this
│                     log
├── Fenced            another process owns the shard now
├── Diverged          the shard is the caller's, and does not end where the caller knows: acknowledged records are lost, or others
│                     write
├── DamagedLog        durable bytes have changed: the server refuses to start; names file and position
├── LockedLog         another process has the data directory; names its pid
└── WrongDirectory    it is another directory than the command line or the properties mean
"""

from __future__ import annotations

from typing import ClassVar


class LogError(Exception):
    """Any refusal or failure of the log. ``exit_code`` is that of a command that it ends."""

    exit_code: ClassVar = 1


class WrongDirectory(LogError):
    """The data directory is not the one that the command line or the properties describe."""

    exit_code: ClassVar = 2


class Unavailable(LogError):
    """Nothing was written; the shard is as before."""


class OutcomeUnknown(LogError):
    """What was written may or may not be durable: a sync failed, or an answer was lost."""


class Fenced(LogError):
    """The epoch of an append is older than its shard's. Nothing was written."""


class Diverged(LogError):
    """The epoch of an append is its shard's, and its offset is not: the process must not go on with this log."""


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
