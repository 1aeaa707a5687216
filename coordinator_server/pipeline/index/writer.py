"""Takes the batches of shards in the order of their offsets, each once, and writes what is new of each group.

    begin      where a shard's batches begin, or go on
    take       the next batch: its records wait, group by group
    flush      one transaction: the records that wait, the chunks that end with them, and the position of each shard

What was taken and not flushed is lost with the process; the position says so, and it is taken again.
"""

from __future__ import annotations

import sqlite3
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from coordinator_server.pipeline.compact.supported import Unsupported
from coordinator_server.pipeline.index.chunk import (
    CHUNK_BYTES,
    Ended,
    GroupReplay,
    Start,
    end_chunk,
    first_start,
    packed,
    start_of,
    unpacked,
)
from coordinator_server.pipeline.index.moments import Moment, encoded, moments_of
from coordinator_server.pipeline.index.split import split
from coordinator_server.pipeline.states.shown_group import NamesOfTopics
from protocol.control_records import ABORT, COMMIT, control_type
from protocol.record_batch import NO_PRODUCER_ID, BatchHeader, iter_records

FLUSH_BYTES: Final = 8 << 20
_PRODUCERS: Final = msgspec.msgpack.Decoder(dict[int, set[str]])


class Position(NamedTuple):
    """How far a shard is read. The last batch that was read is known by its first offset and its checksum.

    ``place`` is where it was found: a note of the feed's, for the feed.
    """

    next_offset: int
    last_base: int = -1
    last_crc: int = 0
    place: str = ""


class _Shard(Struct):
    number: int
    begins_at: int
    position: Position
    latest_ms: int
    lost_to: int = 0
    # The groups that have offsets in an open transaction, by producer.
    producers: dict[int, set[str]] = {}
    moments: list[Moment] = []


class NewChunk(NamedTuple):
    """What a chunk begins with."""

    chunk: int
    start_offset: int
    events_before: int
    shown_before: int
    start: Start
    base: bytes


class _Group(Struct):
    """A group whose last chunk is known: how large it is, and how large it gets. ``pieces`` are not yet written."""

    number: int
    chunk: int
    size: int
    limit: int
    pieces: list[bytes] = []


