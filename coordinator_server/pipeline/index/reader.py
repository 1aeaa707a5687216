"""One group in an index: its chunks, in order, and what they have. All is of one moment of the database."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from coordinator_server.pipeline.index.chunk import (
    NOTHING_OWNED,
    Start,
    batches_of,
    events_of,
    owned_of,
    runs_of,
    start_of,
    unpacked,
)
from coordinator_server.pipeline.index.moments import offset_after
from coordinator_server.pipeline.index.shard_row import Position
from coordinator_server.pipeline.replay.group_events import Event, RunState
from coordinator_server.pipeline.replay.group_owners import Ownership
from coordinator_server.pipeline.replay.group_timeline import GroupState


class IndexedShard(NamedTuple):
    """How far an index has read a shard, where its history begins, and up to where it lacks records that were lost (0: nowhere)."""

    number: int
    begins_at: int
    lost_to: int
    position: Position


class Chunk(NamedTuple):
    """A chunk: the offset that it begins at, the numbers of events before it, and the times of its events.

    The times are None if it has no events, or is the last one.
    """

    number: int
    start_offset: int
    events_before: int
    shown_before: int
    first_ms: int | None
    last_ms: int | None
    is_ordered: int | None


def indexed_shard(database: sqlite3.Connection, name: str) -> IndexedShard | None:
    """Return what the index has of a shard; None if it has nothing."""
    row = database.execute(
        "SELECT shard, begins_at, lost_to, next_offset, last_base, last_crc, place FROM shards WHERE name = ?", (name,)
    ).fetchone()
    if row is None:
        return None
    number, begins_at, lost_to, *position = row
    return IndexedShard(number, begins_at, lost_to, Position(*position))


class IndexedGroup:
    """A group. ``chunks`` is empty if the index does not have it."""

    def __init__(self, database: sqlite3.Connection, shard: IndexedShard, group_id: str) -> None:
        self._database = database
        self._shard = shard
        found = database.execute("SELECT group_no FROM groups WHERE id = ? AND shard = ?", (group_id, shard.number)).fetchone()
        self._number: int = -1 if found is None else found[0]
        rows = database.execute(
            "SELECT chunk, start_offset, events_before, shown_before, first_ms, last_ms, is_ordered FROM chunks"
            " WHERE group_no = ? ORDER BY chunk",
            (self._number,),
        )
        self.chunks = [Chunk(*row) for row in rows]

    @property
    def is_ordered(self) -> bool:
        """Whether the events of all chunks but the last are in the order of time."""
        latest = -1
        for chunk in self.chunks[:-1]:
            if chunk.first_ms is None or chunk.last_ms is None:
                continue
            if not chunk.is_ordered or chunk.first_ms < latest:
                return False
            latest = chunk.last_ms
        return True

    def start(self, chunk: Chunk) -> Start:
        """Return what was known before a chunk, for one replay: it is changed by that."""
        return start_of(self._content("start", chunk))

    def base(self, chunk: Chunk) -> bytes:
        """Return batches that replay to the state before a chunk."""
        return unpacked(self._content("base", chunk))

    def records(self, chunk: Chunk) -> bytes:
        """Return the batches of a chunk."""
        if chunk is not self.chunks[-1]:
            return unpacked(self._content("records", chunk))
        pieces = self._database.execute("SELECT records FROM pieces WHERE group_no = ? ORDER BY piece", (self._number,))
        return b"".join(unpacked(piece) for (piece,) in pieces)

    def pieces_after(self, piece: int) -> list[bytes]:
        """Return the batches of the last chunk that were written after a piece of it, in order."""
        rows = self._database.execute(
            "SELECT records FROM pieces WHERE group_no = ? AND piece > ? ORDER BY piece", (self._number, piece)
        )
        return [unpacked(records) for (records,) in rows]

    def shown(self, chunk: Chunk) -> list[Event]:
        """Return the events that have ended in a chunk, with runs of commits as one."""
        return events_of(self._content("shown", chunk))

    def owned(self) -> list[Ownership]:
        """Return who had a partition up to a moment in one of the chunks that have ended."""
        last = self.chunks[-1].number if self.chunks else 0
        rows = self._database.execute(
            "SELECT owned FROM contents WHERE group_no = ? AND chunk < ? ORDER BY chunk", (self._number, last)
        )
        # In most chunks there are only commits.
        return [each for (owned,) in rows if owned != NOTHING_OWNED for each in owned_of(owned)]

    def part(self, chunk: Chunk) -> tuple[RunState, ...] | None:
        """Return the commits of a chunk alone, by run; None if runs have ended in it."""
        found = self._content("part", chunk)
        return None if found is None else runs_of(found)

    def offset_after(self, at_ms: int) -> int | None:
        """Return the offset of the first record of the shard after a moment; None if the index has none."""
        return offset_after(self._database, self._shard.number, at_ms)

    def _content(self, what: str, chunk: Chunk) -> bytes:
        found: bytes
        (found,) = self._database.execute(
            f"SELECT {what} FROM contents WHERE group_no = ? AND chunk = ?",
            (self._number, chunk.number),
        ).fetchone()
        return found


def replay_upto(group: IndexedGroup, state: GroupState, end: int) -> None:
    """Replay into a state what the index has of a group before an offset. Raises DamagedLog, DecodeError."""
    chunk = next((each for each in reversed(group.chunks) if each.start_offset <= end), None)
    if chunk is not None:
        for batches in (group.base(chunk), group.records(chunk)):
            for batch in batches_of(batches):
                state.add(batch, end)
