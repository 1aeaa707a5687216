"""SyncGroup, Heartbeat and LeaveGroup of classic members of a consumer group (``GroupMetadataManager``). JoinGroup: ``join.py``.

To a classic member, its member epoch is a generation, and each step of its reconciliation a rebalance: a heartbeat asks it to join
again when there is a new target, when it has to give up partitions, and when the rest of its partitions have become free. It
gets its assignment from the coordinator, never from a leader. If no member of the consumer protocol is left, it is also asked to
join when a new target is due, because its join computes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.group import NO_EPOCH, ConsumerGroup
from coordinator_server.group.consumer.leave import fence
from coordinator_server.group.consumer.member import ConsumerGroupMember, MemberState
from coordinator_server.group.consumer.membership import refuse_fenced_instance, require_static_member
from coordinator_server.group.migration.embedded import Unreadable, read_version, write_assignment
from coordinator_server.group.migration.timers import await_join, has_synced, need_not_join, refresh_classic_session
from coordinator_server.group.modern.epoch import has_its_topics, is_compared
from coordinator_server.group.modern.membership import require_member
from coordinator_server.group.modern.sessions import settle_session
from coordinator_server.group.modern.target import is_due
from coordinator_server.group.why import Why
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import CoordinatorResult, RequestContext
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_records import ClassicProtocol
from protocol.messages.consumer_protocol import CONSUMER
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity, MemberResponse
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse

_ALIVE = HeartbeatResponse()
_REBALANCING = HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS)
_FIRST_SYNC_WITH_PROTOCOL: Final = 5
_FIRST_LEAVE_WITH_MEMBERS: Final = 3
_UNKNOWN_MEMBER_ID: Final = ""


def sync_group(
    consumer: ConsumerContext, group: ConsumerGroup, context: RequestContext, request: SyncGroupRequest
) -> CoordinatorResult[SyncGroupResponse]:
    """Return the assignment of a member. Raises CoordinatorError."""
    if context.api_version >= _FIRST_SYNC_WITH_PROTOCOL and (request.protocol_type is None or request.protocol_name is None):
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    member, protocol = _classic_member(group, request.member_id, request.group_instance_id, request.generation_id)
    if request.protocol_type not in (None, CONSUMER) or request.protocol_name not in (None, protocol.name):
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    is_behind = group.assignment_epoch > member.member_epoch and member.state is not MemberState.UNREVOKED_PARTITIONS
    if is_behind or not has_its_topics(consumer, group):
        # A member that has to revoke partitions has joined for that, and afterwards is asked to join again for the new target.
        # An assignment names topics, which may not be known here yet.
        await_join(consumer, group.group_id, member)
        raise CoordinatorError(ErrorCode.REBALANCE_IN_PROGRESS)
    try:
        version = read_version(protocol.metadata)
    except Unreadable:
        raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR) from None
    assigned = {topic_id: list(epochs) for topic_id, epochs in member.assigned.items()}
    has_synced(consumer, group.group_id, member.member_id)
    refresh_classic_session(consumer, group.group_id, member)
    response = SyncGroupResponse(
        protocol_type=request.protocol_type,
        protocol_name=request.protocol_name,
        assignment=write_assignment(assigned, consumer.topics, version),
    )
    return CoordinatorResult(response, depends_on=group.end_offset.value)


def heartbeat(consumer: ConsumerContext, group: ConsumerGroup, request: HeartbeatRequest) -> CoordinatorResult[HeartbeatResponse]:
    """Refresh the session of a member. The answer says whether it must join again. Raises CoordinatorError."""
    member, _ = _classic_member(group, request.member_id, request.group_instance_id, request.generation_id)
    group_id, member_id = group.group_id, member.member_id
    refresh_classic_session(consumer, group_id, member)
    if not (_must_join(group, member) or _is_neglected(consumer, group)):
        need_not_join(consumer, group_id, member_id)
        return CoordinatorResult(_ALIVE, depends_on=group.end_offset.value)
    await_join(consumer, group_id, member)
    # What it has to join for may not be written yet.
    on_append = partial(settle_session, consumer, group_id, member_id, None)
    return CoordinatorResult(_REBALANCING, on_append=on_append, depends_on=group.end_offset.value)


def leave_group(
    consumer: ConsumerContext, group: ConsumerGroup, context: RequestContext, request: LeaveGroupRequest
) -> CoordinatorResult[LeaveGroupResponse]:
    """Remove members of either protocol. Each has its own answer."""
    is_batch = context.api_version >= _FIRST_LEAVE_WITH_MEMBERS
    leaving: list[ConsumerGroupMember] = []
    responses: list[MemberResponse] = []
    for identity in request.members if is_batch else [MemberIdentity(request.member_id)]:
        error = ErrorCode.NONE
        try:
            member = _leaving_member(group, identity)
            if member not in leaving:
                leaving.append(member)
        except CoordinatorError as refused:
            error = refused.error
        responses.append(MemberResponse(identity.member_id, identity.group_instance_id, error))
    response = LeaveGroupResponse(members=responses) if is_batch else LeaveGroupResponse(error_code=responses[0].error_code)
    if not leaving:
        return CoordinatorResult(response, depends_on=group.end_offset.value)
    return fence(consumer, group, leaving, Why.MEMBER_LEFT, response)


def protocols_of(member: ConsumerGroupMember) -> Sequence[ClassicProtocol]:
    """Return what a member sent in its JoinGroup. Raises UNKNOWN_MEMBER_ID if it uses the consumer protocol."""
    own = member.classic_member_metadata
    if own is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    return own.supported_protocols


def _classic_member(
    group: ConsumerGroup, member_id: str, instance_id: str | None, generation_id: int
) -> tuple[ConsumerGroupMember, ClassicProtocol]:
    """Return the member of a request, and its protocol: the first that it supports, as in the answer to its join."""
    if instance_id is None:
        member = require_member(group, member_id)
    else:
        member = require_static_member(group, instance_id)
        refuse_fenced_instance(member, member_id, instance_id)
    protocols = protocols_of(member)
    if member.member_epoch != generation_id:
        raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
    return member, protocols[0]


def _must_join(group: ConsumerGroup, member: ConsumerGroupMember) -> bool:
    if member.member_epoch < group.assignment_epoch or member.state is MemberState.UNREVOKED_PARTITIONS:
        return True
    return member.state is MemberState.UNRELEASED_PARTITIONS and not _is_waiting(group, member)


def _is_neglected(consumer: ConsumerContext, group: ConsumerGroup) -> bool:
    """Return whether a new target is due and is not being computed: heartbeats of native members would do it, and there are none.

    A migration policy may let such a group stay. In Kafka it keeps its assignment until a member joins.
    """
    if group.classic_members.value < len(group.members) or consumer.background.is_left_to_child(group):
        return False
    return not is_compared(group) or (group.assignment_epoch < group.group_epoch and is_due(consumer, group))


def _is_waiting(group: ConsumerGroup, member: ConsumerGroupMember) -> bool:
    """Return whether a partition of the member's target belongs to somebody else still."""
    return any(
        partition not in member.assigned.get(topic_id, ()) and group.partition_epoch(topic_id, partition) != NO_EPOCH
        for topic_id, partitions in group.target(member.member_id).items()
        for partition in partitions
    )


def _leaving_member(group: ConsumerGroup, identity: MemberIdentity) -> ConsumerGroupMember:
    """Return a member that leaves. An administrator may name a static one by its instance id alone."""
    if identity.group_instance_id is None:
        return require_member(group, identity.member_id)
    member = require_static_member(group, identity.group_instance_id)
    if identity.member_id != _UNKNOWN_MEMBER_ID:
        refuse_fenced_instance(member, identity.member_id, identity.group_instance_id)
    return member
