"""LeaveGroup: removes members at once, several per request from version 3 on.

An administrator may identify static members by their group instance id alone.
"""

from __future__ import annotations

from coordinator_server.group.classic.context import ClassicContext
from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.classic.rebalance import NOTHING, go_on_without
from coordinator_server.group.why import Why
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.provenance import LONGEST_SAID, Reason
from coordinator_server.machine.shard import CoordinatorResult, RequestContext
from protocol.error_codes import ErrorCode
from protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity, MemberResponse

UNKNOWN_MEMBER_ID = ""

_FIRST_VERSION_WITH_MEMBERS = 3


def leave_group(
    classic: ClassicContext, context: RequestContext, request: LeaveGroupRequest
) -> CoordinatorResult[LeaveGroupResponse]:
    """Remove the members of a request. Each has its own answer. Raises CoordinatorError."""
    if not request.group_id:
        raise CoordinatorError(ErrorCode.INVALID_GROUP_ID)
    is_batch = context.api_version >= _FIRST_VERSION_WITH_MEMBERS
    leaving = request.members if is_batch else [MemberIdentity(request.member_id)]
    group = classic.groups.find(request.group_id)
    if group is None:
        unknown = [_response(identity, ErrorCode.UNKNOWN_MEMBER_ID) for identity in leaving]
        return CoordinatorResult(_answer(unknown, is_batch), depends_on=0)
    outcomes = [_leave(classic, group, identity) for identity in leaving]
    result = NOTHING
    left = [
        Reason(Why.MEMBER_LEFT, member_id, (identity.reason or "")[:LONGEST_SAID])
        for identity, (member_id, response) in zip(leaving, outcomes, strict=True)
        if response.error_code == ErrorCode.NONE
    ]
    if left:
        result = go_on_without(classic, group, left)
    response = _answer([response for _, response in outcomes], is_batch)
    return CoordinatorResult(response, result.records, result.on_append, attribution=result.attribution)


def _leave(classic: ClassicContext, group: ClassicGroup, identity: MemberIdentity) -> tuple[str, MemberResponse]:
    """Remove one member. Return its member id and the answer."""
    member_id = identity.member_id
    if member_id == UNKNOWN_MEMBER_ID and identity.group_instance_id is not None:
        member_id = group.static_members.get(identity.group_instance_id, UNKNOWN_MEMBER_ID)
    if member_id not in group.pending_joins:
        try:
            group.validate_member(member_id, identity.group_instance_id)
        except CoordinatorError as refused:
            return member_id, _response(identity, refused.error)
    group.remove(member_id)
    classic.timer.cancel(group.session_key(member_id))
    return member_id, _response(identity, ErrorCode.NONE)


def _response(identity: MemberIdentity, error: ErrorCode) -> MemberResponse:
    return MemberResponse(identity.member_id, identity.group_instance_id, error)


def _answer(responses: list[MemberResponse], is_batch: bool) -> LeaveGroupResponse:
    if is_batch:
        return LeaveGroupResponse(members=responses)
    return LeaveGroupResponse(error_code=responses[0].error_code)
