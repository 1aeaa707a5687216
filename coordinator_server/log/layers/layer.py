"""Layers: results of compaction, each of which replaces the offsets ``[0, to)`` of a shard.

A layer is a directory ``layer-{to:020d}`` in the shard's directory. It holds a manifest, and
RecordBatches in offset order in files that are named like segments. Records keep their offsets,
timestamps and headers, so the offsets have gaps. Most layers also have a checkpoint
(checkpoint.py), which makes a start quick.

    published  one atomic rename made it ``layer-…`` (attempt.py); never changed again; only the server removes it
    valid      the manifest parses, and every file has the size that it states
    intact     every file has also the CRC that it states; this is checked before a layer is loaded

A newer layer supersedes the older ones. If it is not intact, an older one is loaded, provided that all segments after that exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec
from crc32c import crc32c
from msgspec import Struct

from coordinator_server.log.errors import DamagedLog, LogError
from coordinator_server.log.file_names import SEGMENT_NAME, layer_offsets, layer_path, segment_name
from coordinator_server.log.jobs import FileEntry
from coordinator_server.log.storage import LOCAL, Storage, read_file
from protocol.errors import DecodeError
from protocol.record_batch import HEADER_TIMES, LENGTH_END, BatchHeader, iter_windows

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
# The names of a checkpoint's files. Any other one could be outside of the layer.
_CHECKPOINT_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,62}\.[a-z]{1,16}")
_READ_BYTES: Final = 1024 * 1024


class Manifest(Struct, frozen=True):
    """What a layer holds, and what it was made from."""

    shard: str
    to_offset: int
    records: int
    tombstones: int
    digest: str
    files: tuple[FileEntry, ...]
    inputs: tuple[FileEntry, ...]
    tombstone_cutoff_ms: int | None = None
    from_offset: int = 0
    format: int = FORMAT
    # The checkpoint's files; none in layers of older versions.
    checkpoint: tuple[FileEntry, ...] = ()


class Layer:
    """A published layer with a manifest that parses."""

    __slots__ = ("manifest", "path", "storage")

    def __init__(self, path: Path, manifest: Manifest, storage: Storage = LOCAL) -> None:
        self.path = path
        self.manifest = manifest
        self.storage = storage

    @property
    def to_offset(self) -> int:
        """The first offset after the layer."""
        return self.manifest.to_offset

    def files(self) -> list[Path]:
        """Return the paths of the record files in offset order."""
        return [self.path / entry.name for entry in self.manifest.files]

    def verify(self) -> None:
        """Compare every record file with its CRC. DamagedLog names the first that differs."""
        for entry in self.manifest.files:
            self._verify(entry)

    def entry(self, name: str) -> FileEntry:
        """Return what the manifest states of a file of the checkpoint. DamagedLog if it does not name the file."""
        for entry in self.manifest.checkpoint:
            if entry.name == name:
                return entry
        raise DamagedLog(str(self.path / MANIFEST), 0, f"it states a checkpoint without {name}")

    def verify_file(self, name: str) -> None:
        """Compare one file of the checkpoint with its CRC. DamagedLog if it differs."""
        self._verify(self.entry(name))

    def _verify(self, entry: FileEntry) -> None:
        path = self.path / entry.name
        try:
            found = file_entry(path, entry.name, self.storage)
        except OSError as error:
            raise DamagedLog(str(path), 0, f"cannot be read: {error.strerror}") from error
        if found != entry:
            why = (
                f"the layer's manifest states {entry.size} bytes with CRC {entry.crc32c:#010x}, found {found.size} with "
                f"{found.crc32c:#010x}"
            )
            raise DamagedLog(str(path), 0, why)

    def read(self, from_offset: int = 0) -> Iterator[bytes]:
        """Yield whole batches in offset order, from the first that ends after ``from_offset``."""
        return (batch for batch, _ in self.read_with_headers(from_offset))

    def read_with_headers(self, from_offset: int = 0) -> Iterator[tuple[bytes, BatchHeader]]:
        """Yield the same batches, each with its decoded header."""
        for path in self.files():
            with closing(self.storage.open_read_only(str(path))) as file:
                try:
                    for data, position, header, _ in iter_windows(file.pread, _READ_BYTES):
                        if header.next_offset > from_offset:
                            yield data[position : position + header.size], header
                except DecodeError as error:
                    raise DamagedLog(str(path), error.position or 0, error.reason) from error

    def end_time(self) -> int:
        """Return the largest timestamp in the last record file, from the headers of its batches; -1 without records."""
        latest = -1
        for path in self.files()[-1:]:
            with closing(self.storage.open_read_only(str(path))) as file:
                position = 0
                while len(head := file.pread(HEADER_TIMES.size, position)) == HEADER_TIMES.size:
                    length, _, max_ms = HEADER_TIMES.unpack(head)
                    latest = max(latest, max_ms)
                    position += LENGTH_END + max(length, 0)
        return latest


def open_layer(shard_dir: Path, to_offset: int, storage: Storage = LOCAL) -> Layer:
    """Return the layer at ``to_offset``. DamagedLog unless it is valid."""
    path = layer_path(shard_dir, to_offset)
    try:
        raw = read_file(storage, str(path / MANIFEST))
    except OSError as error:
        raise DamagedLog(str(path / MANIFEST), 0, f"not a layer's manifest: {error}") from error
    manifest = parse_manifest(raw, shard_dir, to_offset)
    for entry in manifest.files:
        if _size(storage, path / entry.name) != entry.size:
            raise DamagedLog(str(path / entry.name), 0, f"not the file of {entry.size} bytes that the layer's manifest states")
    return Layer(path, manifest, storage)


def parse_manifest(raw: bytes, shard_dir: Path, to_offset: int) -> Manifest:
    """Return the manifest of the layer at ``to_offset`` of a shard. DamagedLog for that of another shard, or unexpected files."""
    path = layer_path(shard_dir, to_offset)
    try:
        manifest = msgspec.json.decode(raw, type=Manifest)
    except (UnicodeDecodeError, msgspec.DecodeError) as error:
        raise DamagedLog(str(path / MANIFEST), 0, f"not a layer's manifest: {error}") from error
    stated = (manifest.format, manifest.shard, manifest.from_offset, manifest.to_offset)
    if stated != (FORMAT, shard_dir.name, 0, to_offset):
        raise DamagedLog(str(path / MANIFEST), 0, f"the manifest of another layer or format: {stated}")
    for entry in manifest.checkpoint:
        if not _CHECKPOINT_NAME.fullmatch(entry.name):
            raise DamagedLog(str(path / MANIFEST), 0, f"{entry.name!r} is no name of a checkpoint's file")
    for entry in manifest.files:
        if not SEGMENT_NAME.fullmatch(entry.name):
            raise DamagedLog(str(path / entry.name), 0, f"not the file of {entry.size} bytes that the layer's manifest states")
    return manifest


def newest_valid_layer(shard_dir: Path, upto: int | None = None, storage: Storage = LOCAL) -> Layer | None:
    """Return the newest valid layer that ends at ``upto`` or before, or None. CRCs are not checked: see ``layer_to_load``."""
    for to_offset in layer_offsets(shard_dir, storage):
        if upto is None or to_offset <= upto:
            try:
                return open_layer(shard_dir, to_offset, storage)
            except DamagedLog:
                continue
    return None


def layer_to_load(
    shard_dir: Path, segment_bases: Sequence[int], upto: int | None = None, storage: Storage = LOCAL
) -> Layer | None:
    """Return the newest intact layer after which no segment is missing; None if the segments alone are the whole log.

    ``segment_bases`` are the base offsets of the shard's segments, ascending. Raise DamagedLog if neither a layer nor the
    segments reach back to offset 0, and LogError if ``upto`` asks for a state that is no longer kept.
    """
    newest = layer_offsets(shard_dir, storage)
    damage: DamagedLog | None = None
    for to_offset in newest:
        # A layer without segments is the whole log only if no newer layer exists.
        reached = segment_bases[0] <= to_offset if segment_bases else to_offset == newest[0]
        if not reached or (upto is not None and to_offset > upto):
            continue
        try:
            layer = open_layer(shard_dir, to_offset, storage)
            layer.verify()
        except DamagedLog as error:
            damage = damage or error
        else:
            return layer
    if segment_bases[0] == 0 if segment_bases else not newest:
        return None
    if damage is not None:
        raise damage
    if upto is not None and newest and upto < newest[0]:
        raise LogError(
            f"{shard_dir.name}: the records before offset {newest[0]} are kept compacted only: ask for that offset or a later one"
        )
    first = segment_bases[0] if segment_bases else newest[0]
    raise DamagedLog(
        str(shard_dir / segment_name(first)), 0, "records before this segment are missing, and no layer reaches up to it"
    )


def layer_with_checkpoint(shard_dir: Path, segment_bases: Sequence[int], storage: Storage = LOCAL) -> Layer | None:
    """Return the newest valid layer if it has a checkpoint and no segment after it is missing."""
    layer = newest_valid_layer(shard_dir, storage=storage)
    if layer is None or not layer.manifest.checkpoint:
        return None
    is_reached = segment_bases[0] <= layer.to_offset if segment_bases else layer.to_offset == layer_offsets(shard_dir, storage)[0]
    return layer if is_reached else None


def file_entry(path: Path, name: str, storage: Storage = LOCAL) -> FileEntry:
    """Return the size and the CRC of a file as it is now."""
    size = crc = 0
    with closing(storage.open_read_only(str(path))) as file:
        while piece := file.pread(_READ_BYTES, size):
            crc = crc32c(piece, crc)
            size += len(piece)
    return FileEntry(name, size, crc)


def _size(storage: Storage, path: Path) -> int:
    try:
        return storage.size(str(path))
    except OSError:
        return -1