class IndexWriter:
    """Writes one index. ``names`` has the names of topics, as far as they are known when a chunk ends."""

    def __init__(self, database: sqlite3.Connection, names: NamesOfTopics, chunk_bytes: int = CHUNK_BYTES) -> None:
        self._database = database
        self._names = names
        self._chunk_bytes = chunk_bytes
        self._shards: dict[str, _Shard] = {}
        self._groups: dict[str, _Group] = {}
        self._waiting: list[_Group] = []
        self._size = 0

    def position(self, shard: str) -> Position | None:
        """Return how far a shard is read; None if nothing of it was."""
        found = self._shard(shard)
        return None if found is None else found.position

    def begin(self, shard: str, begins_at: int) -> None:
        """Begin a shard, from nothing. Its history begins at an offset: what is taken before that is what compaction has kept."""
        self.flush()
        self._forget(shard)
        self._database.execute(
            "INSERT INTO shards (name, begins_at, next_offset, latest_ms, last_base, last_crc, place, lost_to, producers)"
            " VALUES (?, ?, 0, -1, -1, 0, '', 0, ?)",
            (shard, begins_at, msgspec.msgpack.encode({})),
        )
        self._shards.pop(shard, None)
        self._groups = {}
        self.flush()

    def take(self, shard: str, batch: tuple[bytes, int, BatchHeader], place: str = "") -> None:
        """Take the next verified batch of a shard that has begun. One that was taken before is left out. Raises DecodeError."""
        data, position, header = batch
        found = self._shard(shard)
        assert found is not None, shard
        if header.base_offset < found.position.next_offset:
            return
        for moment in moments_of(data, position, header, found.latest_ms):
            found.latest_ms = moment.at_ms
            found.moments.append(moment)
        if header.is_control:
            self._end_transaction(found, data, position, header)
        else:
            for part in split(data, position, header):
                self._add(found, part.group_id, part.batch, header.next_offset)
                if header.producer_id != NO_PRODUCER_ID:
                    found.producers.setdefault(header.producer_id, set()).add(part.group_id)
        if header.is_lost and header.base_offset >= found.begins_at:
            found.lost_to = header.next_offset
        found.position = Position(header.next_offset, header.base_offset, header.crc, place)
        if self._size >= FLUSH_BYTES:
            self.flush()

    def reach(self, shard: str, offset: int) -> None:
        """Note that a shard has nothing before an offset that was not taken."""
        found = self._shard(shard)
        assert found is not None, shard
        if found.position.next_offset < offset:
            found.position = found.position._replace(next_offset=offset)

    def forget_before(self, shard: str, offset: int) -> None:
        """Forget what happened before an offset, where the history of a shard begins now: chunks that are older, as a whole."""
        found = self._shard(shard)
        assert found is not None, shard
        if offset <= found.begins_at:
            return
        found.begins_at = offset
        database = self._begun()
        database.execute("UPDATE shards SET begins_at = ? WHERE shard = ?", (offset, found.number))
        older = (
            "SELECT group_no, max(chunk) FROM chunks WHERE start_offset <= ?"
            " AND group_no IN (SELECT group_no FROM groups WHERE shard = ?) GROUP BY group_no HAVING max(chunk) > min(chunk)"
        )
        for which in database.execute(older, (offset, found.number)).fetchall():
            for table in ("chunks", "contents"):
                database.execute(f"DELETE FROM {table} WHERE group_no = ? AND chunk < ?", which)

    def flush(self) -> None:
        """Commit what was taken. After an error the writer is of no more use, and what it has not committed is lost."""
        database = self._begun()
        for group in self._waiting:
            if group.pieces:
                records = b"".join(group.pieces)
                row = group.number, len(records), packed(records)
                database.execute("INSERT INTO pieces (group_no, size, records) VALUES (?, ?, ?)", row)
                group.pieces = []
        for shard in self._shards.values():
            if shard.moments:
                row = shard.number, shard.moments[0].at_ms, encoded(shard.moments)
                database.execute("INSERT INTO moments VALUES (?, ?, ?)", row)
                shard.moments = []
            producers = msgspec.msgpack.encode(shard.producers)
            database.execute(
                "UPDATE shards SET next_offset = ?, last_base = ?, last_crc = ?, place = ?, latest_ms = ?, lost_to = ?,"
                " producers = ? WHERE shard = ?",
                (*shard.position, shard.latest_ms, shard.lost_to, producers, shard.number),
            )
        database.execute("COMMIT")
        self._waiting, self._size = [], 0

    def _begun(self) -> sqlite3.Connection:
        """Return the database, in a transaction."""
        if not self._database.in_transaction:
            self._database.execute("BEGIN IMMEDIATE")
        return self._database

    # --- groups

    def _end_transaction(self, shard: _Shard, data: bytes, position: int, header: BatchHeader) -> None:
        """Give a marker to the groups that have offsets in its transaction."""
        groups = shard.producers.get(header.producer_id, set())
        for group_id in sorted(groups):
            self._add(shard, group_id, data[position : position + header.size], header.next_offset)
        if any(control_type(record.key) in (ABORT, COMMIT) for record in iter_records(data, position, header)):
            shard.producers.pop(header.producer_id, None)

    def _add(self, shard: _Shard, group_id: str, batch: bytes, next_offset: int) -> None:
        group = self._groups.get(group_id)
        if group is None:
            group = self._groups[group_id] = self._stored_group(shard, group_id)
        if not group.pieces:
            self._waiting.append(group)
        group.pieces.append(batch)
        group.size += len(batch)
        self._size += len(batch)
        if group.size >= group.limit:
            self._end_chunk(group_id, group, next_offset)

    def _stored_group(self, shard: _Shard, group_id: str) -> _Group:
        """Return a group as the database has it, after the last flush; it is made if it is not there."""
        database = self._begun()
        found = database.execute("SELECT group_no FROM groups WHERE id = ?", (group_id,)).fetchone()
        if found is None:
            number = database.execute("INSERT INTO groups (id, shard) VALUES (?, ?)", (group_id, shard.number)).lastrowid
            assert number is not None
            return self._begin_chunk(number, NewChunk(0, 0, 0, 0, first_start(), b""))
        last = "SELECT chunk, bytes_limit FROM chunks WHERE group_no = ? ORDER BY chunk DESC LIMIT 1"
        chunk, limit = database.execute(last, found).fetchone()
        (size,) = database.execute("SELECT coalesce(sum(size), 0) FROM pieces WHERE group_no = ?", found).fetchone()
        return _Group(found[0], chunk, size, limit)

    def _begin_chunk(self, number: int, new: NewChunk) -> _Group:
        limit = max(self._chunk_bytes, len(new.base))
        database = self._begun()
        database.execute(
            "INSERT INTO chunks (group_no, chunk, start_offset, bytes_limit, events_before, shown_before)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (number, new.chunk, new.start_offset, limit, new.events_before, new.shown_before),
        )
        row = number, new.chunk, packed(new.start), packed(new.base)
        database.execute("INSERT INTO contents (group_no, chunk, start, base) VALUES (?, ?, ?, ?)", row)
        return _Group(number, new.chunk, 0, limit)

    def _end_chunk(self, group_id: str, group: _Group, next_offset: int) -> None:
        """Write what the last chunk of a group comes to, and begin the next one."""
        database, which = self._begun(), (group.number, group.chunk)
        pieces = database.execute("SELECT records FROM pieces WHERE group_no = ? ORDER BY piece", (group.number,))
        records = b"".join([*(unpacked(piece) for (piece,) in pieces), *group.pieces])
        start, base = database.execute("SELECT start, base FROM contents WHERE group_no = ? AND chunk = ?", which).fetchone()
        try:
            ended = end_chunk(GroupReplay(group_id, self._names, start_of(start)), unpacked(base), records)
        except Unsupported:
            # Compaction leaves such records alone, too. The chunk goes on.
            group.limit *= 2
            database.execute("UPDATE chunks SET bytes_limit = ? WHERE group_no = ? AND chunk = ?", (group.limit, *which))
            return
        events_before, shown_before = self._write_ended(which, ended, records)
        database.execute("DELETE FROM pieces WHERE group_no = ?", (group.number,))
        new = NewChunk(group.chunk + 1, next_offset, events_before, shown_before, ended.start, ended.base)
        after = self._begin_chunk(group.number, new)
        group.chunk, group.size, group.limit, group.pieces = after.chunk, 0, after.limit, []

    def _write_ended(self, which: tuple[int, int], ended: Ended, records: bytes) -> tuple[int, int]:
        """Return how many events there are up to the end of the chunk: all, and those that are shown with runs as one."""
        database = self._begun()
        part = None if ended.part is None else packed(ended.part)
        database.execute(
            "UPDATE contents SET records = ?, part = ?, shown = ?, owned = ? WHERE group_no = ? AND chunk = ?",
            (packed(records), part, packed(ended.shown), packed(ended.owned), *which),
        )
        database.execute(
            "UPDATE chunks SET first_ms = ?, last_ms = ?, is_ordered = ? WHERE group_no = ? AND chunk = ?",
            (ended.first_ms, ended.last_ms, ended.is_ordered, *which),
        )
        before = "SELECT events_before, shown_before FROM chunks WHERE group_no = ? AND chunk = ?"
        events, shown = database.execute(before, which).fetchone()
        return events + ended.events, shown + len(ended.shown)

    # --- shards

    def _shard(self, name: str) -> _Shard | None:
        found = self._shards.get(name)
        if found is None:
            row = self._database.execute(
                "SELECT shard, begins_at, latest_ms, lost_to, producers, next_offset, last_base, last_crc, place"
                " FROM shards WHERE name = ?",
                (name,),
            ).fetchone()
            if row is None:
                return None
            number, begins_at, latest_ms, lost_to, producers, *position = row
            found = _Shard(number, begins_at, Position(*position), latest_ms, lost_to, _PRODUCERS.decode(producers))
            self._shards[name] = found
        return found

    def _forget(self, name: str) -> None:
        database = self._begun()
        groups = "(SELECT group_no FROM groups WHERE shard = (SELECT shard FROM shards WHERE name = ?))"
        for table in ("pieces", "contents", "chunks"):
            database.execute(f"DELETE FROM {table} WHERE group_no IN {groups}", (name,))
        for table in ("moments", "groups", "shards"):
            database.execute(f"DELETE FROM {table} WHERE shard = (SELECT shard FROM shards WHERE name = ?)", (name,))
