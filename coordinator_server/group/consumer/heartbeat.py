"""ConsumerGroupHeartbeat: join a group, stay in it, leave it (KIP-848). The steps of a change are in ``change.py``.

A steady heartbeat, which changes nothing, takes a short path and writes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from coordinator_server.group.consumer.change import advance, sorted_names, subscribe, written
from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.freshness import is_compared
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.member import Epochs
from coordinator_server.group.consumer.membership import find_member, new_member_id, refuse_if_full
from coordinator_server.group.consumer.sessions import await_revocation, refresh_session
from coordinator_server.machine.shard import CoordinatorResult, RequestContext
from protocol.coordinator_records import CoordinatorRecord
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
    first: Sequence[CoordinatorRecord] = (),
) -> Result:
    """Run a valid heartbeat that is not a leave. ``first`` are records to write before. Raises CoordinatorError."""
    return _steady(consumer, context, request, group) or _change(consumer, context, request, group, first)


def _steady(
    consumer: ConsumerContext, context: RequestContext, request: ConsumerGroupHeartbeatRequest, group: ConsumerGroup
) -> Result | None:
    """Answer a heartbeat that says nothing new and finds nothing new, or return None."""
    member = group.members.get(request.member_id)
    epoch = request.member_epoch
    if (
        member is None
        or member.current.member_epoch != epoch
        or epoch == 0
        or request.subscribed_topic_names is not None
        or request.subscribed_topic_regex is not None
        or request.topic_partitions is not None
        or request.rebalance_timeout_ms != NOT_GIVEN
        or request.server_assignor is not None
        or request.rack_id is not None
        or group.regex_members
        or not member.is_reconciled_to(group.assignment_epoch)
        or group.assignment_epoch < group.group_epoch
        or not is_compared(consumer, group)
    ):
        return None
    metadata = member.metadata
    if (
        request.instance_id != metadata.instance_id
        or context.client_id != metadata.client_id
        or metadata.client_host != _host(context)
        or metadata.classic_member_metadata is not None
    ):
        return None
    session = refresh_session(consumer, request.group_id, member.member_id)
    response = session.response
    interval_ms = consumer.settings(request.group_id).consumer.heartbeat_interval_ms
    if response.member_epoch != epoch or response.heartbeat_interval_ms != interval_ms:
        response = session.response = ConsumerGroupHeartbeatResponse(
            member_id=member.member_id, member_epoch=epoch, heartbeat_interval_ms=interval_ms
        )
    return CoordinatorResult(response, depends_on=group.end_offset.value)


def _change(
    consumer: ConsumerContext,
    context: RequestContext,
    request: ConsumerGroupHeartbeatRequest,
    group: ConsumerGroup,
    first: Sequence[CoordinatorRecord],
) -> Result:
    refuse_if_full(group, request.member_id, consumer.config.group_consumer_max_size)
    found = find_member(group, request, request.member_id or new_member_id(consumer))
    before = found.member
    subscribed = subscribe(consumer, group, found, _metadata(before.metadata, context, request))
    changed = advance(consumer, group, subscribed, request.topic_partitions)
    after = changed.member
    refresh_session(consumer, group.group_id, after.member_id)
    if changed.is_moved:
        await_revocation(consumer, group.group_id, after)
    response = ConsumerGroupHeartbeatResponse(
        member_id=after.member_id,
        member_epoch=after.member_epoch,
        heartbeat_interval_ms=consumer.settings(group.group_id).consumer.heartbeat_interval_ms,
    )
    if request.member_epoch == 0 or _is_full(request) or after.assigned != before.assigned:
        response.assignment = assignment_of(after.assigned)
    result = written(consumer, group, subscribed, changed, response)
    return replace(result, records=[*first, *changed.records]) if first else result


def _metadata(
    old: ConsumerGroupMemberMetadataValue, context: RequestContext, request: ConsumerGroupHeartbeatRequest
) -> ConsumerGroupMemberMetadataValue:
    """Return the member's metadata with what the request gives; the same object if nothing changes. Order of topics is nothing."""
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


def _given(text: str | None, old: str | None) -> str | None:
    return old if text is None else text


def _host(context: RequestContext) -> str:
    return f"/{context.client_host}"
