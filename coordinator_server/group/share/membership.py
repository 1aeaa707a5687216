"""Which member a heartbeat comes from, and whether it may say what it says. Refusals have Kafka's order and messages.

| a heartbeat | member |
|---|---|
| of epoch 0 | joins, or joins again after it was fenced |
| of its epoch | is the member |
| of the previous epoch | has missed the last answer |
| of any other epoch | FENCED_MEMBER_EPOCH: it gives up all partitions and joins again |
"""

from __future__ import annotations

from coordinator_server.group.modern.membership import fenced_epoch, unknown_member
from coordinator_server.group.share.group import ShareGroup
from coordinator_server.group.share.member import ShareGroupMember
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest


def find_member(group: ShareGroup, request: ShareGroupHeartbeatRequest) -> ShareGroupMember:
    """Return the member, which is new if it joins. Raises CoordinatorError."""
    member, epoch = group.members.get(request.member_id), request.member_epoch
    if member is None:
        if epoch != 0:
            raise unknown_member(group.group_id, request.member_id)
        return ShareGroupMember(request.member_id)
    own, previous = member.member_epoch, member.previous_member_epoch
    if epoch in (0, own) or (epoch == previous and epoch < own):
        return member
    more = "" if epoch > own else f", and it does not match the previous member epoch ({previous})"
    raise fenced_epoch(group, epoch, own, more)
