"""How much of each shard compaction would read: bytes after the newest layer, and bytes in it.

Reads file names and sizes only.
"""

from __future__ import annotations

from pathlib import Path

from coordinator_server.kinds import kind_of
from coordinator_server.log.file_names import SEGMENT_NAME, layer_offsets, layer_path
from coordinator_server.log.jobs import Cleanable
from coordinator_server.log.layers.checkpoint import INDEX


def cleanable(data_dir: Path) -> dict[str, Cleanable]:
    """Return every shard of a known kind, by name. Files that are made or removed meanwhile may be counted or not."""
    kinds = {path.name: kind for path in data_dir.iterdir() if (kind := kind_of(path.name)) is not None}
    return {shard: _of_shard(data_dir / shard, has_checkpoint=kind.has_checkpoint) for shard, kind in kinds.items()}


def _of_shard(shard_dir: Path, *, has_checkpoint: bool) -> Cleanable:
    layers = layer_offsets(shard_dir)
    stands_for = layers[0] if layers else 0
    dirty = clean = 0
    for path in _files(shard_dir):
        if int(path.stem) >= stands_for:
            dirty += _size(path)
    # A layer of an older version lacks the checkpoint that it would have now.
    # Its bytes do not count, so that it is made anew soon.
    if layers and (not has_checkpoint or (layer_path(shard_dir, stands_for) / INDEX).exists()):
        clean = sum(map(_size, _files(layer_path(shard_dir, stands_for))))
    return Cleanable(dirty, clean)


def _files(directory: Path) -> list[Path]:
    try:
        return [path for path in directory.iterdir() if SEGMENT_NAME.fullmatch(path.name)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
