"""The steady heartbeat: it says nothing new and finds nothing new. The hottest path of consumer groups.

A heartbeat that changed nothing leaves behind what it looked at. The next one compares: are these still the same objects? State
is made of values that are replaced, never changed, so identity is enough.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from coordinator_server.group.common.settings import ConsumerSettings
from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.member import ConsumerGroupMember
from coordinator_server.group.modern.context import Session
from coordinator_server.group.modern.sessions import RETRY_MS
from coordinator_server.machine.shard import Again
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from protocol.messages.consumer_group_records import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)


class _Seen(NamedTuple):
    """What a member and its group were when its heartbeat changed nothing. The values are those in the state."""

    member: ConsumerGroupMember
    group: ConsumerGroup
    group_epoch: ConsumerGroupMetadataValue | None
    assignment_epoch: ConsumerGroupTargetAssignmentMetadataValue | None
    settings: ConsumerSettings


def again(
    consumer: ConsumerContext,
    request: ConsumerGroupHeartbeatRequest,
    group: ConsumerGroup,
    session: Session,
    settings: ConsumerSettings,
) -> Again | None:
    """Return the short way of a heartbeat that has changed nothing, or None if it may find something the next time.

    Regular expressions may have to be resolved again.
    """
    member, head = group.members.get(request.member_id), group.head
    if member is None or group.regex_members or not _is_bare(request, member):
        return None
    group_epoch, assignment_epoch = head.get(ConsumerGroupMetadataKey), head.get(ConsumerGroupTargetAssignmentMetadataKey)
    return partial(_again, consumer, session, _Seen(member, group, group_epoch, assignment_epoch, settings))


def _again(consumer: ConsumerContext, session: Session, seen: _Seen, durable: int) -> bool:
    """Refresh the session if nothing has changed that the heartbeat checks."""
    member, group, group_epoch, assignment_epoch, settings = seen
    group_id, head, instance_id = group.group_id, group.head, member.metadata.instance_id
    if (
        consumer.groups.by_id.get(group_id) is not group
        or group.members.get(member.member_id) is not member
        or (instance_id is not None and group.static_members.get(instance_id) != member.member_id)
        or head.get(ConsumerGroupMetadataKey) is not group_epoch
        or head.get(ConsumerGroupTargetAssignmentMetadataKey) is not assignment_epoch
        or group.compared_epoch != member.current.member_epoch
        or consumer.settings(group_id).consumer is not settings
        or group.regex_members
        or group.end_offset.value > durable
    ):
        return False
    consumer.timer.schedule(session.key, settings.session_timeout_ms, session.expire, RETRY_MS)
    return True


def _is_bare(request: ConsumerGroupHeartbeatRequest, member: ConsumerGroupMember) -> bool:
    """Return whether the request says nothing but that the member is there."""
    return (
        request.instance_id == member.metadata.instance_id
        and request.rack_id is None
        and request.rebalance_timeout_ms == -1
        and request.subscribed_topic_names is None
        and request.subscribed_topic_regex is None
        and request.server_assignor is None
        and request.topic_partitions is None
    )
