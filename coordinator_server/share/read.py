"""Reads the state of a share partition (``ShareCoordinatorShard.readStateAndMaybeUpdateLeaderEpoch`` and ``readStateSummary``)."""

from __future__ import annotations

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.share.context import ShareContext
from coordinator_server.share.encoding import name_of
from coordinator_server.share.requests import NO_EPOCH, UNINITIALIZED, Found, Read, Summary, Write
from coordinator_server.share.share_partition import SharePartitionKey
from coordinator_server.share.topics import check_partition, check_topic
from coordinator_server.share.write import changed_state, check_epochs
from protocol.error_codes import ErrorCode


def read_state(context: ShareContext, request: Read) -> CoordinatorResult[Found]:
    """Return the state. A leader epoch that differs from the newest one, and so is newer, is written. Raises CoordinatorError."""
    key, leader_epoch = request
    check_partition(key)
    name = name_of(key)
    state = context.partitions.get(name)
    if state is None:
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, "the share partition is not initialized")
    check_epochs(state, leader_epoch)
    check_topic(context.topics, key)
    if leader_epoch in (NO_EPOCH, state.highest_leader_epoch):
        return CoordinatorResult(Found(key, state))
    change = Write(key, state.state_epoch, leader_epoch, state.start_offset, state.delivery_complete_count, b"")
    return CoordinatorResult(Found(key, state), changed_state(context, name, state, change, leader_epoch))


def summary(context: ShareContext, key: SharePartitionKey) -> Summary:
    """Return the summary of a state, also of one that does not exist. Raises CoordinatorError."""
    check_partition(key)
    check_topic(context.topics, key)
    state = context.partitions.get(name_of(key))
    if state is None:
        return UNINITIALIZED
    return Summary(state.state_epoch, state.leader_epoch, state.start_offset, state.delivery_complete_count)
