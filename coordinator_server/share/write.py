"""Writes the state of a share partition (``ShareCoordinatorShard.writeState``):
an update record, or a snapshot after many of them.
"""

from __future__ import annotations

from typing import Final

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.share.context import ShareContext
from coordinator_server.share.requests import NEGATIVE_PARTITION, NO_EPOCH
from coordinator_server.share.share_partition import SharePartition, after_snapshot, encoded_state, updated
from coordinator_server.share.state_batches import NO_START_OFFSET
from coordinator_server.share.state_record import StateRecord
from coordinator_server.share.state_rows import merge_rows, written_rows
from coordinator_server.share.topics import check_topic
from protocol.error_codes import ErrorCode
from protocol.plain_share_states import Write
from protocol.share_partition_names import is_negative
from protocol.share_state_records import SNAPSHOT_TYPE, UPDATE_TYPE, encoded_update
from protocol.share_state_rows import ROW_BYTES

MAX_BATCHES: Final = 10_000
"""The largest number of batches in a write: the most records that a leader may have in flight
(``group.share.partition.max.record.locks``)."""
MAX_STORED_BATCHES: Final = 20_000
"""The largest number of batches in a state. A snapshot with twice as many would not fit into a record batch."""


def no_state(name: bytes) -> CoordinatorError:
    """Return the refusal of a share partition that has no state. A negative one has none."""
    return CoordinatorError(
        ErrorCode.INVALID_REQUEST, NEGATIVE_PARTITION if is_negative(name) else "the share partition is not initialized"
    )


def check_epochs(state: SharePartition, leader_epoch: int, state_epoch: int = NO_EPOCH) -> None:
    """Raise CoordinatorError for an epoch that is older than the newest one of the share partition."""
    if leader_epoch != NO_EPOCH and state.highest_leader_epoch > leader_epoch:
        raise CoordinatorError(ErrorCode.FENCED_LEADER_EPOCH, f"leader epoch {state.highest_leader_epoch} is newer")
    if state_epoch != NO_EPOCH and state.highest_state_epoch > state_epoch:
        raise CoordinatorError(ErrorCode.FENCED_STATE_EPOCH, f"state epoch {state.highest_state_epoch} is newer")


def write_state(context: ShareContext, request: Write) -> StateRecord:
    """Return the record of a write. It raises no epoch of the share partition, even with higher ones. Raises CoordinatorError."""
    name, state_epoch, leader_epoch, _, _, rows = request
    state = context.partitions.get(name)
    if state is None:
        raise no_state(name)
    check_epochs(state, leader_epoch, state_epoch)
    check_topic(context.topics, name)
    if len(rows) > MAX_BATCHES * ROW_BYTES:
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, f"{len(rows) // ROW_BYTES} batches, of at most {MAX_BATCHES}")
    record = changed_state(context, state, request, state.leader_epoch)
    assert record.state is not None
    stored = len(record.state.rows)
    if stored > MAX_STORED_BATCHES * ROW_BYTES and stored > len(state.rows):
        raise CoordinatorError(
            ErrorCode.INVALID_REQUEST,
            f"the share partition would have {stored // ROW_BYTES} batches, of at most {MAX_STORED_BATCHES}",
        )
    return record


def changed_state(context: ShareContext, state: SharePartition, change: Write, leader_epoch: int) -> StateRecord:
    """Return the update of a state, or its next snapshot. ``leader_epoch`` is used in place of the change's."""
    name, _, _, written_start, complete_count, rows = change
    start_offset = state.start_offset if written_start == NO_START_OFFSET else written_start
    if state.update_count < context.updates_per_snapshot:
        written, merged = written_rows(state.rows, rows, written_start, start_offset)
        after = updated(state, leader_epoch, start_offset, complete_count, merged)
        value = encoded_update(state.snapshot_epoch, leader_epoch, written_start, complete_count, written)
        return StateRecord(context.partitions, name, UPDATE_TYPE, value, after)
    now_ms = context.clock.wall_ms()
    snapshot = SharePartition(
        state.snapshot_epoch + 1,
        state.state_epoch,
        leader_epoch,
        start_offset,
        complete_count,
        merge_rows(state.rows, rows, start_offset),
        now_ms,
        now_ms,
        highest_leader_epoch=leader_epoch,
        highest_state_epoch=state.state_epoch,
        update_count=0,
    )
    return snapshot_record(context, name, state, snapshot)


def snapshot_record(context: ShareContext, name: bytes, known: SharePartition | None, snapshot: SharePartition) -> StateRecord:
    """Return the record of a snapshot that follows a state."""
    after = after_snapshot(known, snapshot, context.updates_per_snapshot)
    return StateRecord(context.partitions, name, SNAPSHOT_TYPE, encoded_state(snapshot), after)
