"""What a backup holds: the files of a data directory under their names, and a manifest.

A file has at least the bytes that the manifest states, and only those count: a segment that goes on after the moment of the backup
is cut there, and a later backup into the same directory makes it longer. So while a backup is taken the one before it stays valid,
until its manifest is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from crc32c import crc32c
from msgspec import Struct

from coordinator_server.kinds import kind_of
from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.file_names import layer_offsets, segment_bases, segment_name
from coordinator_server.log.layers.layer import MANIFEST as LAYER_MANIFEST
from coordinator_server.log.layers.layer import Layer, open_layer
from coordinator_server.log.meta import IMPORTED
from coordinator_server.log.meta import NAME as META
from coordinator_server.log.storage import LOCAL
from coordinator_server.pipeline.errors import CannotRun
from protocol.errors import DecodeError
from protocol.record_batch import iter_batches

FORMAT: Final = 1
MANIFEST: Final = "backup.json"


_OF_THE_DIRECTORY: Final = frozenset({META, IMPORTED})
_OF_A_SHARD: Final = re.compile(r"\d{20}\.log|layer-\d{20}/(manifest\.json|\d{20}\.log|[a-z][a-z0-9-]{0,62}\.[a-z]{1,16})")


class BackupFile(Struct, frozen=True, gc=False):
    """The first ``size`` bytes of a file, and their CRC. The name is relative to the data directory."""

    name: str
    size: int
    crc32c: int


class Backup(Struct, frozen=True):
    """The manifest. ``shards`` has the offset of each shard at the moment of the backup; times are in ms since 1970."""

    cluster_id: str
    node_id: int
    server_version: str
    taken_ms: int
    shards: dict[str, int]
    files: tuple[BackupFile, ...]
    has_history: bool
    format: int = FORMAT


class SegmentPart(NamedTuple):
    """The records of a segment before ``end``. The segment itself ends there, or goes on."""

    path: Path
    base: int
    end: int


def read_backup(directory: Path) -> Backup:
    """Return the manifest of a backup. Raises CannotRun if there is none that this version can read."""
    path = directory / MANIFEST
    try:
        backup = msgspec.json.decode(path.read_bytes(), type=Backup)
    except OSError as error:
        raise CannotRun(f"{directory} is no backup: {path}: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise CannotRun(f"{path} is not the manifest of a backup: {error}") from error
    if backup.format != FORMAT:
        raise CannotRun(f"{path} has format {backup.format}, and this version reads {FORMAT}: use the version that wrote it")
    names = [file.name for file in backup.files]
    for name in names:
        if not _is_name(name):
            raise CannotRun(f"{path} names the file {name!r}, which no data directory has: it is not the manifest of a backup")
    if len(set(names)) < len(names):
        raise CannotRun(f"{path} names a file twice: it is not the manifest of a backup")
    return backup


def _is_name(name: str) -> bool:
    """Return whether a name is of a form that backups have. Any other one could be outside of the directory."""
    shard, _, rest = name.partition("/")
    return name in _OF_THE_DIRECTORY or (kind_of(shard) is not None and _OF_A_SHARD.fullmatch(rest) is not None)


def layers_before(shard_dir: Path, cut: int) -> list[Layer]:
    """Return the valid layers of a shard that end at ``cut`` or before, the newest first."""
    found = []
    for to_offset in layer_offsets(shard_dir):
        if to_offset <= cut:
            try:
                found.append(open_layer(shard_dir, to_offset))
            except DamagedLog:
                continue
    return found


def layer_files(layer: Layer) -> Iterator[BackupFile]:
    """Return all files of a layer, with the sizes and CRCs of its manifest. The manifest is the last one."""
    folder = f"{layer.path.parent.name}/{layer.path.name}"
    for entry in (*layer.manifest.files, *layer.manifest.checkpoint):
        yield BackupFile(f"{folder}/{entry.name}", entry.size, entry.crc32c)
    data = (layer.path / LAYER_MANIFEST).read_bytes()
    yield BackupFile(f"{folder}/{LAYER_MANIFEST}", len(data), crc32c(data))


def segment_parts(shard_dir: Path, begin: int, cut: int) -> list[SegmentPart]:
    """Return the segments with offsets from ``begin`` up to ``cut``, which is not in the last segment of the shard."""
    bases = segment_bases(LOCAL, str(shard_dir))
    return [
        SegmentPart(shard_dir / segment_name(base), base, min(end, cut))
        for base, end in pairwise([*bases, max(cut, bases[-1])] if bases else [])
        if base < cut and end > begin
    ]


def bytes_before(part: SegmentPart) -> bytes:
    """Return the whole batches of a segment before the part's end. Raises DamagedLog if they are not all of them."""
    data, expected, size = part.path.read_bytes(), part.base, 0
    try:
        for position, header in iter_batches(data):
            if expected >= part.end:
                break
            if header.base_offset != expected:
                raise DamagedLog(str(part.path), position, f"the batch starts at offset {header.base_offset}, not at {expected}")
            expected, size = header.next_offset, position + header.size
    except DecodeError as error:
        position = size if error.position is None else error.position
        raise DamagedLog(str(part.path), position, error.reason) from error
    if expected != part.end:
        raise DamagedLog(str(part.path), size, f"its batches end at offset {expected}, not at {part.end}")
    return data[:size]
