"""ConsumerGroupHeartbeat: join a group, stay in it, leave it (KIP-848). One line of steps, each of which returns records.

    find the member ──► its metadata ──► its regular expression ──► the group's epoch ──► the target assignment ──► its assignment

A steady heartbeat, which changes nothing, takes a short path and writes nothing.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Sequence
from functools import partial
from typing import Final

from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.epoch import update_epoch
from coordinator_server.group.consumer.freshness import is_compared
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.member import NO_METADATA, ConsumerGroupMember, Epochs, MemberChange
from coordinator_server.group.consumer.membership import FoundMember, find_member, refuse_if_full
from coordinator_server.group.consumer.news import with_news
from coordinator_server.group.consumer.reconciliation import Goal, reconcile
from coordinator_server.group.consumer.records import current_assignment_record, member_record
from coordinator_server.group.consumer.regexes import RegexChange, update_regex
from coordinator_server.group.consumer.sessions import (
    await_revocation,
    end_sessions,
    refresh_session,
    restart_sessions,
)
from coordinator_server.group.consumer.subscriptions import subscribed_names
from coordinator_server.group.consumer.target import Target, update_target
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import CoordinatorResult, RequestContext
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
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
    refuse_if_full(group, request, consumer.config.group_consumer_max_size)
    found = find_member(group, request, request.member_id or _new_member_id(consumer))
    before = found.member
    subscribed = before.with_metadata(_metadata(before.metadata, context, request))
    change = MemberChange(before, subscribed)
    records = [*first, *found.records]
    if subscribed.metadata is not before.metadata:
        records.append(member_record(group.group_id, subscribed))
    is_renamed = set(before.metadata.subscribed_topic_names) != set(subscribed.metadata.subscribed_topic_names)
    regex = update_regex(consumer, group, before.metadata, subscribed.metadata)
    records += regex.records
    epoch = update_epoch(consumer, group, change, is_renamed or regex.change is RegexChange.RESOLVED)
    records += epoch.records
    target, target_records = update_target(consumer, group, epoch.epoch, change, epoch.is_alike)
    records += target_records
    has_subscription_changed = is_renamed or regex.change is not RegexChange.NONE
    after = _reconcile(consumer, group, subscribed, target, has_subscription_changed, request.topic_partitions)
    refresh_session(consumer, group.group_id, after.member_id)
    if after != subscribed:
        records.append(current_assignment_record(group.group_id, after))
        await_revocation(consumer, group.group_id, after)
    response = ConsumerGroupHeartbeatResponse(
        member_id=after.member_id,
        member_epoch=after.member_epoch,
        heartbeat_interval_ms=consumer.settings(group.group_id).consumer.heartbeat_interval_ms,
    )
    if request.member_epoch == 0 or _is_full(request) or after.assigned != before.assigned:
        response.assignment = assignment_of(after.assigned)
    if not records:
        return CoordinatorResult(response, depends_on=group.end_offset.value)
    reason = Reason(_reason(found, has_subscription_changed, bool(epoch.records), bool(target_records)), after.member_id)
    on_append = partial(_settle, consumer, group.group_id, after.member_id, found.replaced)
    return with_news(consumer, CoordinatorResult(response, records, on_append, attribution=because(reason)), [reason])


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
    # In the order of Java's strings, by UTF-16 units.
    new.subscribed_topic_names = sorted(set(names), key=lambda name: name.encode("utf-16-be", "surrogatepass"))
    return new


def _reconcile(
    consumer: ConsumerContext,
    group: ConsumerGroup,
    member: ConsumerGroupMember,
    target: Target,
    has_subscription_changed: bool,
    owned: Sequence[TopicPartitions] | None,
) -> ConsumerGroupMember:
    if not has_subscription_changed and member.is_reconciled_to(target.epoch):
        return member
    names = frozenset(subscribed_names(group, member))
    topic_by_id = consumer.topics.topic_by_id

    def is_subscribed(topic_id: bytes) -> bool:
        topic = topic_by_id(topic_id)
        return topic is not None and topic.name in names

    goal = Goal(target.epoch, target.partitions, names, is_subscribed, has_subscription_changed, owned, group.partition_epoch)
    return reconcile(member, goal)


def assignment_of(assigned: Epochs) -> Assignment:
    """Return partitions as in a response."""
    return Assignment([TopicPartitions(topic_id, list(epochs)) for topic_id, epochs in assigned.items()])


def _is_full(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Return whether the member sends everything, as it does after an error: then it gets its assignment again."""
    has_subscription = request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
    return request.rebalance_timeout_ms != NOT_GIVEN and has_subscription and request.topic_partitions is not None


def _reason(found: FoundMember, has_subscription_changed: bool, has_new_epoch: bool, has_new_target: bool) -> Why:
    if found.replaced is not None:
        return Why.STATIC_MEMBER_RETURNED
    if found.member.metadata is NO_METADATA:
        return Why.MEMBER_JOINED
    if has_subscription_changed:
        return Why.SUBSCRIPTION_CHANGED
    if has_new_epoch:
        return Why.TOPICS_CHANGED
    return Why.ASSIGNMENT_DUE if has_new_target else Why.RECONCILED


def _settle(consumer: ConsumerContext, group_id: str, member_id: str, replaced: str | None, error: ErrorCode | None) -> None:
    """Bring the timers of the members in line with the outcome of the append."""
    if error is not None:
        restart_sessions(consumer, group_id, member_id)
    elif replaced is not None and replaced != member_id:
        end_sessions(consumer, group_id, replaced)


def _new_member_id(consumer: ConsumerContext) -> str:
    """Return an id in Kafka's form: the 16 bytes of a UUID as 22 characters."""
    digits = consumer.new_id().replace("-", "")
    return urlsafe_b64encode(bytes.fromhex(digits.zfill(32))).decode().rstrip("=")


def _given(text: str | None, old: str | None) -> str | None:
    return old if text is None else text


def _host(context: RequestContext) -> str:
    return f"/{context.client_host}"
