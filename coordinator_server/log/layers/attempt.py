"""Write a layer: into a private directory first, which one rename publishes.

    attempt    ``.layer-attempt-…``: private to whoever writes it; worthless until it is published, removed when stale
    published  one atomic rename made it ``layer-…``; never changed again; only the server removes it

The same batches and the same summary make the same bytes: nothing in a layer tells when or where it was written.
"""

from __future__ import annotations

import errno
import secrets
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Final

import msgspec
from crc32c import crc32c

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.file_names import layer_path, segment_name
from coordinator_server.log.jobs import Block, FileEntry, LayerSummary
from coordinator_server.log.layers.checkpoint import NAMES, Checkpoint, write_checkpoint
from coordinator_server.log.layers.layer import MANIFEST, Layer, Manifest, open_layer
from coordinator_server.log.storage import LOCAL, Storage, discard_tree, read_file, write_all

FILE_BYTES: Final = 64 * 1024 * 1024
_ATTEMPT: Final = ".layer-attempt-"
_WRITE_BYTES: Final = 1024 * 1024


class _NewFile:
    """A file of an attempt, written from its start to its end."""

    def __init__(self, storage: Storage, path: Path) -> None:
        self.size = 0
        self._name = path.name
        self._file = storage.open(str(path), create=True)
        self._crc = 0
        self._pending = bytearray()

    def write(self, piece: bytes | memoryview) -> None:
        self._pending += piece
        self._crc = crc32c(piece, self._crc)
        self.size += len(piece)
        if len(self._pending) >= _WRITE_BYTES:
            self._write_pending()

    def sync(self) -> FileEntry:
        """Write and sync everything, and return what the manifest states of the file."""
        self._write_pending()
        self._file.sync()
        return FileEntry(self._name, self.size, self._crc)

    def close(self) -> None:
        self._file.close()

    def _write_pending(self) -> None:
        write_all(self._file, bytes(self._pending), self.size - len(self._pending))
        self._pending.clear()


class LayerAttempt:
    """Writes one layer into a private directory. Leaving the ``with`` block by an exception removes it."""

    def __init__(self, shard_dir: Path, to_offset: int, file_bytes: int = FILE_BYTES, storage: Storage = LOCAL) -> None:
        self.path = shard_dir / f"{_ATTEMPT}{to_offset:020d}-{secrets.token_hex(8)}"
        self.entries: list[FileEntry] = []
        self.checkpoint: list[FileEntry] = []
        self._storage = storage
        self._shard = shard_dir.name
        self._to_offset = to_offset
        self._file_bytes = file_bytes
        self._file: _NewFile | None = None
        storage.make_dir(str(self.path))

    def __enter__(self) -> LayerAttempt:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        if error is not None:
            discard_tree(self._storage, str(self.path))

    @property
    def room(self) -> int:
        """Return the number of bytes that fit into the current file."""
        return self._file_bytes - (self._file.size if self._file is not None else 0)

    @property
    def size(self) -> int:
        """Return the number of bytes of the files of records that are closed."""
        return sum(entry.size for entry in self.entries)

    def append(self, base_offset: int, *batch: bytes | memoryview) -> None:
        """Add one whole batch, given in any number of pieces. Batches come in offset order."""
        size = sum(map(len, batch))
        if self._file is None or self._file.size + size > self._file_bytes:
            self._roll(base_offset)
        assert self._file is not None
        for piece in batch:
            self._file.write(piece)

    def close(self) -> None:
        """Sync the record files after the last batch, so that they can be read back."""
        if self._file is None:
            return
        file, self._file = self._file, None
        with closing(file):
            self.entries.append(file.sync())

    def add_file(self, name: str, content: Iterable[bytes]) -> None:
        """Add a file of the checkpoint, and sync it."""
        self.checkpoint.append(self._write_file(name, content))

    def add_checkpoint(self, blocks: Iterable[Block], rest: Iterable[bytes]) -> None:
        """Add the files of a checkpoint. ``blocks`` come in the order of ``in_order``, and are not held."""
        write_checkpoint(self.add_file, blocks, rest)

    def open_checkpoint(self) -> Checkpoint:
        """Open the checkpoint that was added, to read it back. Raises DamagedLog."""
        return Checkpoint(self.preview())

    def verify_checkpoint(self) -> None:
        """Read every block of the checkpoint that was added. Raises DamagedLog."""
        self.open_checkpoint().verify()

    def remove_checkpoint(self) -> None:
        """Remove the files of a checkpoint."""
        for name in NAMES:
            self._storage.remove(str(self.path / name))

    def preview(self) -> Layer:
        """Return the layer as it is so far, for reading it back. It has no digest, and must not be published."""
        manifest = Manifest(self._shard, self._to_offset, 0, 0, "", tuple(self.entries), (), checkpoint=tuple(self.checkpoint))
        return Layer(self.path, manifest, self._storage)

    def copy(self, layer: Layer, *, with_checkpoint: bool) -> None:
        """Copy the files of a layer of a different directory."""
        manifest = layer.manifest
        self.entries = [self._copy(layer, entry) for entry in manifest.files]
        self.checkpoint = [self._copy(layer, entry) for entry in manifest.checkpoint] if with_checkpoint else []

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
        self._write_file(MANIFEST, [msgspec.json.format(msgspec.json.encode(manifest, order="sorted"), indent=2), b"\n"])
        self._storage.sync_dir(str(self.path))
        return self.path

    def _roll(self, base_offset: int) -> None:
        self.close()
        self._file = _NewFile(self._storage, self.path / segment_name(base_offset))

    def _copy(self, layer: Layer, entry: FileEntry) -> FileEntry:
        return self._write_file(entry.name, [read_file(layer.storage, str(layer.path / entry.name))])

    def _write_file(self, name: str, content: Iterable[bytes]) -> FileEntry:
        with closing(_NewFile(self._storage, self.path / name)) as file:
            for piece in content:
                file.write(piece)
            return file.sync()


