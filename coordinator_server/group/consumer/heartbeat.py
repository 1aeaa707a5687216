"""ConsumerGroupHeartbeat: join a group, stay in it, leave it (KIP-848). The steps of a change are in ``change.py``.

When a member repeats a heartbeat that has changed nothing, it is answered without these steps (``modern/steady_heartbeat.py``).
"""

from __future__ import annotations

from typing import Final

from coordinator_server.group.common.names import sorted_names
from coordinator_server.group.consumer.change import advance, subscribe, written
from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.leave import fence
from coordinator_server.group.consumer.member import ConsumerGroupMember, Epochs
from coordinator_server.group.consumer.membership import find_member, new_member_id
from coordinator_server.group.modern.limits import refuse_many_topics
from coordinator_server.group.modern.membership import refuse_if_full
from coordinator_server.group.modern.revocation import await_revocation
from coordinator_server.group.modern.sessions import refresh_session
from coordinator_server.group.modern.steady_heartbeat import again
from coordinator_server.machine.shard import CoordinatorResult, RequestContext
from protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from protocol.messages.consumer_group_records import ConsumerGroupMemberMetadataValue

NOT_GIVEN: Final = -1

Result = CoordinatorResult[ConsumerGroupHeartbeatResponse]


def heartbeat(
    consumer: ConsumerContext,
    context: RequestContext,
    request: ConsumerGroupHeartbeatRequest,
    group: ConsumerGroup,
    *,
    is_entry: bool = False,
    is_due: bool = False,
) -> Result:
    """Run a valid heartbeat that is not a leave. Raises CoordinatorError.

    ``is_entry``: the records of the group are not written yet. ``is_due``: it needs a new assignment in any case.
    """
    refuse_if_full(group, request.member_id, consumer.config.consumer.group_consumer_max_size)
    refuse_many_topics(consumer, group.group_id, len(request.subscribed_topic_names or ()))
    found = find_member(group, request, request.member_id or new_member_id(consumer))
    before = found.member
    subscribed = subscribe(consumer, group, context, found, _metadata(before.metadata, context, request), is_due=is_due)
    changed = advance(consumer, group, subscribed, request.topic_partitions)
    after = changed.member
    session = refresh_session(consumer, group.group_id, after.member_id)
    if changed.is_moved:
        await_revocation(consumer, fence, group.group_id, after)
    interval_ms = consumer.settings_of(group.group_id).heartbeat_interval_ms
    response = ConsumerGroupHeartbeatResponse(
        member_id=after.member_id, member_epoch=after.member_epoch, heartbeat_interval_ms=interval_ms
    )
    if request.member_epoch == 0 or _is_full(request) or after.assigned != before.assigned:
        response.assignment = assignment_of(after.assigned)
    elif not is_entry and not changed.records and after.is_reconciled_to(group.group_epoch):
        # Regular expressions may have to be resolved again, so there is none with them.
        short_way = again(consumer, group, session) if not group.regex_members and _is_bare(request, after) else None
        return CoordinatorResult(response, depends_on=group.end_offset.value, again=short_way)
    return written(consumer, group, subscribed, changed, response)


def _metadata(
    old: ConsumerGroupMemberMetadataValue, context: RequestContext, request: ConsumerGroupHeartbeatRequest
) -> ConsumerGroupMemberMetadataValue:
    """Return the member's metadata with what the request gives; the same object if nothing changes.

    The order of the topic names does not matter.
    """
    names = old.subscribed_topic_names
    if request.subscribed_topic_names is not None and set(request.subscribed_topic_names) != set(names):
        names = request.subscribed_topic_names
    new = ConsumerGroupMemberMetadataValue(
        _given(request.instance_id, old.instance_id),
        _given(request.rack_id, old.rack_id),
        context.client_id,
        _host(context),
        names,
        _given(request.subscribed_topic_regex, old.subscribed_topic_regex),
        old.rebalance_timeout_ms if request.rebalance_timeout_ms == NOT_GIVEN else request.rebalance_timeout_ms,
        _given(request.server_assignor, old.server_assignor),
        None,
    )
    if new == old:
        return old
    new.subscribed_topic_names = sorted_names(names)
    return new


def assignment_of(assigned: Epochs) -> Assignment:
    """Return partitions as in a response."""
    return Assignment([TopicPartitions(topic_id, list(epochs)) for topic_id, epochs in assigned.items()])


def _is_full(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Return whether the member sends everything, as it does after an error: then it gets its assignment again."""
    has_subscription = request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
    return request.rebalance_timeout_ms != NOT_GIVEN and has_subscription and request.topic_partitions is not None


def _is_bare(request: ConsumerGroupHeartbeatRequest, member: ConsumerGroupMember) -> bool:
    """Return whether the request says only that the member is alive."""
    return (
        request.member_id == member.member_id
        and request.instance_id == member.instance_id
        and request.rack_id is None
        and request.rebalance_timeout_ms == NOT_GIVEN
        and request.subscribed_topic_names is None
        and request.subscribed_topic_regex is None
        and request.server_assignor is None
        and request.topic_partitions is None
    )


def _given(text: str | None, old: str | None) -> str | None:
    return old if text is None else text


def _host(context: RequestContext) -> str:
    return f"/{context.client_host}"
