"""StreamsGroupHeartbeat: which group it enters. A streams group replaces an empty classic group, and no other one."""

from __future__ import annotations

from typing import Any

from coordinator_server.group.classic.records import group_tombstone
from coordinator_server.group.classic.state import EMPTY
from coordinator_server.group.migration.entry import replacing_classic
from coordinator_server.group.registry import Groups
from coordinator_server.group.streams.answer import WithMissingTopics
from coordinator_server.group.streams.heartbeat import heartbeat as join_or_stay
from coordinator_server.group.streams.leave import leave
from coordinator_server.group.streams.validation import JOIN_EPOCH, validate
from coordinator_server.machine.shard import CoordinatorResult, RequestContext
from protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse


def heartbeat(
    groups: Groups, context: RequestContext, request: StreamsGroupHeartbeatRequest
) -> CoordinatorResult[StreamsGroupHeartbeatResponse | WithMissingTopics]:
    """Run the heartbeat. Raises CoordinatorError."""
    validate(request)
    streams, group_id = groups.streams_context, request.group_id
    group = groups.streams.by_id.get(group_id)
    if group is not None:
        if request.member_epoch < JOIN_EPOCH:
            return leave(streams, group, request)
        return join_or_stay(streams, context, request, group)
    classic = None if group_id in groups.others else groups.classic.find(group_id)
    if request.member_epoch != JOIN_EPOCH or (classic is not None and classic.state is not EMPTY) or group_id in groups.others:
        raise groups.refusal(group_id, "streams", request.member_epoch)
    new = groups.streams.absent(group_id)
    if classic is None:
        return join_or_stay(streams, context, request, new)
    result: CoordinatorResult[Any] = join_or_stay(streams, context, request, new, [group_tombstone(group_id)])
    return replacing_classic(groups, classic, result)
