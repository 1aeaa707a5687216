"""The share partitions of groups: their states, which deliveries are not settled, and how that was minute by minute."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from coordinator_server.pipeline.index.tables.activity import MINUTE_MS
from coordinator_server.pipeline.input.files import records_of
from coordinator_server.pipeline.states.share_steps import ShareStep, ShareSteps, Unsettled, counts_of, unsettled_after
from coordinator_server.share.share_partition import SharePartition
from protocol.coordinator_records import SHARE_SERDE
from protocol.record_batch import BatchHeader
from protocol.share_partition_names import SharePartitionKey


class Standing(NamedTuple):
    """The state of a share partition: its start offset, and numbers of records from there on by the outcome of their deliveries.

    ``most_deliveries`` is that of a record in flight, ``oldest_ms`` since when the first of them is not settled; None if none is.
    """

    start_offset: int
    in_flight: int
    acknowledged: int
    archived: int
    most_deliveries: int
    oldest_ms: int | None


class Kept(Struct, array_like=True):
    """All that is known of a share partition between two records. Whoever stores it counts its format."""

    state: SharePartition
    unsettled: list[Unsettled]


class _Partition(Struct):
    number: int
    kept: Kept | None
    changed_ms: int = 0
    # What it came to in each minute since the last flush; None: it was deleted.
    minutes: dict[int, Standing | None] = {}


_KEPT: Final = msgspec.msgpack.Decoder(Kept)


class ShareRows:
    """Writes what the log of share partitions has."""

    def __init__(self) -> None:
        self._shards: dict[int, ShareSteps] = {}
        self._partitions: dict[SharePartitionKey, _Partition] = {}
        self._changed: set[SharePartitionKey] = set()

    def take(self, database: sqlite3.Connection, shard: int, batch: tuple[bytes, int, BatchHeader], *, is_kept: bool) -> None:
        """Take the next batch of a shard; ``is_kept``: it is what compaction has kept of earlier ones. Raises DecodeError."""
        if batch[2].is_control:
            return
        steps = self._shards.setdefault(shard, ShareSteps())
        for record in records_of(*batch, with_headers=False):
            decoded = SHARE_SERDE.decode(record.key, record.value)
            if decoded is None:
                continue
            key = _key_of(decoded.key)
            if key not in self._partitions:
                self._partitions[key] = _stored(database, shard, key)
                if (kept := self._partitions[key].kept) is not None:
                    steps.begin(key, kept.state)
            step = steps.add(record.offset, decoded, is_kept=is_kept)
            if step is not None:
                self._note(key, step, record.timestamp)

    def _note(self, key: SharePartitionKey, step: ShareStep, at_ms: int) -> None:
        found = self._partitions[key]
        unsettled = unsettled_after(() if found.kept is None else found.kept.unsettled, step, at_ms)
        found.kept = None if step.after is None else Kept(step.after, unsettled)
        found.changed_ms = at_ms
        found.minutes[at_ms // MINUTE_MS] = None if found.kept is None else _standing(found.kept)
        self._changed.add(key)

    def flush(self, database: sqlite3.Connection) -> None:
        """Write what has changed, and forget it."""
        for key in self._changed:
            found = self._partitions[key]
            for minute, standing in found.minutes.items():
                row = (None,) * len(Standing._fields) if standing is None else standing
                database.execute(f"INSERT OR REPLACE INTO share_minutes VALUES (?, ?{_MARKS})", (found.number, minute, *row))
            packed = None if found.kept is None else msgspec.msgpack.encode(found.kept, enc_hook=bytes)
            row = (None,) * len(Standing._fields) if found.kept is None else _standing(found.kept)
            database.execute(
                f"UPDATE share_partitions SET changed_ms = ?, kept = ?, ({_COLUMNS}) = ({_MARKS.removeprefix(', ')})"
                " WHERE share_no = ?",
                (found.changed_ms, packed, *row, found.number),
            )
        self._shards, self._partitions, self._changed = {}, {}, set()

    def forget(self, database: sqlite3.Connection, shard: int) -> None:
        """Remove the rows of a shard. What is known was flushed."""
        chosen = "(SELECT share_no FROM share_partitions WHERE shard = ?)"
        database.execute(f"DELETE FROM share_minutes WHERE share_no IN {chosen}", (shard,))
        database.execute("DELETE FROM share_partitions WHERE shard = ?", (shard,))

    def forget_before(self, database: sqlite3.Connection, shard: int, at_ms: int | None) -> None:
        """Remove the minutes of a shard that are before a moment; None if that is unknown."""
        chosen = "(SELECT share_no FROM share_partitions WHERE shard = ?)"
        if at_ms is not None:
            before = f"DELETE FROM share_minutes WHERE minute < ? AND share_no IN {chosen}"
            database.execute(before, (at_ms // MINUTE_MS, shard))


_COLUMNS: Final = ", ".join(Standing._fields)
_MARKS: Final = ", ?" * len(Standing._fields)


def _key_of(key: Any) -> SharePartitionKey:
    return SharePartitionKey(key.group_id, key.topic_id, key.partition)


def _standing(kept: Kept) -> Standing:
    counts = counts_of(kept.state)
    oldest_ms = min((each.since_ms for each in kept.unsettled), default=None)
    return Standing(
        kept.state.start_offset, counts.in_flight, counts.acknowledged, counts.archived, counts.most_deliveries, oldest_ms
    )


def _stored(database: sqlite3.Connection, shard: int, key: SharePartitionKey) -> _Partition:
    """Return a share partition as the database has it, after the last flush; it is made if it is not there."""
    chosen = "SELECT share_no, kept FROM share_partitions WHERE group_id = ? AND topic_id = ? AND partition = ?"
    row = database.execute(chosen, key).fetchone()
    if row is None:
        new = database.execute(
            "INSERT INTO share_partitions (shard, group_id, topic_id, partition) VALUES (?, ?, ?, ?)", (shard, *key)
        ).lastrowid
        assert new is not None
        return _Partition(new, None)
    return _Partition(row[0], None if row[1] is None else _KEPT.decode(row[1]))


# --- reading


class IndexedSharePartition(NamedTuple):
    """A share partition as of the end of the index: its state, its epochs, and its deliveries that are not settled."""

    group_id: str
    topic_id: bytes
    partition: int
    changed_ms: int
    standing: Standing
    delivery_complete: int
    state_epoch: int
    leader_epoch: int
    snapshot_epoch: int
    unsettled: list[Unsettled]


def share_partitions(
    database: sqlite3.Connection, group_id: str | None = None, unsettled_since_ms: int | None = None
) -> list[IndexedSharePartition]:
    """Return the share partitions of a group, or of all, in order.

    With ``unsettled_since_ms`` those that have a delivery which is not settled since then: they are stuck.
    """
    where, values = ["kept IS NOT NULL"], []
    for column, value in (("group_id =", group_id), ("oldest_ms <=", unsettled_since_ms)):
        if value is not None:
            where.append(f"{column} ?")
            values.append(value)
    rows: Iterable[Sequence[Any]] = database.execute(
        f"SELECT group_id, topic_id, partition, changed_ms, {_COLUMNS}, kept FROM share_partitions WHERE {' AND '.join(where)}"
        " ORDER BY group_id, topic_id, partition",
        values,
    )
    found = []
    for group, topic_id, number, changed_ms, *standing, packed in rows:
        kept = _KEPT.decode(packed)
        state, stands = kept.state, Standing(*standing)
        epochs = state.delivery_complete_count, state.state_epoch, state.leader_epoch, state.snapshot_epoch
        found.append(IndexedSharePartition(group, topic_id, number, changed_ms, stands, *epochs, kept.unsettled))
    return found


def share_minutes(
    database: sqlite3.Connection, key: SharePartitionKey, since_ms: int = 0, until_ms: int = 2**62
) -> list[tuple[int, Standing | None]]:
    """Return where a share partition stood at the end of each minute in which its log has a record: the minute's begin in ms.

    None: it was deleted.
    """
    rows: Iterable[Sequence[Any]] = database.execute(
        f"SELECT minute, {_COLUMNS} FROM share_minutes WHERE share_no ="
        " (SELECT share_no FROM share_partitions WHERE group_id = ? AND topic_id = ? AND partition = ?)"
        " AND minute BETWEEN ? AND ? ORDER BY minute",
        (*key, since_ms // MINUTE_MS, until_ms // MINUTE_MS),
    )
    return [(minute * MINUTE_MS, None if rest[0] is None else Standing(*rest)) for minute, *rest in rows]
