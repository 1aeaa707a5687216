"""Writes the chunks of groups: records wait, group by group, and a chunk ends when it has enough of them."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from msgspec import Struct

from coordinator_server.pipeline.compact.supported import Unsupported
from coordinator_server.pipeline.index.chunk import Ended, GroupReplay, Start, end_chunk, first_start, packed, start_of, unpacked
from coordinator_server.pipeline.states.shown_group import NamesOfTopics


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


class GroupChunks:
    """Writes the chunks of groups. The caller has begun a transaction whenever it calls.

    ``names`` has the names of topics, as far as they are known when a chunk ends.
    """

    def __init__(self, database: sqlite3.Connection, names: NamesOfTopics, chunk_bytes: int) -> None:
        self._database = database
        self._names = names
        self._chunk_bytes = chunk_bytes
        self._groups: dict[str, _Group] = {}
        self._waiting: list[_Group] = []

    def add(self, shard: int, group_id: str, batch: bytes, next_offset: int) -> int:
        """Add a batch to a group of a shard, and return the number of the group."""
        group = self._groups.get(group_id)
        if group is None:
            group = self._groups[group_id] = self._stored_group(shard, group_id)
        if not group.pieces:
            self._waiting.append(group)
        group.pieces.append(batch)
        group.size += len(batch)
        if group.size >= group.limit:
            self._end_chunk(group_id, group, next_offset)
        return group.number

    def flush(self) -> None:
        """Write what waits."""
        for group in self._waiting:
            if group.pieces:
                records = b"".join(group.pieces)
                row = group.number, len(records), packed(records)
                self._database.execute("INSERT INTO pieces (group_no, size, records) VALUES (?, ?, ?)", row)
                group.pieces = []
        self._waiting = []

    def forget(self) -> None:
        """Forget what is known of groups: their rows are gone."""
        self._groups = {}

    def forget_before(self, shard: int, offset: int) -> None:
        """Remove the chunks of a shard that are older than the one in which an offset is."""
        older = (
            "SELECT group_no, max(chunk) FROM chunks WHERE start_offset <= ?"
            " AND group_no IN (SELECT group_no FROM groups WHERE shard = ?) GROUP BY group_no HAVING max(chunk) > min(chunk)"
        )
        for which in self._database.execute(older, (offset, shard)).fetchall():
            for table in ("chunks", "contents"):
                self._database.execute(f"DELETE FROM {table} WHERE group_no = ? AND chunk < ?", which)

    def _stored_group(self, shard: int, group_id: str) -> _Group:
        """Return a group as the database has it, after the last flush; it is made if it is not there."""
        database = self._database
        found = database.execute("SELECT group_no FROM groups WHERE id = ?", (group_id,)).fetchone()
        if found is None:
            number = database.execute("INSERT INTO groups (id, shard) VALUES (?, ?)", (group_id, shard)).lastrowid
            assert number is not None
            return self._begin_chunk(number, NewChunk(0, 0, 0, 0, first_start(), b""))
        last = "SELECT chunk, bytes_limit FROM chunks WHERE group_no = ? ORDER BY chunk DESC LIMIT 1"
        chunk, limit = database.execute(last, found).fetchone()
        (size,) = database.execute("SELECT coalesce(sum(size), 0) FROM pieces WHERE group_no = ?", found).fetchone()
        return _Group(found[0], chunk, size, limit)

    def _begin_chunk(self, number: int, new: NewChunk) -> _Group:
        limit = max(self._chunk_bytes, len(new.base))
        self._database.execute(
            "INSERT INTO chunks (group_no, chunk, start_offset, bytes_limit, events_before, shown_before)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (number, new.chunk, new.start_offset, limit, new.events_before, new.shown_before),
        )
        row = number, new.chunk, packed(new.start), packed(new.base)
        self._database.execute("INSERT INTO contents (group_no, chunk, start, base) VALUES (?, ?, ?, ?)", row)
        return _Group(number, new.chunk, 0, limit)

    def _end_chunk(self, group_id: str, group: _Group, next_offset: int) -> None:
        """Write the contents of the last chunk of a group, and begin the next one."""
        database, which = self._database, (group.number, group.chunk)
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
        database = self._database
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
