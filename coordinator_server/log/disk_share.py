"""How much of its disk a loop takes before anything is written. On a small disk, less than configured."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, NamedTuple

from coordinator_server.config import Config
from coordinator_server.config.values import loop_count
from coordinator_server.log.write.segments import RESERVE_BYTES

# A loop has two or three journal files: those of all loops take at most a fifth of the disk.
_JOURNALS: Final = 16
_LEAST_JOURNAL: Final = 1 << 16
# Every shard reserves room ahead of its segment: all of them take at most a third.
_SHARDS: Final = 320
_LEAST_RESERVED: Final = 8192


class DiskShare(NamedTuple):
    """The size of a journal file, and of what a shard reserves at a time."""

    journal_bytes: int
    reserve_bytes: int


def disk_share(config: Config, data_dir: Path) -> DiskShare:
    """Return the share of a loop. The data directory need not exist yet."""
    found = data_dir.absolute()
    while not found.exists() and found != found.parent:
        found = found.parent
    disk = os.statvfs(found)
    size = disk.f_blocks * disk.f_frsize
    if not size:
        # Some file systems do not know their size.
        return DiskShare(config.log.log_journal_bytes, RESERVE_BYTES)
    return DiskShare(
        min(config.log.log_journal_bytes, max(size // (_JOURNALS * loop_count(config)), _LEAST_JOURNAL)),
        min(RESERVE_BYTES, max(size // _SHARDS, _LEAST_RESERVED)),
    )
