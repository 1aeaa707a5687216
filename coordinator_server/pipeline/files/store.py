"""Copies a log between a data directory and a PostgreSQL that nodes share, and compares the copy with what was read.

    push    into tables without records. Each shard is one transaction; an interrupted push goes on where it ended
    pull    into a new directory, of one moment of all shards: the ends of all are one statement, and rows never change

Layers go with the rows, so the beginning of a shard's history may be removed. Batches and manifests keep their bytes, so both sides
have one digest: SHA-256 over the manifests and the batches of each shard, in the order of their names.
A pulled directory is no data directory before its last step, as a restored one.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from coordinator_server.log import login_key
from coordinator_server.log.errors import DamagedLog, Unavailable
from coordinator_server.log.file_names import layer_offsets, segment_bases, segment_path
from coordinator_server.log.jobs import JobShard
from coordinator_server.log.layers.layer import MANIFEST, Layer, open_layer
from coordinator_server.log.memory import MemoryStorage
from coordinator_server.log.meta import write_meta
from coordinator_server.log.opening import identity_of, job_shard, job_shards
from coordinator_server.log.postgresql.address import Address
from coordinator_server.log.postgresql.checks import check_connection, check_rights
from coordinator_server.log.postgresql.layers import LAYERS_OF, PART_BYTES, LayerCopies, StoredLayer, entries_of, verify_all
from coordinator_server.log.postgresql.rows import KEPT_START, Row
from coordinator_server.log.postgresql.schema import LAYERS_FORMAT, Shared, open_tables
from coordinator_server.log.postgresql.segments import SegmentCopies, kept_rows
from coordinator_server.log.postgresql.session import Session
from coordinator_server.log.postgresql.upkeep import RAISE_FORMAT, attempts_of
from coordinator_server.log.shards import ShardId, shard_named
from coordinator_server.log.storage import LOCAL, File, Storage, make_dir_durably, replace_file, write_all
from coordinator_server.log.store import Meta
from coordinator_server.pipeline.errors import CannotRun, GateClosed, NotReady
from coordinator_server.pipeline.files.new_directory import begin_directory
from coordinator_server.pipeline.input.data_dir import check_data_dir, durable, enter_offline_store
from coordinator_server.pipeline.input.files import batches_before, read_batches
from coordinator_server.pipeline.progress import Progress
from protocol.record_batch import iter_batches

BEGUN: Final = "store pull"
# A row of this size stays in its page.
_ROW_BYTES: Final = 7_900
_SEGMENT_BYTES: Final = 64 << 20
_NAME: Final = "coordinator-server store"
_OWNED: Final = """
SELECT owner FROM shard s WHERE EXISTS (
  SELECT FROM node n WHERE n.id = s.owner AND n.incarnation = s.owner_incarnation AND NOT n.is_dead) LIMIT 1"""
_ENDS: Final = f"""
SELECT s.topic, s.partition, s.sid, {KEPT_START}, s.next_offset FROM shard s WHERE s.next_offset > 0 ORDER BY topic, partition"""

Read = Callable[..., Awaitable[list[Any]]]


class Copied(Struct, frozen=True):
    """What was copied. ``ends`` are the end offsets of the shards with records; ``digest`` is the same on both sides."""

    cluster_id: str
    shards: int
    batches: int
    bytes: int
    layers: int
    digest: str
    ends: dict[str, int]


class _Digest:
    """The digest of a log, made shard by shard in the order of names."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.batches = self.bytes = self.layers = 0
        self.ends: dict[str, int] = {}

    def begin(self, shard: ShardId, end: int) -> None:
        if str(shard) in self.ends:
            return
        self.ends[str(shard)] = end
        self._hash.update(f"{shard} {end}\n".encode())

    def add_layer(self, manifest: bytes) -> None:
        self.layers += 1
        self._hash.update(manifest)

    def add(self, batch: bytes) -> None:
        self.batches += 1
        self.bytes += len(batch)
        self._hash.update(batch)

    def copied(self, cluster_id: str) -> Copied:
        return Copied(cluster_id, len(self.ends), self.batches, self.bytes, self.layers, self._hash.hexdigest(), self.ends)


def push(data_dir: Path, address: Address, progress: Progress) -> Copied:
    """Copy the log of a stopped server into a database. Raises CannotRun, NotReady, LogError."""
    check_data_dir(data_dir)
    ends = durable(data_dir)
    with ExitStack() as stack:
        # Nobody writes meanwhile.
        enter_offline_store(stack, data_dir, "store push")
        identity = identity_of(data_dir)
        shards = {shard_named(shard.name): shard for shard in job_shards(data_dir) if ends.get(shard.name)}
        for name, shard in shards.items():
            # Raises DamagedLog if a beginning was removed that no layer replaces.
            shard.whole(ends[str(name)])
        key = login_key.read_login_key(LOCAL, str(data_dir)) if (data_dir / login_key.NAME).exists() else None
        sources = {name: (shards[name], ends[str(name)]) for name in sorted(shards)}
        return asyncio.run(_push(address, identity, key, sources, progress))


