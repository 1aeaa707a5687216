"""Takes the batches of shards of groups: divides them by group, and gives each table of the index what it needs of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final

from coordinator_server.pipeline.index.group_chunks import GroupChunks
from coordinator_server.pipeline.index.shard_row import ShardRow
from coordinator_server.pipeline.index.split import Part, split
from coordinator_server.pipeline.index.tables.activity import ActivityRows, forget_minutes_before
from coordinator_server.pipeline.index.tables.group_writes import GroupWrite, OpenWrites, end_writes
from coordinator_server.pipeline.index.tables.lags import LagRows
from coordinator_server.pipeline.index.tables.memberships import MembershipRows
from coordinator_server.pipeline.input.files import records_of
from coordinator_server.pipeline.lag.commit_keys import position_of
from coordinator_server.pipeline.replay.memberships import begins_rebalance
from coordinator_server.pipeline.states.member_steps import HISTORY_SERDE
from coordinator_server.pipeline.states.shown_group import NamesOfTopics
from protocol.control_records import ABORT, COMMIT, control_type
from protocol.errors import DecodeError
from protocol.fields import Message
from protocol.record_batch import NO_PRODUCER_ID, BatchHeader, Record, iter_batches, iter_records

_TABLES: Final = (
    "pieces",
    "contents",
    "chunks",
    "minutes",
    "totals",
    "members",
    "memberships",
    "group_writes",
    "positions",
    "group_lags",
    "stale_lags",
)


class GroupRows:
    """Writes all that an index has of groups."""

    def __init__(self, database: sqlite3.Connection, names: NamesOfTopics, chunk_bytes: int) -> None:
        self._database = database
        self._chunks = GroupChunks(database, names, chunk_bytes)
        self._activity = ActivityRows()
        self._memberships = MembershipRows()
        self._lags: dict[int, LagRows] = {}

    def take(self, shard: ShardRow, batch: tuple[bytes, int, BatchHeader]) -> None:
        """Take the next batch of a shard. Raises DecodeError."""
        data, position, header = batch
        if header.is_control:
            self._end_transaction(shard, data, position, header)
        else:
            open_writes = _open_writes(shard, header)
            for part in split(data, position, header):
                number = self._chunks.add(shard.number, part.group_id, part.batch, header.next_offset)
                self._count(shard, part, number, header, open_writes)
        lags = self._lags.get(shard.number)
        if lags is None:
            lags = self._lags[shard.number] = LagRows(self._database, shard.open_commits)
        lags.take(batch)

    def flush(self) -> None:
        """Write what was taken."""
        self._chunks.flush()
        self._activity.flush(self._database)
        self._memberships.flush(self._database)
        for each in self._lags.values():
            each.flush(self._database)

    def forget(self, shard: int) -> None:
        """Remove the rows of a shard, and forget what is known."""
        database, groups = self._database, "(SELECT group_no FROM groups WHERE shard = ?)"
        for table in _TABLES:
            database.execute(f"DELETE FROM {table} WHERE group_no IN {groups}", (shard,))
        database.execute("DELETE FROM groups WHERE shard = ?", (shard,))
        self._chunks.forget()
        self._memberships.forget()
        self._lags = {}

    def forget_before(self, shard: int, offset: int, at_ms: int | None) -> None:
        """Remove what has ended before an offset, and the minutes before the time of it; None if that is unknown."""
        self._chunks.forget_before(shard, offset)
        groups = "group_no IN (SELECT group_no FROM groups WHERE shard = ?)"
        self._database.execute(f"DELETE FROM memberships WHERE until_offset < ? AND {groups}", (offset, shard))
        self._database.execute(f"DELETE FROM group_writes WHERE ended_offset < ? AND {groups}", (offset, shard))
        if at_ms is not None:
            forget_minutes_before(self._database, groups, shard, at_ms)

    def _end_transaction(self, shard: ShardRow, data: bytes, position: int, header: BatchHeader) -> None:
        """Give a marker to the groups that have offsets in its transaction."""
        found = shard.producers.get(header.producer_id)
        if found is None:
            return
        marker = data[position : position + header.size]
        numbers = {
            group_id: self._chunks.add(shard.number, group_id, marker, header.next_offset) for group_id in sorted(found.groups)
        }
        for record in iter_records(data, position, header):
            kind = control_type(record.key)
            if kind in (ABORT, COMMIT):
                ended = record.offset, record.timestamp, kind == COMMIT
                end_writes(self._database, (shard.number, header.producer_id), found, numbers, ended)
                shard.producers.pop(header.producer_id, None)

    def _count(self, shard: ShardRow, part: Part, number: int, header: BatchHeader, writes: OpenWrites | None) -> None:
        """Count the records of a group in a batch, and follow its members."""
        commits, at_ms = 0, header.max_timestamp
        others: list[tuple[Message, Message | None]] = []
        for record in _records(part):
            at_ms = record.timestamp
            if position_of(record.key) is not None:
                commits += 1
                is_commit = record.value is not None
                self._activity.add(number, at_ms, commits=is_commit, others=not is_commit)
                continue
            decoded = _decoded(record)
            is_rebalance = decoded is not None and begins_rebalance(*decoded)
            self._activity.add(number, at_ms, others=1, rebalances=is_rebalance)
            if decoded is not None:
                others.append(decoded)
        if others:
            self._memberships.add(self._database, number, others, header.base_offset, at_ms)
        if writes is not None:
            known = writes.groups.setdefault(part.group_id, GroupWrite(0, at_ms, at_ms))
            known.offsets += commits
            known.last_ms = at_ms


def _open_writes(shard: ShardRow, header: BatchHeader) -> OpenWrites | None:
    """Return the open transaction of which a batch is, which it may begin; None if it is of none."""
    if header.producer_id == NO_PRODUCER_ID:
        return None
    found = shard.producers.setdefault(header.producer_id, OpenWrites(header.producer_epoch, header.base_offset, 0))
    found.epoch, found.last_ms = header.producer_epoch, header.max_timestamp
    return found


def _records(part: Part) -> Iterator[Record]:
    """Return the records of a group in a batch, without headers."""
    for position, header in iter_batches(part.batch):
        yield from records_of(part.batch, position, header, with_headers=False)


def _decoded(record: Record) -> tuple[Message, Message | None] | None:
    """Return a record; None if its type is unknown or it cannot be read, which every answer about its group says."""
    try:
        decoded = HISTORY_SERDE.decode(record.key, record.value)
    except DecodeError:
        return None
    return None if decoded is None else (decoded.key, decoded.value)
