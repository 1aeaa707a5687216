"""Write a layer: into a private directory first, which one rename publishes.

    attempt    ``.layer-attempt-…``: private to whoever writes it; worthless until it is published, removed when stale
    published  one atomic rename made it ``layer-…``; never changed again; only the server removes it

The same batches and the same summary make the same bytes: nothing in a layer tells when or where it was written.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, NamedTuple

import msgspec
from crc32c import crc32c

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.file_names import layer_path, segment_name
from coordinator_server.log.layers.layer import MANIFEST, FileEntry, Layer, Manifest, open_layer

FILE_BYTES: Final = 64 * 1024 * 1024
_ATTEMPT: Final = ".layer-attempt-"


class LayerSummary(NamedTuple):
    """What the writer of a layer states of its records; ``digest`` covers keys and values in any order."""

    records: int
    tombstones: int
    cutoff_ms: int | None
    digest: str


class LayerAttempt:
    """Writes one layer into a private directory. Leaving the ``with`` block by an exception removes it."""

    def __init__(self, shard_dir: Path, to_offset: int, file_bytes: int = FILE_BYTES) -> None:
        self.path = shard_dir / f"{_ATTEMPT}{to_offset:020d}-{secrets.token_hex(8)}"
        self.entries: list[FileEntry] = []
        self.checkpoint: list[FileEntry] = []
        self._shard = shard_dir.name
        self._to_offset = to_offset
        self._file_bytes = file_bytes
        self._file: BinaryIO | None = None
        self._name = ""
        self._size = 0
        self._crc = 0
        self.path.mkdir()

    def __enter__(self) -> LayerAttempt:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        if error is not None:
            shutil.rmtree(self.path, ignore_errors=True)

    def append(self, base_offset: int, *batch: bytes | memoryview) -> None:
        """Add one whole batch, given in any number of pieces. Batches come in offset order."""
        size = sum(map(len, batch))
        if self._file is None or self._size + size > self._file_bytes:
            self._roll(base_offset)
        assert self._file is not None
        for piece in batch:
            self._file.write(piece)
            self._crc = crc32c(piece, self._crc)
        self._size += size

    def close(self) -> None:
        """Sync the record files after the last batch, so that they can be read back."""
        if self._file is None:
            return
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._file = None
        self.entries.append(FileEntry(self._name, self._size, self._crc))

    def add_file(self, name: str, content: Iterable[bytes]) -> None:
        """Add a file of the checkpoint, and sync it."""
        size = crc = 0
        with (self.path / name).open("xb") as file:
            for piece in content:
                file.write(piece)
                crc = crc32c(piece, crc)
                size += len(piece)
            file.flush()
            os.fsync(file.fileno())
        self.checkpoint.append(FileEntry(name, size, crc))

    def preview(self) -> Layer:
        """Return the layer as it is so far, for reading it back. It has no digest, and must not be published."""
        manifest = Manifest(self._shard, self._to_offset, 0, 0, "", tuple(self.entries), (), checkpoint=tuple(self.checkpoint))
        return Layer(self.path, manifest)

    def finish(self, summary: LayerSummary, inputs: Sequence[FileEntry]) -> Path:
        """Add the manifest and sync everything. After this the attempt may be published."""
        self.close()
        manifest = Manifest(
            shard=self._shard,
            to_offset=self._to_offset,
            records=summary.records,
            tombstones=summary.tombstones,
            digest=summary.digest,
            files=tuple(self.entries),
            inputs=tuple(inputs),
            tombstone_cutoff_ms=summary.cutoff_ms,
            checkpoint=tuple(self.checkpoint),
        )
        with (self.path / MANIFEST).open("xb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(manifest, order="sorted"), indent=2) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        _sync_directory(self.path)
        return self.path

    def _roll(self, base_offset: int) -> None:
        self.close()
        self._name = segment_name(base_offset)
        self._size = self._crc = 0
        self._file = (self.path / self._name).open("xb")


def publish(attempt: Path, shard_dir: Path, to_offset: int) -> bool:
    """Make a finished attempt the layer at ``to_offset`` by one rename.

    Return False if an intact one exists already: that stays.
    """
    target = layer_path(shard_dir, to_offset)
    try:
        os.rename(attempt, target)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        return _publish_over(attempt, shard_dir, to_offset)
    _sync_directory(shard_dir)
    return True


def discard(attempt: Path) -> None:
    """Remove an attempt that will not be published."""
    shutil.rmtree(attempt, ignore_errors=True)


def clean_attempts(shard_dir: Path) -> int:
    """Remove the attempts that writers left when they died, and return their number. The caller holds the compaction lock."""
    stale = [entry for entry in shard_dir.iterdir() if entry.name.startswith(_ATTEMPT)]
    for attempt in stale:
        discard(attempt)
    return len(stale)


def _publish_over(attempt: Path, shard_dir: Path, to_offset: int) -> bool:
    """Publish although a layer has the name already: only a damaged one is replaced."""
    try:
        open_layer(shard_dir, to_offset).verify()
    except DamagedLog:
        aside = shard_dir / f"{_ATTEMPT}{to_offset:020d}-{secrets.token_hex(8)}"
        os.rename(layer_path(shard_dir, to_offset), aside)
        os.rename(attempt, layer_path(shard_dir, to_offset))
        _sync_directory(shard_dir)
        discard(aside)
        return True
    discard(attempt)
    return False


def _sync_directory(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
