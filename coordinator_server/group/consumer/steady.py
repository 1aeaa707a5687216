"""The steady heartbeat: it says nothing new and finds nothing new. The hottest path of consumer groups.

A heartbeat that changed nothing leaves behind what it looked at. The next one compares: are these still the same objects? State
is made of values that are replaced, never changed, so identity is enough.
"""

from __future__ import annotations

from coordinator_server.group.common.settings import ConsumerSettings
from coordinator_server.group.consumer.context import ConsumerContext, Session, Steady
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.sessions import RETRY_MS
from coordinator_server.machine.shard import CoordinatorResult, RequestContext
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse as Response
from protocol.messages.consumer_group_records import ConsumerGroupMetadataKey, ConsumerGroupTargetAssignmentMetadataKey


def remember_steady(
    session: Session, context: RequestContext, group: ConsumerGroup, settings: ConsumerSettings, response: Response
) -> None:
    """Take note that this answer changed nothing, unless regular expressions may have to be resolved again."""
    member, head = group.members.get(response.member_id or ""), group.head
    if member is None or group.regex_members:
        return
    session.steady = Steady(
        member,
        context,
        head.get(ConsumerGroupMetadataKey),
        head.get(ConsumerGroupTargetAssignmentMetadataKey),
        settings,
        response,
    )


def steady_heartbeat(
    consumer: ConsumerContext, context: RequestContext, request: ConsumerGroupHeartbeatRequest
) -> CoordinatorResult[Response] | None:
    """Answer a heartbeat like the last one of its member, or return None if there is anything to look at."""
    group_id = request.group_id
    of_group = consumer.sessions.get(group_id)
    session = None if of_group is None else of_group.get(request.member_id)
    last = None if session is None else session.steady
    group = consumer.groups.by_id.get(group_id)
    if session is None or last is None or group is None:
        return None
    head = group.head
    settings = consumer.settings(group_id).consumer
    if (
        request.member_epoch != last.response.member_epoch
        or group.members.get(request.member_id) is not last.member
        or head.get(ConsumerGroupMetadataKey) is not last.group_epoch
        or head.get(ConsumerGroupTargetAssignmentMetadataKey) is not last.assignment_epoch
        or group.compared_epoch != request.member_epoch
        or (context is not last.client and not _are_alike(context, last.client))
        or settings is not last.settings
        or group.regex_members
        or request.instance_id != last.member.metadata.instance_id
        or request.topic_partitions is not None
        or request.subscribed_topic_names is not None
        or request.subscribed_topic_regex is not None
        or request.rebalance_timeout_ms != -1
        or request.server_assignor is not None
        or request.rack_id is not None
    ):
        session.steady = None
        return None
    consumer.timer.schedule(session.key, settings.session_timeout_ms, session.expire, RETRY_MS)
    return CoordinatorResult(last.response, depends_on=group.end_offset.value)


def _are_alike(one: RequestContext, other: RequestContext) -> bool:
    return one.client_id == other.client_id and one.client_host == other.client_host
