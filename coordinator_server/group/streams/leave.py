"""Members leave: by a heartbeat with epoch -1, at the end of their session, or because they do not give up tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coordinator_server.group.modern.leave import Removal, remove_members
from coordinator_server.group.modern.membership import require_member
from coordinator_server.group.streams.context import StreamsContext
from coordinator_server.group.streams.group import StreamsGroup
from coordinator_server.group.streams.member import StreamsGroupMember
from coordinator_server.group.streams.records import next_epoch_record
from coordinator_server.group.why import Why
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult
from protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse


def leave(
    streams: StreamsContext, group: StreamsGroup, request: StreamsGroupHeartbeatRequest
) -> CoordinatorResult[StreamsGroupHeartbeatResponse]:
    """Remove a member. Its wish that all shut down counts also if it is none. Raises UNKNOWN_MEMBER_ID."""
    if request.shutdown_application:
        group.request_shutdown(request.member_id)
    member = require_member(group, request.member_id)
    response = StreamsGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)
    return fence(streams, group, [member], Why.MEMBER_LEFT, response)


def fence(
    streams: StreamsContext,
    group: StreamsGroup,
    members: Sequence[StreamsGroupMember],
    why: Why,
    response: Any = DEFERRED,
) -> CoordinatorResult[Any]:
    """Remove members: the group gets a new epoch, and their tasks are free at once. The topology stays as it is."""
    return remove_members(streams, group, Removal(members, why, [next_epoch_record(group.group_id, group.epoch_value)]), response)
