"""ShareGroupHeartbeat: which group it enters. A share group never takes the place of a group of another type, nor the other way."""

from __future__ import annotations

from coordinator_server.group.registry import Groups
from coordinator_server.group.share.group import ShareGroup
from coordinator_server.group.share.heartbeat import heartbeat as join_or_stay
from coordinator_server.group.share.leave import leave
from coordinator_server.group.share.member import LEAVE_GROUP_EPOCH
from coordinator_server.group.share.validation import JOIN_EPOCH, validate
from coordinator_server.machine.shard import CoordinatorResult, RequestContext
from coordinator_server.machine.timeline import LATEST
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse


def heartbeat(
    groups: Groups, context: RequestContext, request: ShareGroupHeartbeatRequest
) -> CoordinatorResult[ShareGroupHeartbeatResponse]:
    """Run the heartbeat. Raises CoordinatorError."""
    validate(request)
    group = groups.share.by_id.get(request.group_id)
    if group is None:
        group = _entered(groups, request.group_id, request.member_epoch)
    if request.member_epoch == LEAVE_GROUP_EPOCH:
        return leave(groups.share_context, group, request)
    return join_or_stay(groups.share_context, context, request, group)


def _entered(groups: Groups, group_id: str, member_epoch: int) -> ShareGroup:
    """Return the group that a heartbeat creates. Raises GROUP_ID_NOT_FOUND."""
    if member_epoch != JOIN_EPOCH or groups.exists_at(group_id, LATEST):
        raise groups.refusal(group_id, "share", member_epoch)
    return groups.share.absent(group_id)
