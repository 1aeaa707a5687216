"""The layers of shards in the database, and copies of their files and of segments, which may be deleted at any time.

Their files are in the table ``object``, or in an object store (objects.py): the name of the attempt says where.

    published   a row of ``layer`` names the attempt whose files it has, and has its manifest. It never changes
    an object   a file of an attempt, in parts of PART_BYTES
    a copy      ``SHARD/layer-TO/`` in a directory of this process, as a log in a directory has it; of a segment (segments.py)
                ``SHARD/segment-BASE-END``

A copy is compared with the manifest before it is used. What differs is fetched again.
"""

from __future__ import annotations

import asyncio
import errno
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from crc32c import crc32c

from coordinator_server.log.errors import DamagedLog, LogError, Unavailable
from coordinator_server.log.file_names import layer_path
from coordinator_server.log.jobs import FileEntry
from coordinator_server.log.layers.layer import MANIFEST, Layer, Manifest, open_layer, parse_manifest
from coordinator_server.log.postgresql.objects import objects, stored_in
from coordinator_server.log.postgresql.rows import SHARD_ROW, Read, place_of
from coordinator_server.log.shards import ShardId
from coordinator_server.log.storage import Storage, discard_tree, read_file, write_all

PART_BYTES: Final = 1 << 20
COPY: Final = ".copy-"
"""How the names of copies begin that are not whole yet."""
LAYERS_OF: Final = "SELECT to_offset, attempt, manifest FROM layer WHERE sid = $1 ORDER BY to_offset DESC"
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
        self.storage = storage
        self.directory = Path(directory)

    async def newest(self, read: Read, shard: ShardId, sid: int) -> Newest:
        """Copy the newest intact layer after which nothing is missing.

        Raises DamagedLog if rows were removed, and no layer has what was in them; LogError.
        """
        [(_, _, start, _)] = await read(SHARD_ROW, sid)
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
        shard_dir = self.directory / str(shard)
        manifest = parse_manifest(stored.manifest, shard_dir, stored.to_offset)
        if await asyncio.to_thread(self._is_intact, shard_dir, stored):
            return open_layer(shard_dir, stored.to_offset, self.storage)
        # Private until it is whole: the loop and its reader may copy at once.
        path = shard_dir / f"{COPY}{secrets.token_hex(8)}"
        try:
            self.storage.make_dir(str(path))
            for entry in entries_of(manifest):
                await self._fetch(self._parts(read, shard, stored.attempt, entry), path / entry.name, entry)
            with closing(self.storage.open(str(path / MANIFEST), create=True)) as file:
                write_all(file, stored.manifest, 0)
            self._publish(path, layer_path(shard_dir, stored.to_offset))
        except OSError as error:
            raise Unavailable(f"cannot copy a layer to {self.directory}: {error}") from error
        finally:
            discard_tree(self.storage, str(path))
        return open_layer(shard_dir, stored.to_offset, self.storage)

    def _publish(self, path: Path, target: Path) -> None:
        discard_tree(self.storage, str(target))
        try:
            self.storage.rename(str(path), str(target))
        except OSError as error:
            # Somebody has just copied the same.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise

    async def _fetch(self, parts: AsyncIterator[bytes], path: Path, entry: FileEntry) -> None:
        size, crc = await write_parts(self.storage, parts, path)
        if (size, crc) != (entry.size, entry.crc32c):
            why = (
                f"the layer's manifest states {entry.size} bytes with CRC {entry.crc32c:#010x}, the store has {size} with "
                f"{crc:#010x}"
            )
            raise DamagedLog(str(path), 0, why)

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
            if read_file(self.storage, str(layer_path(shard_dir, stored.to_offset) / MANIFEST)) != stored.manifest:
                return False
            verify_all(open_layer(shard_dir, stored.to_offset, self.storage))
        except (DamagedLog, OSError):
            return False
        return True

    def keep_only(self, shard: ShardId, layer: Layer | None) -> None:
        """Remove the copies of all other layers of a shard."""
        shard_dir = self.directory / str(shard)
        for name in self.storage.list(str(shard_dir)):
            if layer is None or name != layer.path.name:
                discard_tree(self.storage, str(shard_dir / name))


async def write_parts(storage: Storage, parts: AsyncIterator[bytes], path: Path) -> tuple[int, int]:
    """Write a file that comes in parts. Return its size and its CRC. Raises what ``parts`` raises, and OSError."""
    size = crc = 0
    with closing(storage.open(str(path), create=True)) as file:
        async for data in parts:
            write_all(file, data, size)
            size, crc = size + len(data), crc32c(data, crc)
    return size, crc


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
