"""SyncGroup: the leader sends the assignments; the other members wait for them.

The assignments are first written as a record. When it is durable, the group is stable and all waiting SyncGroups are answered;
later SyncGroups are answered from memory. If the record cannot be written, the members must join again.
"""

from __future__ import annotations

from functools import partial

from coordinator_server.group.classic.context import ClassicContext
from coordinator_server.group.classic.group import NO_GENERATION, ClassicGroup
from coordinator_server.group.classic.rebalance import (
    NOTHING,
    Result,
    generation_record,
    prepare_rebalance,
    refuse_syncs,
    reset_assignments,
    set_assignments,
)
from coordinator_server.group.classic.state import COMPLETING_REBALANCE, EMPTY, PREPARING_REBALANCE, STABLE
from coordinator_server.group.why import Why
from coordinator_server.machine.errors import CoordinatorError, operation_error
from coordinator_server.machine.provenance import Reason
from coordinator_server.machine.shard import Reply, RequestContext
from protocol.error_codes import ErrorCode
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse

_FIRST_VERSION_WITH_PROTOCOL = 5


def sync_group(
    classic: ClassicContext, context: RequestContext, request: SyncGroupRequest, reply: Reply[SyncGroupResponse]
) -> Result:
    """Run a SyncGroup, and answer ``reply`` now or when the assignments are durable. Raises CoordinatorError."""
    if context.api_version >= _FIRST_VERSION_WITH_PROTOCOL and (request.protocol_type is None or request.protocol_name is None):
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if not request.group_id:
        raise CoordinatorError(ErrorCode.INVALID_GROUP_ID)
    group = classic.groups.find(request.group_id)
    if group is None or group.state is EMPTY:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    member = group.validate_member(request.member_id, request.group_instance_id)
    if request.generation_id != group.generation_id:
        raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
    if _differ(request.protocol_type, group.protocol_type) or _differ(request.protocol_name, group.protocol_name):
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if group.state is PREPARING_REBALANCE:
        raise CoordinatorError(ErrorCode.REBALANCE_IN_PROGRESS)
    _has_synced(classic, group, member.member_id)
    if group.state is STABLE:
        reply.complete(
            SyncGroupResponse(protocol_type=group.protocol_type, protocol_name=group.protocol_name, assignment=member.assignment)
        )
        return NOTHING
    classic.timer.heard(member.session_key)
    group.await_sync(member, reply)
    if member.member_id == group.leader_id and group.storing_generation != group.generation_id:
        return _store_assignments(classic, group, request)
    return NOTHING


def _differ(asked: str | None, agreed: str | None) -> bool:
    return asked is not None and agreed is not None and asked != agreed


def _has_synced(classic: ClassicContext, group: ClassicGroup, member_id: str) -> None:
    group.pending_syncs.pop(member_id, None)
    if not group.pending_syncs:
        classic.timer.cancel(group.sync_key)


def _store_assignments(classic: ClassicContext, group: ClassicGroup, request: SyncGroupRequest) -> Result:
    # Members that the leader omits get an empty assignment. Assignments for unknown members are ignored.
    assignments = dict.fromkeys(group.members, b"")
    for given in request.assignments:
        if given.member_id in assignments:
            assignments[given.member_id] = given.assignment
    # If the leader sends SyncGroup again before the record is durable, its first assignments apply.
    group.storing_generation = group.generation_id
    on_append = partial(_assignments_stored, classic, group, group.generation_id, assignments)
    on_overdue = partial(_refuse_overdue, classic, group, group.generation_id)
    return generation_record(classic, group, assignments, on_append, on_overdue)


def _refuse_overdue(classic: ClassicContext, group: ClassicGroup, generation_id: int) -> int:
    """Let no member wait longer for the record, and begin a new rebalance. If the record is written, the next one replaces it."""
    if group.state is not COMPLETING_REBALANCE or group.generation_id != generation_id:
        return 0
    refused = refuse_syncs(classic, group, operation_error(ErrorCode.REQUEST_TIMED_OUT))
    group.note(Reason(Why.ASSIGNMENTS_NOT_STORED))
    prepare_rebalance(classic, group)
    return refused


def _assignments_stored(
    classic: ClassicContext, group: ClassicGroup, generation_id: int, assignments: dict[str, bytes], error: ErrorCode | None
) -> None:
    if group.storing_generation == generation_id:
        group.storing_generation = NO_GENERATION
    if group.state is not COMPLETING_REBALANCE or group.generation_id != generation_id:
        # A new rebalance has started while the record was being written.
        return
    if error is None:
        set_assignments(classic, group, assignments)
        group.transition_to(STABLE, classic.clock.wall_ms())
        return
    if error is ErrorCode.MESSAGE_TOO_LARGE:
        classic.report("group-record-too-large", group_id=group.group_id, members=len(group.members))
    failure = operation_error(error)
    reset_assignments(classic, group, failure)
    group.note(Reason(Why.ASSIGNMENTS_NOT_STORED))
    prepare_rebalance(classic, group)
