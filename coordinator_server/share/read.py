"""Reads the state of a share partition (``ShareCoordinatorShard.readStateAndMaybeUpdateLeaderEpoch`` and ``readStateSummary``)."""

from __future__ import annotations

from functools import partial

from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.share.context import ShareContext
from coordinator_server.share.requests import NO_EPOCH, UNINITIALIZED, Summary
from coordinator_server.share.share_partition import SharePartition
from coordinator_server.share.topics import check_partition, check_topic
from coordinator_server.share.write import changed_state, check_epochs, no_state
from protocol.plain_share_states import Found, Read, Write


def read_state(context: ShareContext, request: Read) -> CoordinatorResult[Found]:
    """Return the state. A leader epoch that differs from the newest one, and so is newer, is written. Raises CoordinatorError."""
    name, leader_epoch = request
    state = context.partitions.get(name)
    if state is None:
        raise no_state(name)
    check_epochs(state, leader_epoch)
    check_topic(context.topics, name)
    if leader_epoch in (NO_EPOCH, state.highest_leader_epoch):
        return CoordinatorResult(Found(name, state), again=partial(_again, context, name, state))
    change = Write(name, state.state_epoch, leader_epoch, state.start_offset, state.delivery_complete_count, b"")
    return CoordinatorResult(Found(name, state), changed_state(context, state, change, leader_epoch))


def _again(context: ShareContext, name: bytes, state: SharePartition, durable: int) -> bool:
    """Return whether the same read finds the same state, and that is durable. Raises CoordinatorError."""
    check_topic(context.topics, name)
    return context.partitions.is_as_of(name, state, durable)


def summary(context: ShareContext, name: bytes) -> Summary:
    """Return the summary of a state, also of one that does not exist. Raises CoordinatorError."""
    check_partition(name)
    check_topic(context.topics, name)
    state = context.partitions.get(name)
    if state is None:
        return UNINITIALIZED
    return Summary(state.state_epoch, state.leader_epoch, state.start_offset, state.delivery_complete_count)
