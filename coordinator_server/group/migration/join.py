"""JoinGroup of a classic member in a consumer group (``GroupMetadataManager.classicGroupJoinToConsumerGroup``).

The member joins as one of the consumer protocol does: its subscription is read from the bytes that it sends, the target is
computed, and it is reconciled. It is answered at once: no member waits for the others. A dynamic member first gets an id (KIP-394),
which is not kept: an unknown id is accepted. A static member takes the place of the one with its instance id,
whatever protocol that uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import structs

from coordinator_server.config.values import migration_policy
from coordinator_server.group.classic.attempt import JoinAttempt
from coordinator_server.group.common.names import sorted_names
from coordinator_server.group.consumer.change import Changed, Subscribed, advance, move, subscribe, written
from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.member import ConsumerGroupMember
from coordinator_server.group.consumer.membership import (
    FoundMember,
    new_member_id,
    refuse_fenced_instance,
    require_static_member,
    take_place,
)
from coordinator_server.group.consumer.target import last_target
from coordinator_server.group.migration.downgrade import downgrade, may_downgrade_replacing
from coordinator_server.group.migration.embedded import Unreadable, read_subscription
from coordinator_server.group.migration.exit import exited
from coordinator_server.group.migration.timers import await_sync, refresh_classic_session
from coordinator_server.group.modern.limits import refuse_many_topics
from coordinator_server.group.modern.membership import refuse_if_full
from coordinator_server.group.registry import Groups
from coordinator_server.group.why import Why
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.provenance import Reason
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import TopicPartitions
from protocol.messages.consumer_group_records import ClassicMemberMetadata, ClassicProtocol, ConsumerGroupMemberMetadataValue
from protocol.messages.consumer_protocol import CONSUMER, ConsumerProtocolSubscription
from protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse

_UNKNOWN_MEMBER_ID: Final = ""
_NOT_GIVEN: Final = -1

Result = CoordinatorResult[JoinGroupResponse]


def join_group(groups: Groups, group: ConsumerGroup, attempt: JoinAttempt) -> Result:
    """Run a valid JoinGroup to a group with members. Raises CoordinatorError."""
    consumer, request = groups.consumer_context, attempt.request
    policy = migration_policy(consumer.config)
    if not (policy.upgrade or policy.downgrade):
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    refuse_if_full(group, request.member_id, consumer.config.consumer.group_consumer_max_size)
    _refuse_protocols(group, request)
    is_new = request.member_id == _UNKNOWN_MEMBER_ID
    member_id = new_member_id(consumer) if is_new else request.member_id
    if is_new and request.group_instance_id is None and attempt.requires_member_id:
        attempt.refuse(ErrorCode.MEMBER_ID_REQUIRED, member_id)
        return CoordinatorResult(DEFERRED)
    found = _find_member(group, request, member_id)
    subscription = _subscription(request)
    refuse_many_topics(consumer, group.group_id, len(subscription.topics))
    subscribed = subscribe(consumer, group, attempt.context, found, _metadata(found.member, attempt, subscription))
    owned = _owned_partitions(consumer, subscription)
    present = group.static_member(request.group_instance_id)
    if present is not None and may_downgrade_replacing(consumer.config, group, present):
        return _joined_classic_group(groups, group, subscribed, owned)
    return _joined(consumer, group, subscribed, advance(consumer, group, subscribed, owned))


def _joined(consumer: ConsumerContext, group: ConsumerGroup, subscribed: Subscribed, changed: Changed) -> Result:
    member = changed.member
    refresh_classic_session(consumer, group.group_id, member)
    await_sync(consumer, group.group_id, member)
    return written(consumer, group, subscribed, changed, _answer(member))


def _joined_classic_group(
    groups: Groups, group: ConsumerGroup, subscribed: Subscribed, owned: Sequence[TopicPartitions]
) -> Result:
    """Return the result of the join of a static member that makes the group a classic one.

    Its target is that of the member that it replaces. All members join again in the classic group if its subscription is new, or if
    one of the others has not reached its target: what they have would be doubled or lost otherwise (Kafka does not check them).
    """
    consumer = groups.consumer_context
    member, records = subscribed.change.after, subscribed.records
    is_behind = group.assignment_epoch < subscribed.epoch.epoch
    is_rebalance = is_behind or not _are_reconciled(group, subscribed.found.replaced)
    if not is_behind:
        changed = move(consumer, group, subscribed, last_target(group, member), owned)
        member, records = changed.member, changed.records
    converted = downgrade(group, (), member, consumer.topics, consumer.clock.wall_ms())._replace(before=records)
    reasons = [Reason(Why.STATIC_MEMBER_RETURNED, member.member_id)]
    return exited(groups, group, converted, reasons, _answer(member), is_rebalance=is_rebalance)


def _are_reconciled(group: ConsumerGroup, without: str | None) -> bool:
    epoch = group.assignment_epoch
    return all(member.is_reconciled_to(epoch) for member_id, member in group.members.items() if member_id != without)


def _answer(member: ConsumerGroupMember) -> JoinGroupResponse:
    """Return the answer for a member: it has no leader to follow, and its protocol is the first that it supports."""
    own = member.classic_member_metadata
    assert own is not None
    return JoinGroupResponse(
        generation_id=member.member_epoch,
        protocol_type=CONSUMER,
        protocol_name=own.supported_protocols[0].name,
        leader="",
        member_id=member.member_id,
    )


def _owned_partitions(consumer: ConsumerContext, subscription: ConsumerProtocolSubscription) -> list[TopicPartitions]:
    """Return what a member says it owns, without topics that do not exist."""
    return [
        TopicPartitions(topic.topic_id, list(each.partitions))
        for each in subscription.owned_partitions
        if (topic := consumer.topics.topic(each.topic)) is not None
    ]


def _refuse_protocols(group: ConsumerGroup, request: JoinGroupRequest) -> None:
    """Refuse a member without a protocol that all classic members support."""
    everybody = group.classic_members.value
    names = {each.name for each in request.protocols}
    if request.protocol_type != CONSUMER or not any(group.classic_protocols.get(name, 0) == everybody for name in names):
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


def _find_member(group: ConsumerGroup, request: JoinGroupRequest, member_id: str) -> FoundMember:
    """Return the member, which is new if it is not known."""
    instance_id = request.group_instance_id
    if instance_id is None:
        return FoundMember(group.members.get(member_id) or ConsumerGroupMember(member_id))
    if request.member_id != _UNKNOWN_MEMBER_ID:
        member = require_static_member(group, instance_id)
        refuse_fenced_instance(member, member_id, instance_id)
        return FoundMember(member)
    present = group.static_member(instance_id)
    return FoundMember(ConsumerGroupMember(member_id)) if present is None else take_place(group, present, member_id)


def _subscription(request: JoinGroupRequest) -> ConsumerProtocolSubscription:
    """Return the subscription, which is the same for all protocols of a member."""
    try:
        return read_subscription(request.protocols[0].metadata)
    except Unreadable as unreadable:
        # Kafka 4.3.1 does not expect it.
        raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR) from unreadable


def _metadata(
    member: ConsumerGroupMember, attempt: JoinAttempt, subscription: ConsumerProtocolSubscription
) -> ConsumerGroupMemberMetadataValue:
    """Return a member's metadata with what its join gives; the same object if nothing changes."""
    request, context, old = attempt.request, attempt.context, member.metadata
    timeout_ms = attempt.rebalance_timeout_ms
    protocols = [ClassicProtocol(each.name, each.metadata) for each in request.protocols]
    has_same_topics = set(subscription.topics) == set(old.subscribed_topic_names)
    new = structs.replace(
        old,
        instance_id=old.instance_id if request.group_instance_id is None else request.group_instance_id,
        rack_id=old.rack_id if subscription.rack_id is None else subscription.rack_id,
        client_id=context.client_id,
        client_host=f"/{context.client_host}",
        subscribed_topic_names=old.subscribed_topic_names if has_same_topics else sorted_names(subscription.topics),
        subscribed_topic_regex="",
        rebalance_timeout_ms=old.rebalance_timeout_ms if timeout_ms == _NOT_GIVEN else timeout_ms,
        classic_member_metadata=ClassicMemberMetadata(request.session_timeout_ms, protocols),
    )
    return old if new == old else new
