"""The state of one share partition: a group's progress through one partition of a topic (Kafka's ``ShareGroupOffset``).

A ShareSnapshot record has the whole state. A ShareUpdate record changes the start offset and adds batches. Epochs fence writers:
the highest epoch of all records applies, and it may be higher than the epoch of the newest record.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from coordinator_server.share.state_batches import NO_START_OFFSET, StateBatch
from coordinator_server.share.state_rows import batches_of, merge_rows
from protocol.messages import share_records
from protocol.messages.share_records import ShareSnapshotKey, ShareSnapshotValue, ShareUpdateValue
from protocol.share_partition_names import SharePartitionKey
from protocol.share_state_records import Snapshot, decoded_snapshot, encoded_snapshot
from protocol.share_state_rows import rows_of

# The value in a record that does not change the leader epoch.
NO_LEADER_EPOCH: Final = -1
# The state epoch of a share partition whose first record is an update.
_UNINITIALIZED_EPOCH: Final = 0
_NO_TIMESTAMP: Final = 0


class SharePartition(Struct, frozen=True, gc=False):
    """The state after a record. Timestamps are milliseconds since the Unix epoch, 0 if unknown. ``rows`` are the batches.

    ``highest_leader_epoch`` and ``highest_state_epoch`` fence writers. ``update_count`` determines when the next snapshot is
    written; compaction reduces it.
    """

    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    rows: bytes
    create_timestamp: int
    write_timestamp: int
    highest_leader_epoch: int
    highest_state_epoch: int
    update_count: int

    @property
    def state_batches(self) -> tuple[StateBatch, ...]:
        """The batches, in order."""
        return batches_of(self.rows)


def decoded_state(value: bytes) -> SharePartition:
    """Return the state after a plain snapshot of a share partition without earlier records (``protocol/plain_snapshots.py``)."""
    found = decoded_snapshot(value)
    return SharePartition(
        found.snapshot_epoch,
        found.state_epoch,
        found.leader_epoch,
        found.start_offset,
        found.delivery_complete_count,
        found.rows,
        found.create_timestamp,
        found.write_timestamp,
        highest_leader_epoch=found.leader_epoch,
        highest_state_epoch=found.state_epoch,
        update_count=0,
    )


def encoded_state(state: SharePartition) -> bytes:
    """Return the value of a ShareSnapshot record with this state."""
    return encoded_snapshot(
        Snapshot(
            state.snapshot_epoch,
            state.state_epoch,
            state.leader_epoch,
            state.start_offset,
            state.create_timestamp,
            state.write_timestamp,
            state.delivery_complete_count,
            state.rows,
        )
    )


def snapshot_state(value: ShareSnapshotValue) -> SharePartition:
    """Return the state after a snapshot of a share partition without earlier records."""
    return SharePartition(
        value.snapshot_epoch,
        value.state_epoch,
        value.leader_epoch,
        value.start_offset,
        value.delivery_complete_count,
        rows_of(value.state_batches),
        value.create_timestamp,
        value.write_timestamp,
        highest_leader_epoch=value.leader_epoch,
        highest_state_epoch=value.state_epoch,
        update_count=0,
    )


def after_snapshot(known: SharePartition | None, snapshot: SharePartition, updates_per_snapshot: int) -> SharePartition:
    """Return the state after a snapshot. As in Kafka, the count of updates is reset only if it had reached its limit."""
    if known is None:
        return snapshot
    return msgspec.structs.replace(
        snapshot,
        highest_leader_epoch=max(snapshot.leader_epoch, known.highest_leader_epoch),
        highest_state_epoch=max(snapshot.state_epoch, known.highest_state_epoch),
        update_count=known.update_count if known.update_count < updates_per_snapshot else 0,
    )


def first_update(value: ShareUpdateValue) -> SharePartition:
    """Return the state after an update of a share partition without earlier records: the update is the whole state."""
    return SharePartition(
        value.snapshot_epoch,
        _UNINITIALIZED_EPOCH,
        value.leader_epoch,
        value.start_offset,
        value.delivery_complete_count,
        rows_of(value.state_batches),
        _NO_TIMESTAMP,
        _NO_TIMESTAMP,
        highest_leader_epoch=value.leader_epoch,
        highest_state_epoch=_UNINITIALIZED_EPOCH,
        update_count=1,
    )


def after_update(
    known: SharePartition, leader_epoch: int, start_offset: int, delivery_complete_count: int, rows: bytes
) -> SharePartition:
    """Return the state after an update with these batches. A start offset or leader epoch of -1 changes nothing."""
    if start_offset == NO_START_OFFSET:
        start_offset = known.start_offset
    return updated(known, leader_epoch, start_offset, delivery_complete_count, merge_rows(known.rows, rows, start_offset))


def updated(
    known: SharePartition, leader_epoch: int, start_offset: int, delivery_complete_count: int, rows: bytes
) -> SharePartition:
    """Return the state after an update that leaves this start offset and these batches. A leader epoch of -1 changes nothing."""
    highest = known.highest_leader_epoch
    return SharePartition(
        known.snapshot_epoch,
        known.state_epoch,
        known.leader_epoch if leader_epoch == NO_LEADER_EPOCH else leader_epoch,
        start_offset,
        delivery_complete_count,
        rows,
        known.create_timestamp,
        known.write_timestamp,
        max(highest, leader_epoch),
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
