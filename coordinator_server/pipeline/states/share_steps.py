"""The steps of share partitions (KIP-932) as the log has them: what each record changes, and which deliveries are not settled.

A batch of records is *unsettled* while consumers have neither acknowledged nor rejected them: they were delivered, and are
delivered again. A record that is below the start offset is settled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from coordinator_server.machine.timeline import LATEST
from coordinator_server.pipeline.states.share import ShareState
from coordinator_server.share.share_partition import SharePartition, snapshot_key, snapshot_value
from coordinator_server.share.state_batches import StateBatch, combine
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.share_records import ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue
from protocol.share_partition_names import SharePartitionKey

AVAILABLE: Final = "Available"
ACQUIRED: Final = "Acquired"
ACKNOWLEDGED: Final = "Acknowledged"
ARCHIVING: Final = "Archiving"
ARCHIVED: Final = "Archived"
DELIVERY_STATES: Final = {0: AVAILABLE, 1: ACQUIRED, 2: ACKNOWLEDGED, 3: ARCHIVING, 4: ARCHIVED}
"""Kafka's names (``RecordState``)."""
UNKNOWN_STATE: Final = "Unknown"
_SETTLED: Final = frozenset({2, 4})


class ShareStepKind(StrEnum):
    """What a record says of a share partition. Tables of the history contain these values: never change one."""

    INITIALIZED = "initialized"
    WRITTEN = "written"
    DELETED = "deleted"
    KEPT = "kept"
    """What compaction has kept of earlier records."""


class ShareStep(NamedTuple):
    """One record of a share partition, and its state before and after. ``batches`` are those that the record has."""

    key: SharePartitionKey
    kind: ShareStepKind
    before: SharePartition | None
    after: SharePartition | None
    batches: tuple[StateBatch, ...]


class ShareSteps:
    """Follows the share partitions of one shard."""

    def __init__(self) -> None:
        self._state = ShareState()

    def begin(self, key: SharePartitionKey, state: SharePartition) -> None:
        """Take the state of a share partition as it is before the next record."""
        self._state.shard.replay(0, CoordinatorRecord(snapshot_key(key), snapshot_value(state)))

    def add(self, offset: int, record: CoordinatorRecord, *, is_kept: bool = False) -> ShareStep | None:
        """Take the next record, and return its step; None if it says nothing. ``is_kept`` is true for a record of a layer."""
        key = record.key
        if not isinstance(key, ShareSnapshotKey | ShareUpdateKey) or (isinstance(key, ShareUpdateKey) and record.value is None):
            return None
        named = SharePartitionKey(key.group_id, key.topic_id, key.partition)
        before = self._state.shard.share_partition(LATEST, named)
        self._state.shard.replay(offset, record)
        after = self._state.shard.share_partition(LATEST, named)
        kind = ShareStepKind.KEPT if is_kept and after is not None else _kind_of(before, after, record)
        return ShareStep(named, kind, before, after, _batches_of(record))


class Unsettled(NamedTuple):
    """Records that were delivered ``deliveries`` times and are not settled: since when, and before when they were last delivered.

    Times are milliseconds. With ``is_earlier`` the first moment is that of the oldest record in the history, and the truth may be
    earlier.
    """

    first_offset: int
    last_offset: int
    deliveries: int
    since_ms: int
    last_ms: int
    is_earlier: bool = False


def unsettled_after(known: Sequence[Unsettled], step: ShareStep, at_ms: int) -> list[Unsettled]:
    """Return what is unsettled after a step, by offset. ``known`` is what was unsettled before it."""
    is_new = step.before is None or step.kind is ShareStepKind.INITIALIZED
    open_batches = [each for each in _above_start(step.after) if each.delivery_state not in _SETTLED]
    found: list[Unsettled] = []
    at = 0
    known = () if is_new else known
    for first, last, deliveries, _ in open_batches:
        while at < len(known) and known[at].last_offset < first:
            at += 1
        for piece in _pieces(first, last, known, at):
            if isinstance(piece, Unsettled):
                last_ms = piece.last_ms if piece.deliveries == deliveries else at_ms
                _append(found, piece._replace(deliveries=deliveries, last_ms=last_ms))
            else:
                is_earlier = step.kind is ShareStepKind.KEPT
                _append(found, Unsettled(*piece, deliveries, at_ms, at_ms, is_earlier))
    return found


class Counts(NamedTuple):
    """Numbers of records from the start offset on, by what became of their deliveries,
    and the most deliveries of an unsettled one.
    """

    in_flight: int = 0
    acknowledged: int = 0
    archived: int = 0
    most_deliveries: int = 0


def counts_of(state: SharePartition | None) -> Counts:
    """Count the records of a state."""
    in_flight = acknowledged = archived = most = 0
    for first, last, deliveries, delivery_state in _above_start(state):
        size = last - first + 1
        match DELIVERY_STATES.get(delivery_state):
            case "Acknowledged":
                acknowledged += size
            case "Archived":
                archived += size
            case _:
                in_flight += size
                most = max(most, deliveries)
    return Counts(in_flight, acknowledged, archived, most)


def _above_start(state: SharePartition | None) -> tuple[StateBatch, ...]:
    """Return the batches of a state in order, without overlaps and what is below the start offset: a snapshot may have any."""
    return () if state is None else combine(state.state_batches, state.start_offset)


def _kind_of(before: SharePartition | None, after: SharePartition | None, record: CoordinatorRecord) -> ShareStepKind:
    """Return the kind of a record. A snapshot that initializes is the first one, or has a new state epoch."""
    if after is None:
        return ShareStepKind.DELETED
    if isinstance(record.key, ShareSnapshotKey) and (before is None or after.state_epoch != before.state_epoch):
        return ShareStepKind.INITIALIZED
    return ShareStepKind.WRITTEN


def _batches_of(record: CoordinatorRecord) -> tuple[StateBatch, ...]:
    if not isinstance(record.value, ShareSnapshotValue | ShareUpdateValue):
        return ()
    batches = record.value.state_batches
    return tuple(StateBatch(each.first_offset, each.last_offset, each.delivery_count, each.delivery_state) for each in batches)


def _pieces(first: int, last: int, known: Sequence[Unsettled], at: int) -> Iterable[Unsettled | tuple[int, int]]:
    """Divide the offsets of a batch into what is known, from index ``at`` on, and what is not."""
    position = first
    while at < len(known) and known[at].first_offset <= last:
        each = known[at]
        if each.first_offset > position:
            yield position, each.first_offset - 1
            position = each.first_offset
        end = min(each.last_offset, last)
        yield each._replace(first_offset=position, last_offset=end)
        position = end + 1
        at += 1
    if position <= last:
        yield position, last


def _append(found: list[Unsettled], piece: Unsettled) -> None:
    """Append a piece, or extend the last one if it differs in nothing but its offsets."""
    if found and found[-1].last_offset + 1 == piece.first_offset and found[-1][2:] == piece[2:]:
        found[-1] = found[-1]._replace(last_offset=piece.last_offset)
    else:
        found.append(piece)