def pull(address: Address, data_dir: Path, *, node_id: int, storage: Storage = LOCAL) -> Copied:
    """Make a data directory of one moment of a database. It must not exist, or be empty. Raises CannotRun, LogError, OSError."""
    return asyncio.run(_pull(address, data_dir, node_id, storage))


async def _push(
    address: Address, identity: Meta, key: bytes | None, shards: Mapping[ShardId, tuple[JobShard, int]], progress: Progress
) -> Copied:
    opened: list[tuple[Any, Shared]] = []

    async def on_connect(connection: Any) -> None:
        await check_connection(connection, needs_standby=address.needs_standby)
        shared = await open_tables(
            connection, node_id=identity.node_id, partitions=identity.partitions, cluster_id=identity.cluster_id
        )
        await check_rights(connection)
        opened.append((connection, shared))

    session = Session(address, _NAME, on_connect)
    try:
        if await session.read(_OWNED, waits=False):
            raise CannotRun("nodes serve this database: a push needs tables without owners; stop the nodes first")
        connection, shared = opened[-1]
        if key is not None:
            await connection.execute("UPDATE meta SET login_key = $1", key)
        digest = _Digest()
        progress.start(len(shards))
        for done, (name, (shard, end)) in enumerate(shards.items()):
            digest.begin(name, end)
            layers = _layers_of(Path(shard.place), end, digest)
            rows = list(_rows_of(shard, end, digest))
            await _push_shard(connection, shared, name, _Pushed(layers, rows, end))
            progress.advance(done + 1, digest.batches)
        expected = digest.copied(identity.cluster_id)
        found = await _digest_of(partial(session.read, waits=False), _verified(session))
        if found.copied(identity.cluster_id) != expected:
            raise GateClosed("the database does not have what was pushed to it: please report this")
        return expected
    finally:
        progress.stop()
        session.close()


def _rows_of(shard: JobShard, end: int, digest: _Digest) -> Iterator[Row]:
    """Yield the batches of a shard before its end, as rows."""
    size, batches = 0, list[bytes]()
    begin = at = -1
    for file in shard.since(0, end):
        for data, position, header in read_batches(file):
            batch = data[position : position + header.size]
            if begin < 0:
                begin = header.base_offset
            if batches and size + len(batch) > _ROW_BYTES:
                yield Row(begin, at, b"".join(batches))
                begin, size, batches = at, 0, []
            digest.add(batch)
            batches.append(batch)
            size, at = size + len(batch), header.next_offset
    if batches:
        yield Row(begin, at, b"".join(batches))


def _layers_of(shard_dir: Path, end: int, digest: _Digest) -> list[Layer]:
    """Return the valid layers of a shard that replace everything that was removed before them, after comparing all their files."""
    bases = segment_bases(LOCAL, str(shard_dir))
    start = bases[0] if bases else end
    found = []
    for to_offset in reversed(layer_offsets(shard_dir)):
        if start <= to_offset <= end:
            layer = open_layer(shard_dir, to_offset)
            verify_all(layer)
            digest.add_layer((layer.path / MANIFEST).read_bytes())
            found.append(layer)
    return found


class _Pushed(NamedTuple):
    """What a shard has."""

    layers: Sequence[Layer]
    rows: Sequence[Row]
    end: int


async def _push_shard(connection: Any, shared: Shared, shard: ShardId, pushed: _Pushed) -> None:
    layers, rows, end = pushed
    sid = shared.sids[shard]
    async with connection.transaction():
        present = await connection.fetchval("SELECT next_offset FROM shard WHERE sid = $1 FOR UPDATE", sid)
        if present == end:
            # Of an earlier push. The digest at the end says whether it is the same.
            return
        if present:
            raise CannotRun(f"{shard} has records up to offset {present} in the database, and {end} here: push into empty tables")
        era = await connection.fetchval("SELECT era FROM meta")
        records = [(era, sid, row.base_offset, row.next_offset, 0, row.data) for row in rows]
        columns = ["era", "sid", "base_offset", "next_offset", "epoch", "data"]
        await connection.copy_records_to_table("log", records=records, columns=columns)
        for layer in layers:
            await _push_layer(connection, sid, layer)
        start = rows[0].base_offset if rows else end
        await connection.execute("UPDATE shard SET log_start = $2, next_offset = $3 WHERE sid = $1", sid, start, end)
        if start:
            await connection.execute(RAISE_FORMAT, LAYERS_FORMAT)


