"""Members leave: by a heartbeat with epoch -1, or at the end of their session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coordinator_server.group.modern.epoch import next_epoch
from coordinator_server.group.modern.leave import Removal, remove_members
from coordinator_server.group.modern.membership import require_member
from coordinator_server.group.share.context import ShareContext
from coordinator_server.group.share.group import ShareGroup, topics_after
from coordinator_server.group.share.member import ShareGroupMember
from coordinator_server.group.why import Why
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse


def leave(
    share: ShareContext, group: ShareGroup, request: ShareGroupHeartbeatRequest
) -> CoordinatorResult[ShareGroupHeartbeatResponse]:
    """Remove a member. Raises UNKNOWN_MEMBER_ID."""
    member = require_member(group, request.member_id)
    response = ShareGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)
    return fence(share, group, [member], Why.MEMBER_LEFT, response)


def fence(
    share: ShareContext, group: ShareGroup, members: Sequence[ShareGroupMember], why: Why, response: Any = DEFERRED
) -> CoordinatorResult[Any]:
    """Remove a member: the group gets a new epoch."""
    [member] = members
    topics = topics_after(group, member.metadata.subscribed_topic_names, ())
    _, epoch = next_epoch(share, group, topics, is_due=True)
    return remove_members(share, group, Removal(members, why, epoch), response)