def publish(attempt: Path, shard_dir: Path, to_offset: int, storage: Storage = LOCAL) -> bool:
    """Make a finished attempt the layer at ``to_offset`` by one rename.

    Return False if an intact one exists already: that stays.
    """
    try:
        storage.rename(str(attempt), str(layer_path(shard_dir, to_offset)))
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        return _publish_over(attempt, shard_dir, to_offset, storage)
    storage.sync_dir(str(shard_dir))
    return True


def copy_layer(layer: Layer, shard_dir: Path, storage: Storage, *, with_checkpoint: bool) -> None:
    """Publish a copy of a layer in a different shard directory."""
    manifest = layer.manifest
    summary = LayerSummary(manifest.records, manifest.tombstones, manifest.tombstone_cutoff_ms, manifest.digest)
    with LayerAttempt(shard_dir, layer.to_offset, storage=storage) as attempt:
        attempt.copy(layer, with_checkpoint=with_checkpoint)
        publish(attempt.finish(summary, manifest.inputs), shard_dir, layer.to_offset, storage)


def clean_attempts(shard_dir: Path, storage: Storage = LOCAL) -> int:
    """Remove the attempts that writers left when they died, and return their number. The caller holds the compaction lock."""
    stale = [name for name in storage.list(str(shard_dir)) if name.startswith(_ATTEMPT)]
    for name in stale:
        discard_tree(storage, str(shard_dir / name))
    return len(stale)


def _publish_over(attempt: Path, shard_dir: Path, to_offset: int, storage: Storage) -> bool:
    """Publish although a layer has the name already: only a damaged one is replaced."""
    # The process that published it may have been killed before its name was durable.
    storage.sync_dir(str(shard_dir))
    try:
        open_layer(shard_dir, to_offset, storage).verify()
    except DamagedLog:
        aside = shard_dir / f"{_ATTEMPT}{to_offset:020d}-{secrets.token_hex(8)}"
        storage.rename(str(layer_path(shard_dir, to_offset)), str(aside))
        storage.rename(str(attempt), str(layer_path(shard_dir, to_offset)))
        storage.sync_dir(str(shard_dir))
        discard_tree(storage, str(aside))
        return True
    discard_tree(storage, str(attempt))
    return False
