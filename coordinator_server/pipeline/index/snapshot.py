"""One moment of an index, as its writer left it: what it says of a group without the log that follows.

Readers that come back all the time, such as the page, use it: no file of the log is opened, so that they cost its server nothing,
and an index of a log that is elsewhere is read in the same way. What is newer than the index is not in the answers.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from coordinator_server.pipeline.index.database import NoIndex, open_to_read
from coordinator_server.pipeline.index.period import Found, Period, PeriodReader
from coordinator_server.pipeline.index.reader import IndexedGroup, IndexedShard, indexed_shard, replay_upto
from coordinator_server.pipeline.replay.group_owners import Ownership
from coordinator_server.pipeline.replay.group_timeline import GroupAt, GroupState, before_history, unreadable
from coordinator_server.pipeline.states.shown_group import NamesOfTopics
from protocol.errors import DecodeError


class GroupVersion(NamedTuple):
    """How much of a group an index has: it has changed if this differs."""

    number: int
    chunk: int
    start_offset: int
    pieces: int
    size: int
    last_piece: int


class Snapshot:
    """One moment of an index."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database

    def shards(self) -> dict[str, IndexedShard]:
        """Return how far each shard is read."""
        names = [name for (name,) in self.database.execute("SELECT name FROM shards ORDER BY shard")]
        return {name: found for name in names if (found := indexed_shard(self.database, name)) is not None}

    def latest_ms(self) -> int:
        """Return the time of the latest record of all; 0 if there is none."""
        (found,) = self.database.execute("SELECT max(latest_ms) FROM shards").fetchone()
        return max(found or 0, 0)

    def versions(self, shard: IndexedShard) -> dict[str, GroupVersion]:
        """Return the groups of a shard that have records."""
        rows = self.database.execute(
            "SELECT g.id, g.group_no, c.chunk, c.start_offset, count(p.piece), coalesce(sum(p.size), 0), coalesce(max(p.piece), 0)"
            " FROM groups g JOIN chunks c ON c.group_no = g.group_no AND c.chunk ="
            " (SELECT max(chunk) FROM chunks WHERE group_no = g.group_no)"
            " LEFT JOIN pieces p ON p.group_no = g.group_no WHERE g.shard = ? GROUP BY g.group_no",
            (shard.number,),
        )
        return {group_id: GroupVersion(*rest) for group_id, *rest in rows}

    def group(self, group_id: str, names: NamesOfTopics) -> SnapshotGroup | None:
        """Return a group; None if the index does not have it."""
        row = self.database.execute(
            "SELECT s.name FROM groups g JOIN shards s ON s.shard = g.shard WHERE g.id = ?", (group_id,)
        ).fetchone()
        shard = None if row is None else indexed_shard(self.database, row[0])
        return None if shard is None else SnapshotGroup(self.database, shard, row[0], group_id, names)


@contextmanager
def snapshot(directory: Path, identity: str) -> Iterator[Snapshot]:
    """Open an index for one moment of it. Raises NoIndex, also for what SQLite cannot read."""
    with closing(open_to_read(directory, identity)) as database:
        try:
            yield Snapshot(database)
        except sqlite3.Error as error:
            raise NoIndex(f"the index in {directory} cannot be read: {error}; if it is damaged, remove the directory") from error


class SnapshotGroup:
    """One group at the moment of a snapshot. ``stored`` are its chunks."""

    def __init__(
        self, database: sqlite3.Connection, shard: IndexedShard, shard_name: str, group_id: str, names: NamesOfTopics
    ) -> None:
        self.id = group_id
        self.shard = shard
        self.shard_name = shard_name
        self.stored = IndexedGroup(database, shard, group_id)
        self._names = names
        self._reader: PeriodReader | None = None

    def reader(self) -> PeriodReader:
        """Return the reader of events and owners, which has replayed the last chunk. Raises DamagedLog."""
        if self._reader is None:
            try:
                self._reader = PeriodReader(self.stored, self.id, self._names, ())
            except DecodeError as error:
                raise unreadable(self.shard_name, error) from error
        return self._reader

    def events(self, period: Period) -> Found:
        """Return the newest events of a period. Raises DamagedLog."""
        try:
            return self.reader().read(period)
        except DecodeError as error:
            raise unreadable(self.shard_name, error) from error

    def owners(self) -> list[Ownership]:
        """Return the owners of all partitions over time, those of a partition in order. Raises DamagedLog."""
        return self.reader().owners()

    def at(self, at_ms: int | None) -> GroupAt:
        """Return the group before the first record after a moment, or after all of them. Raises CannotRun, DamagedLog."""
        offset = None if at_ms is None else self.stored.offset_after(at_ms)
        if offset is not None and offset < self.shard.begins_at:
            raise before_history(self.shard_name, self.shard.begins_at)
        end = self.shard.position.next_offset if offset is None else offset
        state = GroupState(self.shard_name, self.id, self._names)
        replay_upto(self.stored, state, end)
        return GroupAt(state.group(), self.shard_name, end, self.shard.lost_to)
