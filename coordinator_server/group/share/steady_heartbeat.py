"""The steady heartbeat: it says nothing new and finds nothing new.

The hottest path of share groups (``consumer/steady_heartbeat.py``).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from coordinator_server.group.common.settings import ShareSettings
from coordinator_server.group.modern.context import Session
from coordinator_server.group.modern.sessions import RETRY_MS
from coordinator_server.group.share.context import ShareContext
from coordinator_server.group.share.group import ShareGroup
from coordinator_server.group.share.member import ShareGroupMember
from coordinator_server.machine.shard import Again
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from protocol.messages.share_group_records import (
    ShareGroupMetadataKey,
    ShareGroupMetadataValue,
    ShareGroupStatePartitionMetadataKey,
    ShareGroupStatePartitionMetadataValue,
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
)


class _Seen(NamedTuple):
    """What a member and its group were when its heartbeat changed nothing. The values are those in the state."""

    member: ShareGroupMember
    group: ShareGroup
    group_epoch: ShareGroupMetadataValue | None
    assignment_epoch: ShareGroupTargetAssignmentMetadataValue | None
    state_topics: ShareGroupStatePartitionMetadataValue | None
    settings: ShareSettings


def again(
    share: ShareContext, request: ShareGroupHeartbeatRequest, group: ShareGroup, session: Session, settings: ShareSettings
) -> Again | None:
    """Return the short way of a heartbeat that has changed nothing, or None if it says more than that the member is there."""
    member, head = group.members.get(request.member_id), group.head
    if member is None or request.subscribed_topic_names is not None or request.rack_id is not None:
        return None
    seen = _Seen(
        member,
        group,
        head.get(ShareGroupMetadataKey),
        head.get(ShareGroupTargetAssignmentMetadataKey),
        head.get(ShareGroupStatePartitionMetadataKey),
        settings,
    )
    return partial(_again, share, session, seen)


def _again(share: ShareContext, session: Session, seen: _Seen, durable: int) -> bool:
    """Refresh the session if nothing has changed that the heartbeat checks."""
    member, group, group_epoch, assignment_epoch, state_topics, settings = seen
    group_id, head = group.group_id, group.head
    if (
        share.groups.by_id.get(group_id) is not group
        or group.members.get(member.member_id) is not member
        or head.get(ShareGroupMetadataKey) is not group_epoch
        or head.get(ShareGroupTargetAssignmentMetadataKey) is not assignment_epoch
        or head.get(ShareGroupStatePartitionMetadataKey) is not state_topics
        or group.compared_epoch != member.current.member_epoch
        or share.settings(group_id).share is not settings
        or group.end_offset.value > durable
    ):
        return False
    share.timer.schedule(session.key, settings.session_timeout_ms, session.expire, RETRY_MS)
    return True
