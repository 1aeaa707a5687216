"""What of the files of a log a backup has: layers and segments of its shards before a moment, and the files that identify it.

A segment that goes on after the moment is cut there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from crc32c import crc32c

from coordinator_server.kinds import kind_of
from coordinator_server.log.errors import DamagedLog, LogError
from coordinator_server.log.file_names import layer_offsets, segment_bases, segment_name
from coordinator_server.log.jobs import FileEntry, SavedFile
from coordinator_server.log.layers.layer import MANIFEST, Layer, open_layer
from coordinator_server.log.meta import IMPORTED, NAME
from coordinator_server.log.storage import LOCAL
from protocol.errors import DecodeError
from protocol.record_batch import iter_batches

_OF_THE_LOG: Final = (NAME, IMPORTED)
_OF_A_SHARD: Final = re.compile(r"\d{20}\.log|layer-\d{20}/(manifest\.json|\d{20}\.log|[a-z][a-z0-9-]{0,62}\.[a-z]{1,16})")


class _SegmentPart(NamedTuple):
    """The records of a segment before ``end``. The segment itself ends there, or goes on."""

    path: Path
    base: int
    end: int


def is_saved_name(name: str) -> bool:
    """Return whether a backup may have a file of this name. Any other one could be outside of the directory."""
    shard, _, rest = name.partition("/")
    return name in _OF_THE_LOG or (kind_of(shard) is not None and _OF_A_SHARD.fullmatch(rest) is not None)


def identity_files(data_dir: Path) -> Iterator[SavedFile]:
    """Yield the files that say whose log it is."""
    for name in _OF_THE_LOG:
        path = data_dir / name
        if path.exists():
            yield _saved(name, path.read_bytes())


def saved_files(shard_dir: Path, cut: int, known: Mapping[str, FileEntry], *, with_history: bool) -> Iterator[SavedFile]:
    """Yield the files of a shard before ``cut``, as ``JobShard.saved`` describes it."""
    layers = _layers_before(shard_dir, cut)
    kept = layers if with_history else layers[:1]
    parts = _segment_parts(shard_dir, 0 if with_history or not kept else kept[0].to_offset, cut)
    _check_whole(shard_dir, kept, parts, cut)
    for layer in reversed(kept):
        with closing(LOCAL.share(str(layer.path / MANIFEST))):
            yield from _files_of(layer)
    for part in parts:
        with closing(LOCAL.share(str(part.path))):
            name = f"{shard_dir.name}/{part.path.name}"
            before = known.get(name)
            if before is not None and before.size == part.path.stat().st_size:
                # It has not grown since, and no byte of it changes.
                yield SavedFile(before, partial(_bytes_before, part))
            else:
                yield _saved(name, _bytes_before(part))


def _saved(name: str, data: bytes) -> SavedFile:
    return SavedFile(FileEntry(name, len(data), crc32c(data)), lambda: data)


def _layers_before(shard_dir: Path, cut: int) -> list[Layer]:
    """Return the valid layers of a shard that end at ``cut`` or before, the newest first."""
    found = []
    for to_offset in layer_offsets(shard_dir):
        if to_offset <= cut:
            try:
                found.append(open_layer(shard_dir, to_offset))
            except DamagedLog:
                continue
    return found


def _files_of(layer: Layer) -> Iterator[SavedFile]:
    """Yield all files of a layer, with the sizes and CRCs of its manifest. The manifest is the last one."""
    folder = f"{layer.path.parent.name}/{layer.path.name}"
    for entry in (*layer.manifest.files, *layer.manifest.checkpoint):
        path = layer.path / entry.name
        yield SavedFile(FileEntry(f"{folder}/{entry.name}", entry.size, entry.crc32c), partial(_bytes_of, path, entry))
    yield _saved(f"{folder}/{MANIFEST}", (layer.path / MANIFEST).read_bytes())


def _bytes_of(path: Path, entry: FileEntry) -> bytes:
    data = path.read_bytes()
    if (len(data), crc32c(data)) != (entry.size, entry.crc32c):
        raise DamagedLog(str(path), 0, f"it should have {entry.size} bytes with CRC {entry.crc32c:#010x}; nothing is replaced")
    return data


def _segment_parts(shard_dir: Path, begin: int, cut: int) -> list[_SegmentPart]:
    """Return the segments with offsets from ``begin`` up to ``cut``."""
    bases = segment_bases(LOCAL, str(shard_dir))
    return [
        _SegmentPart(shard_dir / segment_name(base), base, min(end, cut))
        for base, end in pairwise([*bases, max(cut, bases[-1])] if bases else [])
        if base < cut and end > begin
    ]


def _bytes_before(part: _SegmentPart) -> bytes:
    """Return the whole batches of a segment before the part's end. Raises DamagedLog if they are not all of them."""
    data, expected, size = part.path.read_bytes(), part.base, 0
    try:
        for position, header in iter_batches(data):
            if header.base_offset != expected:
                raise DamagedLog(str(part.path), position, f"the batch starts at offset {header.base_offset}, not at {expected}")
            expected, size = header.next_offset, position + header.size
            if expected >= part.end:
                # A server may be writing what comes next.
                break
    except DecodeError as error:
        position = size if error.position is None else error.position
        raise DamagedLog(str(part.path), position, error.reason) from error
    if expected != part.end:
        raise DamagedLog(str(part.path), size, f"its batches end at offset {expected}, not at {part.end}")
    return data[:size]


def _check_whole(shard_dir: Path, layers: Sequence[Layer], parts: Sequence[_SegmentPart], cut: int) -> None:
    """Raise LogError unless layers and segments together are everything before ``cut``."""
    reached = layers[0].to_offset if layers and (not parts or parts[0].base > 0) else 0
    if parts and parts[0].base > reached:
        reached = -1
    for part in parts:
        reached = max(reached, part.end) if part.base <= reached else -1
    if reached < cut:
        raise LogError(
            f"{shard_dir}: its files do not reach from the beginning to offset {cut}; if that stays, "
            "`coordinator-server log verify` says what is missing"
        )
