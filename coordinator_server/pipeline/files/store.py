"""Copies a log between a data directory and a PostgreSQL that nodes share, and compares the copy with what was read.

    push    into tables without records. Each shard is one transaction; an interrupted push goes on where it ended
    pull    into a new directory, of one moment of all shards: the ends of all are one statement, and rows never change

The batches keep their bytes, so both sides have one digest: SHA-256 over the batches of each shard, in the order of their names.
A pulled directory is no data directory before its last step, as a restored one.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from coordinator_server.log import login_key
from coordinator_server.log.file_names import segment_path
from coordinator_server.log.jobs import JobShard
from coordinator_server.log.meta import write_meta
from coordinator_server.log.opening import identity_of, job_shard, job_shards
from coordinator_server.log.postgresql.address import Address
from coordinator_server.log.postgresql.checks import check_connection, check_rights
from coordinator_server.log.postgresql.rows import Row, rows_between
from coordinator_server.log.postgresql.schema import Shared, open_tables
from coordinator_server.log.postgresql.session import Session
from coordinator_server.log.shards import ShardId, shard_named
from coordinator_server.log.storage import LOCAL, File, Storage, make_dir_durably, replace_file, write_all
from coordinator_server.log.store import Meta
from coordinator_server.pipeline.errors import CannotRun, GateClosed
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
_ENDS: Final = "SELECT topic, partition, sid, log_start, next_offset FROM shard WHERE next_offset > 0 ORDER BY topic, partition"

Read = Callable[..., Awaitable[list[Any]]]


class Copied(Struct, frozen=True):
    """What was copied. ``ends`` are the end offsets of the shards with records; ``digest`` is the same on both sides."""

    cluster_id: str
    shards: int
    batches: int
    bytes: int
    digest: str
    ends: dict[str, int]


class _Digest:
    """The digest of a log, made shard by shard in the order of names."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.batches = self.bytes = 0
        self.ends: dict[str, int] = {}

    def begin(self, shard: ShardId, end: int) -> None:
        if str(shard) in self.ends:
            return
        self.ends[str(shard)] = end
        self._hash.update(f"{shard} {end}\n".encode())

    def add(self, batch: bytes) -> None:
        self.batches += 1
        self.bytes += len(batch)
        self._hash.update(batch)

    def copied(self, cluster_id: str) -> Copied:
        return Copied(cluster_id, len(self.ends), self.batches, self.bytes, self._hash.hexdigest(), self.ends)


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
            if shard.whole(ends[str(name)])[0] is not None:
                raise CannotRun(
                    f"the beginning of {name} was removed, and a database has no layers to replace it: push a directory that "
                    "has its whole history, for example a backup from before"
                )
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
            raise CannotRun("nodes serve this database: a push needs tables that nobody owns")
        connection, shared = opened[-1]
        if key is not None:
            await connection.execute("UPDATE meta SET login_key = $1", key)
        digest = _Digest()
        progress.start(len(shards))
        for done, (name, (shard, end)) in enumerate(shards.items()):
            digest.begin(name, end)
            rows = list(_rows_of(shard, end, digest))
            await _push_shard(connection, shared, name, rows, end)
            progress.advance(done + 1, digest.batches)
        expected = digest.copied(identity.cluster_id)
        found = await _digest_of(partial(session.read, waits=False))
        if found.copied(identity.cluster_id) != expected:
            raise GateClosed("the database does not have what was pushed to it: please report this")
        return expected
    finally:
        progress.stop()
        session.close()


def _rows_of(shard: JobShard, end: int, digest: _Digest) -> Iterator[Row]:
    """Yield the batches of a shard before its end, as rows."""
    begin, size, batches = 0, 0, list[bytes]()
    at = 0
    for file in shard.whole(end)[1]:
        for data, position, header in read_batches(file):
            batch = data[position : position + header.size]
            if batches and size + len(batch) > _ROW_BYTES:
                yield Row(begin, at, b"".join(batches))
                begin, size, batches = at, 0, []
            digest.add(batch)
            batches.append(batch)
            size, at = size + len(batch), header.next_offset
    if batches:
        yield Row(begin, at, b"".join(batches))


async def _push_shard(connection: Any, shared: Shared, shard: ShardId, rows: list[Row], end: int) -> None:
    sid = shared.sids[shard]
    async with connection.transaction():
        present = await connection.fetchval("SELECT next_offset FROM shard WHERE sid = $1 FOR UPDATE", sid)
        if present == end:
            # Of an earlier push. The digest at the end says whether it is the same.
            return
        if present:
            raise CannotRun(f"{shard} has records up to offset {present} in the database, and {end} here: push into empty tables")
        records = [(shared.era, sid, row.base_offset, row.next_offset, 0, row.data) for row in rows]
        columns = ["era", "sid", "base_offset", "next_offset", "epoch", "data"]
        await connection.copy_records_to_table("log", records=records, columns=columns)
        await connection.execute("UPDATE shard SET next_offset = $2 WHERE sid = $1", sid, end)


async def _rows_in(read: Read, ends: list[Any]) -> AsyncIterator[tuple[ShardId, Row]]:
    """Yield all rows before the ends of shards, in the order of names."""
    for shard, sid, start, end in ends:
        async for row in rows_between(read, shard, sid, start, end):
            yield shard, row


async def _cut(read: Read) -> list[tuple[ShardId, int, int, int]]:
    """Return the number, the beginning and the end of each shard with records, at one moment, in the order of names."""
    return sorted((ShardId(topic, partition), *rest) for topic, partition, *rest in await read(_ENDS))


async def _digest_of(read: Read, write: Callable[[ShardId, Row], None] = lambda _shard, _row: None) -> _Digest:
    """Read a database at one moment. ``write`` gets each row."""
    cut, digest = await _cut(read), _Digest()
    ends = {shard: end for shard, _, _, end in cut}
    async for shard, row in _rows_in(read, cut):
        digest.begin(shard, ends[shard])
        for position, header in iter_batches(row.data):
            digest.add(row.data[position : position + header.size])
        write(shard, row)
    return digest


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
        digest = await _digest_of(read, segments.write)
        segments.close()
    finally:
        session.close()
    written = _Digest()
    for name in sorted(map(shard_named, digest.ends)):
        end = digest.ends[str(name)]
        written.begin(name, end)
        for batch in _batches(job_shard(data_dir / str(name)), end):
            written.add(batch)
    if written.copied(cluster_id) != digest.copied(cluster_id):
        raise GateClosed(f"{data_dir} does not have what was read of the database: please report this")
    replace_file(storage, f"{data_dir}/{login_key.NAME}", key)
    write_meta(storage, str(data_dir), Meta(cluster_id, node_id, msgspec.json.decode(partitions, type=dict[str, int])))
    return digest.copied(cluster_id)


async def _check(connection: Any) -> None:
    await check_connection(connection, needs_standby=False)


def _batches(shard: JobShard, end: int) -> Iterator[bytes]:
    for data, position, header in batches_before(shard.whole(end)[1], end):
        yield data[position : position + header.size]


class _Segments:
    """The segments of a new directory, written one after another, shard by shard."""

    def __init__(self, data_dir: Path, storage: Storage) -> None:
        self._data_dir = data_dir
        self._storage = storage
        self._shard: ShardId | None = None
        self._file: File | None = None
        self._size = 0

    def write(self, shard: ShardId, row: Row) -> None:
        """Add a row."""
        if shard != self._shard:
            self.close()
            self._shard = shard
            make_dir_durably(self._storage, f"{self._data_dir}/{shard}")
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
