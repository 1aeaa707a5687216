"""The layers of shards in the database, and copies of their files, which may be deleted at any time.

Their files are in the table ``object``, or in an object store (objects.py): the name of the attempt says where.

    published   a row of ``layer`` names the attempt whose files it has, and has its manifest. It never changes
    an object   a file of an attempt, in parts of PART_BYTES
    a copy      ``SHARD/layer-TO/`` in a directory of this process, as a log in a directory has it

A copy is compared with the manifest before it is used. What differs is fetched again.
"""

from __future__ import annotations

import asyncio
import errno
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from crc32c import crc32c

from coordinator_server.log.errors import DamagedLog, LogError, Unavailable
from coordinator_server.log.file_names import layer_path
from coordinator_server.log.jobs import FileEntry
from coordinator_server.log.layers.layer import MANIFEST, Layer, Manifest, open_layer, parse_manifest
from coordinator_server.log.postgresql.objects import objects, stored_in
from coordinator_server.log.postgresql.rows import Read, place_of
from coordinator_server.log.shards import ShardId
from coordinator_server.log.storage import Storage, discard_tree, read_file, write_all

PART_BYTES: Final = 1 << 20
_COPY: Final = ".copy-"
LAYERS_OF: Final = "SELECT to_offset, attempt, manifest FROM layer WHERE sid = $1 ORDER BY to_offset DESC"
_START: Final = "SELECT log_start FROM shard WHERE sid = $1"
_PART: Final = "SELECT data FROM object WHERE attempt = $1 AND name = $2 AND part = $3"
_IS_PUBLISHED: Final = "SELECT sid FROM layer WHERE attempt = $1"


class StoredLayer(NamedTuple):
    """A published layer, as its row has it."""

    to_offset: int
    attempt: str
    manifest: bytes


class Newest(NamedTuple):
    """The layer to load, None if the rows alone are the whole log. ``damage`` is why a newer one is not it."""

    layer: Layer | None
    damage: DamagedLog | None = None

    @property
    def to_offset(self) -> int:
        """The end of the layer; 0 without one."""
        return self.layer.to_offset if self.layer is not None else 0


NO_LAYER: Final = Newest(None)


class LayerCopies:
    """Copies of layers in a directory."""

    def __init__(self, storage: Storage, directory: str) -> None:
        self._storage = storage
        self._directory = Path(directory)

    async def newest(self, read: Read, shard: ShardId, sid: int) -> Newest:
        """Copy the newest intact layer after which no row was removed.

        Raises DamagedLog if rows were removed, and no layer has what was in them; LogError.
        """
        [(start,)] = await read(_START, sid)
        damage: DamagedLog | None = None
        for found in await read(LAYERS_OF, sid):
            stored = StoredLayer(*found)
            if stored.to_offset < start:
                break
            try:
                layer = await self.copy(read, shard, stored)
            except DamagedLog as error:
                damage = damage or error
            else:
                return Newest(layer, damage)
        if start:
            raise damage or missing_layer(shard, start)
        return Newest(None, damage)

    async def copy(self, read: Read, shard: ShardId, stored: StoredLayer) -> Layer:
        """Return a copy of a layer, whose files are as the manifest states them. Raises DamagedLog, LogError."""
        shard_dir = self._directory / str(shard)
        manifest = parse_manifest(stored.manifest, shard_dir, stored.to_offset)
        if await asyncio.to_thread(self._is_intact, shard_dir, stored):
            return open_layer(shard_dir, stored.to_offset, self._storage)
        # Private until it is whole: the loop and its reader may copy at once.
        path = shard_dir / f"{_COPY}{secrets.token_hex(8)}"
        try:
            self._storage.make_dir(str(path))
            for entry in entries_of(manifest):
                await self._fetch(partial(self._parts, read, shard, stored.attempt), path, entry)
            with closing(self._storage.open(str(path / MANIFEST), create=True)) as file:
                write_all(file, stored.manifest, 0)
            self._publish(path, layer_path(shard_dir, stored.to_offset))
        except OSError as error:
            raise Unavailable(f"cannot copy a layer to {self._directory}: {error}") from error
        finally:
            discard_tree(self._storage, str(path))
        return open_layer(shard_dir, stored.to_offset, self._storage)

    def _publish(self, path: Path, target: Path) -> None:
        discard_tree(self._storage, str(target))
        try:
            self._storage.rename(str(path), str(target))
        except OSError as error:
            # Somebody has just copied the same.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise

    async def _fetch(self, parts: Any, path: Path, entry: FileEntry) -> None:
        size = crc = 0
        with closing(self._storage.open(str(path / entry.name), create=True)) as file:
            async for data in parts(entry):
                write_all(file, data, size)
                size, crc = size + len(data), crc32c(data, crc)
        if (size, crc) != (entry.size, entry.crc32c):
            why = (
                f"the layer's manifest states {entry.size} bytes with CRC {entry.crc32c:#010x}, the store has {size} with "
                f"{crc:#010x}"
            )
            raise DamagedLog(str(path / entry.name), 0, why)

    async def _parts(self, read: Read, shard: ShardId, attempt: str, entry: FileEntry) -> AsyncIterator[bytes]:
        url, folder = stored_in(attempt)
        if url:
            try:
                async for piece in objects(url).read(folder, entry.name):
                    yield piece
            except FileNotFoundError:
                raise await self._missing(read, shard, attempt, f"{objects(url).shown}/{folder}/{entry.name}") from None
            return
        for part in range(-(-entry.size // PART_BYTES)):
            found = await read(_PART, attempt, entry.name, part)
            if not found:
                raise await self._missing(read, shard, attempt, f"part {part} of {entry.name} of the layer {attempt}")
            yield found[0][0]

    async def _missing(self, read: Read, shard: ShardId, attempt: str, what: str) -> LogError:
        if await read(_IS_PUBLISHED, attempt):
            return DamagedLog(place_of(shard), 0, f"{what} is missing")
        return Unavailable(f"a layer of {shard} was replaced meanwhile")

    def _is_intact(self, shard_dir: Path, stored: StoredLayer) -> bool:
        try:
            if read_file(self._storage, str(layer_path(shard_dir, stored.to_offset) / MANIFEST)) != stored.manifest:
                return False
            verify_all(open_layer(shard_dir, stored.to_offset, self._storage))
        except (DamagedLog, OSError):
            return False
        return True

    def keep_only(self, shard: ShardId, layer: Layer | None) -> None:
        """Remove the copies of all other layers of a shard."""
        shard_dir = self._directory / str(shard)
        for name in self._storage.list(str(shard_dir)):
            if layer is None or name != layer.path.name:
                discard_tree(self._storage, str(shard_dir / name))


def entries_of(manifest: Manifest) -> Sequence[FileEntry]:
    """Return the entries of all files that a layer has."""
    return (*manifest.files, *manifest.checkpoint)


def verify_all(layer: Layer) -> None:
    """Compare every file of a layer with its CRC. DamagedLog names the first that differs."""
    layer.verify()
    for entry in layer.manifest.checkpoint:
        layer.verify_file(entry.name)


def missing_layer(shard: ShardId, start: int) -> DamagedLog:
    """Return the error that rows were removed, and no layer has what was in them."""
    return DamagedLog(place_of(shard), start, f"the rows before offset {start} are missing, and no layer reaches up to it")
