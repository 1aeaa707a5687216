"""Which member a heartbeat comes from, and whether it may say what it says. Refusals have Kafka's order and messages.

| a heartbeat | member |
|---|---|
| of epoch 0 | joins, or joins again after it was fenced |
| of its epoch | is the member |
| of the previous epoch | has missed the last answer |
| of any other epoch | FENCED_MEMBER_EPOCH: it gives up all partitions and joins again |
"""

from __future__ import annotations

from coordinator_server.group.share.group import ShareGroup
from coordinator_server.group.share.member import ShareGroupMember
from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest


def refuse_if_full(group: ShareGroup, member_id: str, max_size: int) -> None:
    """Refuse a new member of a group that has no room. Raises GROUP_MAX_SIZE_REACHED."""
    if len(group.members) < max_size or member_id in group.members:
        return
    raise CoordinatorError(
        ErrorCode.GROUP_MAX_SIZE_REACHED, f"The share group has reached its maximum capacity of {max_size} members."
    )


def find_member(group: ShareGroup, request: ShareGroupHeartbeatRequest) -> ShareGroupMember:
    """Return the member, which is new if it joins. Raises CoordinatorError."""
    member = group.members.get(request.member_id)
    if member is None:
        if request.member_epoch != 0:
            raise _unknown_member(group, request.member_id)
        return ShareGroupMember(request.member_id)
    _check_epoch(member, request.member_epoch)
    return member


def require_member(group: ShareGroup, member_id: str) -> ShareGroupMember:
    """Return a member. Raises UNKNOWN_MEMBER_ID."""
    member = group.members.get(member_id)
    if member is None:
        raise _unknown_member(group, member_id)
    return member


def _check_epoch(member: ShareGroupMember, epoch: int) -> None:
    own, previous = member.member_epoch, member.previous_member_epoch
    if epoch in (0, own):
        return
    if epoch > own:
        relation, more = "greater", ""
    elif epoch == previous:
        return
    else:
        relation, more = "smaller", f", and it does not match the previous member epoch ({previous})"
    raise CoordinatorError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The share group member has a {relation} member epoch ({epoch}) than the one known by the group coordinator "
        f"({own}){more}. "
        "The member must abandon all its partitions and rejoin.",
    )


def _unknown_member(group: ShareGroup, member_id: str) -> CoordinatorError:
    return CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {group.group_id}.")
