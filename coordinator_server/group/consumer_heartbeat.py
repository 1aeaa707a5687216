"""ConsumerGroupHeartbeat: of a consumer group, of a new one, or of a classic one that becomes one."""

from __future__ import annotations

from functools import partial

from coordinator_server.group.consumer.heartbeat import heartbeat as join_or_stay
from coordinator_server.group.consumer.leave import leave
from coordinator_server.group.consumer.validation import validate
from coordinator_server.group.migration.entry import enter, entered
from coordinator_server.group.migration.preparation import Conversions
from coordinator_server.group.migration.upgrade import PreparedMembers
from coordinator_server.group.registry import Groups
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult, Reply, RequestContext
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse

Result = CoordinatorResult[ConsumerGroupHeartbeatResponse]


def heartbeat(
    groups: Groups,
    conversions: Conversions,
    context: RequestContext,
    request: ConsumerGroupHeartbeatRequest,
    reply: Reply[ConsumerGroupHeartbeatResponse],
) -> Result:
    """Run a heartbeat, or answer the reply later: when the conversion of a large group is prepared. Raises CoordinatorError."""
    validate(request, context.api_version, groups.consumer_context.assignors)
    may_convert = request.member_epoch == 0 and request.group_id not in groups.others
    if may_convert and conversions.take(request.group_id, partial(_run, groups, context, request), reply):
        return CoordinatorResult(DEFERRED)
    return _run(groups, context, request)


def _run(
    groups: Groups, context: RequestContext, request: ConsumerGroupHeartbeatRequest, prepared: PreparedMembers | None = None
) -> Result:
    consumer, group_id = groups.consumer_context, request.group_id
    group = groups.consumer.by_id.get(group_id)
    if group is None:
        entry = enter(groups, group_id, request.member_epoch, prepared)
        result = join_or_stay(consumer, context, request, entry.group, is_entry=bool(entry.records), is_due=entry.is_due)
        return entered(groups, entry, result)
    if request.member_epoch < 0:
        return leave(consumer, group, request)
    return join_or_stay(consumer, context, request, group)
