"""The shards of a data directory, found by the names of their directories."""

from __future__ import annotations

from pathlib import Path

from coordinator_server.kinds import kind_of
from coordinator_server.log.file_names import SEGMENT_NAME, SHARD_NAME


def shard_directories(data_dir: Path) -> list[Path]:
    """Return the directories of all shards of known kinds, by topic and partition."""
    return [path for path in _named_like_shards(data_dir) if kind_of(path.name) is not None]


def unknown_directories(data_dir: Path) -> list[Path]:
    """Return the directories that are named like shards but belong to no known kind."""
    return [path for path in _named_like_shards(data_dir) if kind_of(path.name) is None]


def segment_bases(shard_dir: Path) -> list[int]:
    """Return the base offsets of the segments, ascending. The last segment is not sealed."""
    names = (SEGMENT_NAME.fullmatch(entry.name) for entry in shard_dir.iterdir())
    return sorted(int(name[1]) for name in names if name)


def _named_like_shards(data_dir: Path) -> list[Path]:
    named = [(match, path) for path in data_dir.iterdir() if (match := SHARD_NAME.fullmatch(path.name)) and path.is_dir()]
    return [path for _, path in sorted(named, key=lambda item: (item[0][1], int(item[0][2])))]
