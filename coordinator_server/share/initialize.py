"""Initializes and deletes the states of share partitions (``ShareCoordinatorShard.initializeState`` and ``deleteState``)."""

from __future__ import annotations

from typing import Final

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.share.context import ShareContext
from coordinator_server.share.requests import NO_EPOCH, Initialization
from coordinator_server.share.share_partition import SharePartition
from coordinator_server.share.state_batches import NO_START_OFFSET
from coordinator_server.share.state_record import StateRecord
from coordinator_server.share.topics import check_partition, check_topic
from coordinator_server.share.write import snapshot_record
from protocol.error_codes import ErrorCode
from protocol.share_state_records import SNAPSHOT_TYPE

_FIRST_LEADER_EPOCH: Final = 0
# Before a start offset is chosen, no delivery can be counted.
_NOTHING_COUNTED: Final = -1


def initialize_state(context: ShareContext, request: Initialization) -> StateRecord:
    """Return the record of a new state, which replaces an existing one. Raises CoordinatorError."""
    name = request.name
    check_partition(name)
    known = context.partitions.get(name)
    if known is not None and request.state_epoch != NO_EPOCH and known.highest_state_epoch > request.state_epoch:
        raise CoordinatorError(ErrorCode.FENCED_STATE_EPOCH, f"state epoch {known.highest_state_epoch} is newer")
    check_topic(context.topics, name)
    now_ms = context.clock.wall_ms()
    snapshot = SharePartition(
        0 if known is None else known.snapshot_epoch + 1,
        request.state_epoch,
        _FIRST_LEADER_EPOCH,
        request.start_offset,
        _NOTHING_COUNTED if request.start_offset == NO_START_OFFSET else 0,
        b"",
        now_ms,
        now_ms,
        highest_leader_epoch=_FIRST_LEADER_EPOCH,
        highest_state_epoch=request.state_epoch,
        update_count=0,
    )
    return snapshot_record(context, name, known, snapshot)


def is_initialized(context: ShareContext, request: Initialization) -> bool:
    """Return whether the state is as a first message with this request left it: a repeated message need not do so again."""
    known = context.partitions.get(request.name)
    return known is not None and (
        known.highest_state_epoch,
        known.start_offset,
        known.highest_leader_epoch,
        known.rows,
    ) == (request.state_epoch, request.start_offset, _FIRST_LEADER_EPOCH, b"")


def delete_state(context: ShareContext, name: bytes) -> StateRecord | None:
    """Return the tombstone of a state, or None if there is none. Raises CoordinatorError."""
    check_partition(name)
    check_topic(context.topics, name)
    return tombstone(context, name) if name in context.partitions else None


def tombstone(context: ShareContext, name: bytes) -> StateRecord:
    """Return the record that removes a state. It is always a snapshot's."""
    return StateRecord(context.partitions, name, SNAPSHOT_TYPE, None, None)
