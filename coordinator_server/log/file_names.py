"""Names of the files and directories in a data directory. ARCHITECTURE.md shows the whole tree.

Segments and marks are named for the offset that the segment starts at, journal files for the
generation that they were made in, and layers for the offset that they end at. All are numbers of 20
digits, so that the order of the names is the order of the numbers.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from coordinator_server.log.shards import ShardId
from coordinator_server.log.storage import LOCAL, Storage

JOURNALS: Final = "journal"
LOCK: Final = ".lock"
COMPACTION_LOCK: Final = ".compact.lock"
LAYER_COPIES: Final = "layers"
"""Where a node with a store has copies of layers."""
SEGMENT_SUFFIX: Final = ".log"
MARKS_SUFFIX: Final = ".marks"
JOURNAL_SUFFIX: Final = ".journal"
SEGMENT_NAME: Final = re.compile(r"(\d{20})\.log")
SHARD_NAME: Final = re.compile(r"(.+)-(\d+)")
_LAYER_NAME: Final = re.compile(r"layer-(\d{20})")
_LOOP_NAME: Final = re.compile(r"loop-(\d+)")


def segment_name(base: int) -> str:
    """The file name of the segment that starts at offset ``base``."""
    return f"{base:020d}{SEGMENT_SUFFIX}"


def segment_path(directory: str, base: int) -> str:
    """The path of the segment that starts at offset ``base``."""
    return f"{directory}/{base:020d}{SEGMENT_SUFFIX}"


def marks_path(segment: str) -> str:
    """The path of the marks of the segment at that path."""
    return segment.removesuffix(SEGMENT_SUFFIX) + MARKS_SUFFIX


def segment_bases(storage: Storage, directory: str) -> list[int]:
    """Return the base offsets of the segments in a shard's directory, ascending."""
    return [int(name[1]) for found in storage.list(directory) if (name := SEGMENT_NAME.fullmatch(found))]


def shards_of(storage: Storage, data_dir: str) -> list[ShardId]:
    """Return the shards that have a directory."""
    names = (SHARD_NAME.fullmatch(found) for found in storage.list(data_dir))
    return [ShardId(name[1], int(name[2])) for name in names if name]


def journal_dir(data_dir: str, loop_index: int) -> str:
    """The directory of one loop's journal."""
    return f"{data_dir}/{JOURNALS}/loop-{loop_index}"


def journal_path(directory: str, generation: int) -> str:
    """The path of a journal file that is made in ``generation``."""
    return f"{directory}/{generation:020d}{JOURNAL_SUFFIX}"


def loops_of(storage: Storage, data_dir: str) -> list[int]:
    """Return the numbers of all loops that have a journal directory, ascending."""
    names = (_LOOP_NAME.fullmatch(name) for name in storage.list(f"{data_dir}/{JOURNALS}"))
    return sorted(int(name[1]) for name in names if name)


def layer_path(shard_dir: Path, to_offset: int) -> Path:
    """The directory of the published layer for the offsets ``[0, to_offset)``."""
    return shard_dir / f"layer-{to_offset:020d}"


def layer_offsets(shard_dir: Path, storage: Storage = LOCAL) -> list[int]:
    """Return the ``to`` offsets of all directories that are named like layers, newest first; valid or not."""
    names = (_LAYER_NAME.fullmatch(name) for name in storage.list(str(shard_dir)))
    return sorted((int(name[1]) for name in names if name), reverse=True)
