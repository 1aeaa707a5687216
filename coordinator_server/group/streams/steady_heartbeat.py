"""The steady heartbeat: it says nothing new and finds nothing new.

The hottest path of streams groups (``consumer/steady_heartbeat.py``).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from coordinator_server.group.common.settings import StreamsSettings
from coordinator_server.group.modern.context import Session
from coordinator_server.group.modern.sessions import RETRY_MS
from coordinator_server.group.streams.context import StreamsContext
from coordinator_server.group.streams.group import Configured, StreamsGroup
from coordinator_server.group.streams.member import StreamsGroupMember
from coordinator_server.machine.shard import Again
from protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse
from protocol.messages.streams_group_records import (
    StreamsGroupMetadataKey,
    StreamsGroupMetadataValue,
    StreamsGroupTargetAssignmentMetadataKey,
    StreamsGroupTargetAssignmentMetadataValue,
)


class _Seen(NamedTuple):
    """What a member and its group were when its heartbeat changed nothing. The values are those in the state."""

    member: StreamsGroupMember
    group: StreamsGroup
    group_epoch: StreamsGroupMetadataValue | None
    assignment_epoch: StreamsGroupTargetAssignmentMetadataValue | None
    configured: Configured | None
    endpoint_epoch: int
    settings: StreamsSettings


def again(
    streams: StreamsContext,
    request: StreamsGroupHeartbeatRequest,
    group: StreamsGroup,
    session: Session,
    settings: StreamsSettings,
    response: StreamsGroupHeartbeatResponse,
) -> Again | None:
    """Return the short way of a heartbeat that has changed nothing, or None if it may say or find something the next time."""
    member, head = group.members.get(request.member_id), group.head
    is_settled = request.member_epoch == response.member_epoch == group.group_epoch == group.assignment_epoch
    if member is None or not is_settled or response.status or not _is_bare(request) or member.stable_epoch is None:
        return None
    seen = _Seen(
        member,
        group,
        head.get(StreamsGroupMetadataKey),
        head.get(StreamsGroupTargetAssignmentMetadataKey),
        group.configured,
        group.endpoint_epoch,
        settings,
    )
    return partial(_again, streams, session, seen)


def _again(streams: StreamsContext, session: Session, seen: _Seen, durable: int) -> bool:
    """Refresh the session if nothing has changed that the heartbeat checks."""
    member, group, group_epoch, assignment_epoch, configured, endpoint_epoch, settings = seen
    group_id, head = group.group_id, group.head
    if (
        streams.groups.by_id.get(group_id) is not group
        or group.members.get(member.member_id) is not member
        or head.get(StreamsGroupMetadataKey) is not group_epoch
        or head.get(StreamsGroupTargetAssignmentMetadataKey) is not assignment_epoch
        or group.configured is not configured
        or group.compared_epoch != member.current.member_epoch
        or group.endpoint_epoch != endpoint_epoch
        or group.shutdown_member_id is not None
        or streams.own_settings(group_id) is not settings
        or group.end_offset.value > durable
    ):
        return False
    streams.timer.schedule(session.key, settings.session_timeout_ms, session.expire, RETRY_MS)
    return True


def _is_bare(request: StreamsGroupHeartbeatRequest) -> bool:
    """Return whether the request says nothing but that the member is there."""
    said = (
        request.rack_id,
        request.topology,
        request.active_tasks,
        request.standby_tasks,
        request.warmup_tasks,
        request.process_id,
        request.user_endpoint,
        request.client_tags,
    )
    return request.rebalance_timeout_ms == -1 and not request.shutdown_application and said == (None,) * len(said)
