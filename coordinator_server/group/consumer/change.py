"""What a request of a member changes in its group: the steps that members of both protocols have in common (KIP-848).

    its metadata ──► its regular expression ──► the group's epoch ──► the target assignment ──► its own assignment

Each step returns records, and the state that the next one needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.common.topics import is_among
from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.epoch import EpochUpdate, update_epoch
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.member import ConsumerGroupMember, MemberChange
from coordinator_server.group.consumer.membership import FoundMember
from coordinator_server.group.consumer.reconciliation import Goal, reconcile
from coordinator_server.group.consumer.records import RECORDS
from coordinator_server.group.consumer.regexes import RegexChange, update_regex
from coordinator_server.group.consumer.subscriptions import subscribed_names
from coordinator_server.group.consumer.target import update_target
from coordinator_server.group.modern.epoch import require_topics
from coordinator_server.group.modern.limits import refuse_too_large
from coordinator_server.group.modern.reasons import result_because, why_of
from coordinator_server.group.modern.sessions import end_if_gone, settle_session
from coordinator_server.group.modern.target import Target
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason
from coordinator_server.machine.shard import CoordinatorResult, RequestContext
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.consumer_group_heartbeat import TopicPartitions
from protocol.messages.consumer_group_records import ConsumerGroupMemberMetadataValue


class Subscribed(NamedTuple):
    """The first three steps: the member with its new metadata, and the group's epoch."""

    found: FoundMember
    change: MemberChange
    epoch: EpochUpdate
    has_changed: bool
    """Whether the member's subscription has."""
    records: list[CoordinatorRecord]


class Changed(NamedTuple):
    """All steps: the member after them, and the records."""

    member: ConsumerGroupMember
    records: list[CoordinatorRecord]
    is_moved: bool
    """Whether the member's assignment, state or epoch has changed."""
    reason: Why


def subscribe(
    consumer: ConsumerContext,
    group: ConsumerGroup,
    client: RequestContext,
    found: FoundMember,
    metadata: ConsumerGroupMemberMetadataValue,
    *,
    is_due: bool = False,
) -> Subscribed:
    """Give a member new metadata: the same object if nothing changes. ``is_due``: the group needs a new epoch in any case.

    Raises CoordinatorError.
    """
    require_topics(consumer, group)
    before = found.member
    if metadata is not before.metadata:
        refuse_too_large(consumer, group, before.metadata, metadata)
    change = MemberChange(before, before.with_metadata(metadata))
    records = list(found.records)
    if metadata is not before.metadata:
        records.append(RECORDS.member(group.group_id, change.after))
    names, new_names = before.metadata.subscribed_topic_names, metadata.subscribed_topic_names
    is_renamed = names is not new_names and set(names) != set(new_names)
    regex = update_regex(consumer, group, client, before.metadata, metadata)
    records += regex.records
    has_changed = is_renamed or regex.change is not RegexChange.NONE
    # A new expression of a native member counts when its topics are known.
    is_classic = metadata.classic_member_metadata is not None
    has_new_topics = is_renamed or regex.change is RegexChange.RESOLVED or (is_classic and has_changed)
    epoch = update_epoch(consumer, group, change, has_new_topics or is_due)
    records += epoch.records
    return Subscribed(found, change, epoch, has_changed, records)


def advance(
    consumer: ConsumerContext, group: ConsumerGroup, subscribed: Subscribed, owned: Sequence[TopicPartitions] | None
) -> Changed:
    """Compute the target assignment if that is due, and bring the member nearer to it. Raises CoordinatorError."""
    target, records = update_target(consumer, group, subscribed.epoch.epoch, subscribed.change, subscribed.epoch.is_alike)
    return move(consumer, group, subscribed, target, owned, records)


def move(
    consumer: ConsumerContext,
    group: ConsumerGroup,
    subscribed: Subscribed,
    target: Target[Partitions],
    owned: Sequence[TopicPartitions] | None,
    target_records: Sequence[CoordinatorRecord] = (),
) -> Changed:
    """Bring a member nearer to a target assignment, whose records are ``target_records`` if it is new."""
    member = subscribed.change.after
    after = _reconcile(consumer, group, member, target, subscribed.has_changed, owned)
    records = [*subscribed.records, *target_records]
    is_moved = after != member
    if is_moved:
        records.append(RECORDS.current(group.group_id, after))
    return Changed(after, records, is_moved, _reason(consumer, subscribed, bool(target_records)))


def written(
    consumer: ConsumerContext, group: ConsumerGroup, subscribed: Subscribed, changed: Changed, response: Any
) -> CoordinatorResult[Any]:
    """Return the result with the records of a change. Timers follow the outcome of its append."""
    if not changed.records:
        return CoordinatorResult(response, depends_on=group.end_offset.value)
    group_id, member_id, replaced = group.group_id, changed.member.member_id, subscribed.found.replaced
    then = None if replaced is None or replaced == member_id else partial(end_if_gone, consumer, group_id, replaced)
    on_append = partial(settle_session, consumer, group_id, member_id, then)
    return result_because(consumer, [Reason(changed.reason, member_id)], response, changed.records, on_append)


def _reconcile(
    consumer: ConsumerContext,
    group: ConsumerGroup,
    member: ConsumerGroupMember,
    target: Target[Partitions],
    has_subscription_changed: bool,
    owned: Sequence[TopicPartitions] | None,
) -> ConsumerGroupMember:
    if not has_subscription_changed and member.is_reconciled_to(target.epoch):
        return member
    names = frozenset(subscribed_names(group, member))
    is_subscribed = partial(is_among, consumer.topics, names)
    goal = Goal(target.epoch, target.assigned, names, is_subscribed, has_subscription_changed, owned, group.owners)
    return reconcile(member, goal)


def _reason(consumer: ConsumerContext, subscribed: Subscribed, has_new_target: bool) -> Why:
    if subscribed.found.replaced is not None:
        return Why.STATIC_MEMBER_RETURNED
    of_topics = Why.TOPICS_CHANGED if subscribed.epoch.records else None
    changed = Why.SUBSCRIPTION_CHANGED if subscribed.has_changed else of_topics
    return why_of(consumer, subscribed.found.member, changed, has_new_target)
