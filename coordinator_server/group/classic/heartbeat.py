"""Heartbeat: refreshes a member's session, and reports a rebalance in progress. The hottest path of the server."""

from __future__ import annotations

from functools import partial

from coordinator_server.group.classic.context import ClassicContext
from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.classic.member import ClassicGroupMember
from coordinator_server.group.classic.state import PREPARING_REBALANCE
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import CoordinatorResult
from protocol.error_codes import ErrorCode
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse

_ALIVE = HeartbeatResponse()
_REBALANCING = HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS)


def heartbeat(classic: ClassicContext, request: HeartbeatRequest) -> CoordinatorResult[HeartbeatResponse]:
    """Refresh the session. The answer waits only for uncommitted records of this group. Raises CoordinatorError."""
    group_id = request.group_id
    if not group_id:
        raise CoordinatorError(ErrorCode.INVALID_GROUP_ID)
    group = classic.groups.find(group_id)
    if group is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    member = group.validate_member(request.member_id, request.group_instance_id)
    if request.generation_id != group.generation_id:
        raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
    classic.timer.schedule(member.session_key, member.session_timeout_ms, member.expire)
    depends_on = classic.groups.depends_on(group_id)
    if group.state is PREPARING_REBALANCE:
        return CoordinatorResult(_REBALANCING, depends_on=depends_on)
    return CoordinatorResult(_ALIVE, depends_on=depends_on, again=partial(_again, classic, request, group, member))


def _again(
    classic: ClassicContext, request: HeartbeatRequest, group: ClassicGroup, member: ClassicGroupMember, durable: int
) -> bool:
    """Refresh the session if nothing has changed that the heartbeat checks."""
    groups, instance_id = classic.groups, request.group_instance_id
    if (
        groups.living(request.group_id) is not group
        or group.members.get(request.member_id) is not member
        or group.generation_id != request.generation_id
        or group.state is PREPARING_REBALANCE
        or (instance_id is not None and group.static_members.get(instance_id) != request.member_id)
        or groups.depends_on(request.group_id) > durable
    ):
        return False
    classic.timer.schedule(member.session_key, member.session_timeout_ms, member.expire)
    return True