async def _push_layer(connection: Any, sid: int, layer: Layer) -> None:
    attempt = f"{attempts_of(sid)}{layer.to_offset:020d}-pushed"
    for name in [*(entry.name for entry in entries_of(layer.manifest)), MANIFEST]:
        content = (layer.path / name).read_bytes()
        parts = ((attempt, name, at // PART_BYTES, content[at : at + PART_BYTES]) for at in range(0, len(content), PART_BYTES))
        await connection.copy_records_to_table("object", records=parts, columns=["attempt", "name", "part", "data"])
    manifest = (layer.path / MANIFEST).read_bytes()
    await connection.execute(
        "INSERT INTO layer(sid, to_offset, attempt, term, manifest) VALUES ($1, $2, $3, 0, $4)",
        sid,
        layer.to_offset,
        attempt,
        manifest,
    )


async def _cut(read: Read) -> list[_Shard]:
    """Return the shards with records, at one moment, in the order of names."""
    return sorted(_Shard(ShardId(topic, partition), *rest) for topic, partition, *rest in await read(_ENDS))


class _Shard(NamedTuple):
    """A shard at a moment."""

    name: ShardId
    sid: int
    start: int
    end: int


OnLayer = Callable[[ShardId, StoredLayer], Awaitable[object]]


async def _digest_of(read: Read, copy: OnLayer, write: Callable[[ShardId, Row], None] = lambda _shard, _row: None) -> _Digest:
    """Read a database at one moment. ``copy`` gets each layer, ``write`` each row. Raises NotReady if one was removed meanwhile."""
    cut, digest, segments = await _cut(read), _Digest(), SegmentCopies(LayerCopies(MemoryStorage(), "/"))
    for name, sid, start, end in cut:
        digest.begin(name, end)
        try:
            for found in reversed(await read(LAYERS_OF, sid)):
                stored = StoredLayer(*found)
                if start <= stored.to_offset <= end:
                    await copy(name, stored)
                    digest.add_layer(stored.manifest)
            async for row in kept_rows(read, segments, name, sid, start, end):
                for position, header in iter_batches(row.data):
                    digest.add(row.data[position : position + header.size])
                write(name, row)
        except (DamagedLog, Unavailable) as error:
            if any(now.start > start for now in await _cut(read) if now.name == name):
                raise NotReady(f"the beginning of {name} was removed while it was read: run this again") from error
            raise
    return digest


def _verified(session: Session) -> OnLayer:
    """Return what reads all files of a layer in the database, and compares them with its manifest."""
    copies = LayerCopies(MemoryStorage(), "/")

    async def verify(shard: ShardId, stored: StoredLayer) -> None:
        await copies.copy(partial(session.read, waits=False), shard, stored)
        copies.keep_only(shard, None)

    return verify


async def _pull(address: Address, data_dir: Path, node_id: int, storage: Storage) -> Copied:
    session = Session(address, _NAME, _check)
    read = partial(session.read, waits=False)
    try:
        found = await read("SELECT cluster_id, login_key, partitions FROM meta")
        if not found:
            raise CannotRun(f"{address.shown} has no log: its tables are empty")
        [(cluster_id, key, partitions)] = found
        begin_directory(data_dir, BEGUN, storage)
        segments = _Segments(data_dir, storage)
        copies = LayerCopies(storage, str(data_dir))

        async def copy(shard: ShardId, stored: StoredLayer) -> None:
            segments.begin(shard)
            layer = await copies.copy(read, shard, stored)
            for name in storage.list(str(layer.path)):
                with closing(storage.open(str(layer.path / name))) as file:
                    file.sync()
            storage.sync_dir(str(layer.path))

        digest = await _digest_of(read, copy, segments.write)
        segments.close()
    finally:
        session.close()
    written = _Digest()
    for name in sorted(map(shard_named, digest.ends)):
        end = digest.ends[str(name)]
        written.begin(name, end)
        _layers_of(data_dir / str(name), end, written)
        for data, position, header in batches_before(job_shard(data_dir / str(name)).since(0, end), end):
            written.add(data[position : position + header.size])
    if written.copied(cluster_id) != digest.copied(cluster_id):
        raise GateClosed(f"{data_dir} does not have what was read of the database: please report this")
    replace_file(storage, f"{data_dir}/{login_key.NAME}", key)
    write_meta(storage, str(data_dir), Meta(cluster_id, node_id, msgspec.json.decode(partitions, type=dict[str, int])))
    return digest.copied(cluster_id)


async def _check(connection: Any) -> None:
    await check_connection(connection, needs_standby=False)


class _Segments:
    """The segments of a new directory, written one after another, shard by shard."""

    def __init__(self, data_dir: Path, storage: Storage) -> None:
        self._data_dir = data_dir
        self._storage = storage
        self._shard: ShardId | None = None
        self._file: File | None = None
        self._size = 0

    def begin(self, shard: ShardId) -> None:
        """Go on to a shard, unless it is the last one."""
        if shard != self._shard:
            self.close()
            self._shard = shard
            make_dir_durably(self._storage, f"{self._data_dir}/{shard}")

    def write(self, shard: ShardId, row: Row) -> None:
        """Add a row."""
        self.begin(shard)
        if self._file is None or self._size >= _SEGMENT_BYTES:
            self._end_file()
            self._file, self._size = self._storage.create(segment_path(f"{self._data_dir}/{shard}", row.base_offset)), 0
        write_all(self._file, row.data, self._size)
        self._size += len(row.data)

    def close(self) -> None:
        """Make the files of the last shard durable."""
        self._end_file()
        if self._shard is not None:
            self._storage.sync_dir(f"{self._data_dir}/{self._shard}")
        self._storage.sync_dir(str(self._data_dir))

    def _end_file(self) -> None:
        if self._file is not None:
            with closing(self._file) as file:
                file.sync()
            self._file = None
