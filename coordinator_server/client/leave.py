"""LeaveGroup."""

from __future__ import annotations

from coordinator_server.client.errors import known_code, refusal
from coordinator_server.client.generation import Generation
from coordinator_server.client.member import short_reason
from coordinator_server.client.network import GroupLink
from protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity

_MANY_MEMBERS = 3


async def leave_group(link: GroupLink, group_id: str, generation: Generation, reason: str, timeout_s: float) -> None:
    """Notify the coordinator that this member leaves, and why (KIP-800). Raises ClientError."""
    connection = await link.ready_within(timeout_s)
    if connection.version_of(LeaveGroupRequest) >= _MANY_MEMBERS:
        request = LeaveGroupRequest(group_id, members=[MemberIdentity(generation.member_id, reason=short_reason(reason))])
    else:
        request = LeaveGroupRequest(group_id, member_id=generation.member_id)
    answer = await link.call(request, LeaveGroupResponse, timeout_s)
    for code in (answer.error_code, *(each.error_code for each in answer.members)):
        if code:
            raise refusal("LeaveGroup", known_code(code))
