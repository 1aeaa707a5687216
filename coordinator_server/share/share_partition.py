"""The state of one share partition: a group's progress through one partition of a topic (Kafka's ``ShareGroupOffset``).

A ShareSnapshot record has the whole state. A ShareUpdate record changes the start offset and adds batches. Epochs fence writers:
the highest epoch of all records applies, and it may be higher than the epoch of the newest record.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from msgspec import Struct

from coordinator_server.share.state_batches import NO_START_OFFSET, StateBatch, combine
from protocol.fields import uuid_text
from protocol.messages import share_records
from protocol.messages.share_records import ShareSnapshotKey, ShareSnapshotValue, ShareUpdateValue

# The value in a record that does not change the leader epoch.
NO_LEADER_EPOCH: Final = -1
# The state epoch of a share partition whose first record is an update.
_UNINITIALIZED_EPOCH: Final = 0
_NO_TIMESTAMP: Final = 0


class SharePartitionKey(NamedTuple):
    """The key of a share partition. ``topic_id`` has the 16 bytes of a UUID."""

    group_id: str
    topic_id: bytes
    partition: int


def coordinator_key(key: SharePartitionKey) -> str:
    """Return the key for FindCoordinator and Kafka's tools: group id, topic id and partition, separated by colons."""
    return f"{key.group_id}:{uuid_text(key.topic_id)}:{key.partition}"


class SharePartition(Struct, frozen=True, gc=False):
    """The state after a record. Timestamps are milliseconds since the Unix epoch, 0 if unknown.

    ``highest_leader_epoch`` and ``highest_state_epoch`` fence writers. ``update_count`` determines when the next snapshot is
    written; compaction reduces it.
    """

    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    state_batches: tuple[StateBatch, ...]
    create_timestamp: int
    write_timestamp: int
    highest_leader_epoch: int
    highest_state_epoch: int
    update_count: int


def after_snapshot(known: SharePartition | None, value: ShareSnapshotValue, updates_per_snapshot: int) -> SharePartition:
    """Return the state after a snapshot. As in Kafka, the count of updates is reset only if it had reached its limit."""
    highest_leader_epoch, highest_state_epoch, update_count = value.leader_epoch, value.state_epoch, 0
    if known is not None:
        highest_leader_epoch = max(highest_leader_epoch, known.highest_leader_epoch)
        highest_state_epoch = max(highest_state_epoch, known.highest_state_epoch)
        update_count = known.update_count if known.update_count < updates_per_snapshot else 0
    return SharePartition(
        value.snapshot_epoch,
        value.state_epoch,
        value.leader_epoch,
        value.start_offset,
        value.delivery_complete_count,
        _batches_of(value.state_batches),
        value.create_timestamp,
        value.write_timestamp,
        highest_leader_epoch,
        highest_state_epoch,
        update_count,
    )


def after_update(known: SharePartition | None, value: ShareUpdateValue) -> SharePartition:
    """Return the state after an update. Without earlier records, the update is the whole state."""
    batches = _batches_of(value.state_batches)
    if known is None:
        return SharePartition(
            value.snapshot_epoch,
            _UNINITIALIZED_EPOCH,
            value.leader_epoch,
            value.start_offset,
            value.delivery_complete_count,
            batches,
            _NO_TIMESTAMP,
            _NO_TIMESTAMP,
            highest_leader_epoch=value.leader_epoch,
            highest_state_epoch=_UNINITIALIZED_EPOCH,
            update_count=1,
        )
    start_offset = known.start_offset if value.start_offset == NO_START_OFFSET else value.start_offset
    return SharePartition(
        known.snapshot_epoch,
        known.state_epoch,
        known.leader_epoch if value.leader_epoch == NO_LEADER_EPOCH else value.leader_epoch,
        start_offset,
        value.delivery_complete_count,
        combine((*known.state_batches, *batches), start_offset),
        known.create_timestamp,
        known.write_timestamp,
        max(known.highest_leader_epoch, value.leader_epoch),
        known.highest_state_epoch,
        known.update_count + 1,
    )


def snapshot_key(key: SharePartitionKey) -> ShareSnapshotKey:
    """Return the record key of a share partition's snapshots and of its tombstone."""
    return ShareSnapshotKey(*key)


def snapshot_value(state: SharePartition) -> ShareSnapshotValue:
    """Return the snapshot of a state. It does not include the fencing epochs and the count of updates."""
    return ShareSnapshotValue(
        snapshot_epoch=state.snapshot_epoch,
        state_epoch=state.state_epoch,
        leader_epoch=state.leader_epoch,
        start_offset=state.start_offset,
        delivery_complete_count=state.delivery_complete_count,
        create_timestamp=state.create_timestamp,
        write_timestamp=state.write_timestamp,
        state_batches=[
            share_records.StateBatch(batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count)
            for batch in state.state_batches
        ],
    )


def _batches_of(batches: Iterable[share_records.StateBatch]) -> tuple[StateBatch, ...]:
    return tuple(StateBatch(each.first_offset, each.last_offset, each.delivery_count, each.delivery_state) for each in batches)
