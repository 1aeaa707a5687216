"""A member's way to its target assignment (Kafka's ``CurrentAssignmentBuilder``), as a pure function.

    STABLE ──new target──► UNREVOKED_PARTITIONS   the member stays in its epoch until it has given up the partitions that it loses
                                 │ given up
                                 ▼
                           UNRELEASED_PARTITIONS  in the target's epoch, with what is free; the rest has other owners still
                                 │ released
                                 ▼
                               STABLE             in the target's epoch, with all of its target

A state is skipped if there is nothing to wait for. Each step keeps one owner per partition: a partition is assigned only when no
member has it, and it is owned until its member says that it has revoked it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.consumer.member import (
    NO_ASSIGNMENT,
    ConsumerGroupMember,
    Epochs,
    MemberState,
    TopicId,
    current_assignment,
)
from coordinator_server.group.consumer.partition_order import order_missing, order_rest, order_topics
from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import TopicPartitions

_NOTHING: Mapping[int, int] = {}


class Goal(NamedTuple):
    """What a member is reconciled with."""

    epoch: int
    """The epoch of the target assignment."""
    target: Partitions
    names: Collection[str]
    """The topics that the member subscribes to, those of its resolved regular expression included."""
    is_subscribed: Callable[[TopicId], bool]
    has_subscription_changed: bool
    """Whether this request has changed the subscription: then partitions of other topics are taken away at once."""
    owned: Sequence[TopicPartitions] | None
    """The partitions that the member says it owns; None if it does not say."""
    owners: Callable[[TopicId], Mapping[int, int]]
    """The epochs of the owners of a topic's partitions, without those that have no owner."""


def reconcile(member: ConsumerGroupMember, goal: Goal) -> ConsumerGroupMember:
    """Return the member after its next step, or the same member if it cannot go on. Raises FENCED_MEMBER_EPOCH."""
    match member.state:
        case MemberState.STABLE:
            if member.member_epoch != goal.epoch:
                return _next_assignment(member, member.member_epoch, goal)
            return _without_unsubscribed(member, goal) if goal.has_subscription_changed else member
        case MemberState.UNREVOKED_PARTITIONS:
            if _owns_any(goal.owned, member.pending_revocation):
                return _without_unsubscribed(member, goal) if goal.has_subscription_changed else member
            return _next_assignment(member, member.member_epoch, goal)
        case MemberState.UNRELEASED_PARTITIONS:
            return _next_assignment(member, member.member_epoch, goal)
        case MemberState.UNKNOWN:
            # A later version of Kafka wrote the state. The member begins anew, without partitions.
            if goal.owned is None or goal.owned:
                raise CoordinatorError(
                    ErrorCode.FENCED_MEMBER_EPOCH,
                    "The consumer group member is in a unknown state. The member must abandon all its partitions and rejoin.",
                )
            return _next_assignment(member, goal.epoch, goal)


def _next_assignment(member: ConsumerGroupMember, member_epoch: int, goal: Goal) -> ConsumerGroupMember:
    """Return the member on its way to the target. ``member_epoch`` is the epoch in which it revokes partitions."""
    kept: dict[TopicId, Mapping[int, int]] = {}
    revoked: dict[TopicId, Mapping[int, int]] = {}
    gets: dict[TopicId, Mapping[int, int]] = {}
    has_unreleased = False
    for topic_id in {**goal.target, **member.assigned}:
        # The target of a topic that the member no longer subscribes to counts as empty.
        target = goal.target.get(topic_id, []) if goal.is_subscribed(topic_id) else []
        has = member.assigned.get(topic_id, _NOTHING)
        lost: list[int] = []
        if not has:
            if len(target) == 1 and not goal.owners(topic_id):
                # Most topics of a member that gets many.
                gets[topic_id] = {target[0]: goal.epoch}
                continue
            missing = order_missing(target, ()) if len(target) > 1 else target
        else:
            wanted = set(target)
            lost = [partition for partition in has if partition not in wanted]
            if lost:
                stays = [partition for partition in has if partition in wanted]
                revoked[topic_id] = {partition: has[partition] for partition in order_rest(has, stays)}
            if len(lost) < len(has):
                kept[topic_id] = {partition: has[partition] for partition in order_rest(has, lost)}
            missing = order_missing(target, has) if len(has) - len(lost) < len(wanted) else []
        free, owners = missing, goal.owners(topic_id)
        if owners:
            # What the member itself is revoking is free for it: a partition has one owner.
            own = member.pending_revocation.get(topic_id, _NOTHING)
            free = [each for each in missing if each in own or each not in owners]
            has_unreleased = has_unreleased or len(free) < len(missing)
        if free:
            ordered = order_rest(has, lost, free) if has or len(free) > 1 else free
            gets[topic_id] = {each: has.get(each, goal.epoch) for each in ordered} if has else dict.fromkeys(ordered, goal.epoch)
    if revoked and _owns_any(goal.owned, revoked):
        return _changed(member, member_epoch, MemberState.UNREVOKED_PARTITIONS, kept, revoked)
    state = MemberState.UNRELEASED_PARTITIONS if has_unreleased else MemberState.STABLE
    return _changed(member, goal.epoch, state, {**kept, **gets}, {})


def _without_unsubscribed(member: ConsumerGroupMember, goal: Goal) -> ConsumerGroupMember:
    """Return the member without the partitions of topics that it no longer subscribes to. The target is not looked at."""
    lost: Epochs = {topic_id: epochs for topic_id, epochs in member.assigned.items() if not goal.is_subscribed(topic_id)}
    # Kafka writes a record for a member that has no topics, even if it had no partitions.
    is_emptied = not goal.names and not member.pending_revocation and member.current is not NO_ASSIGNMENT
    if not lost and not is_emptied:
        return member
    kept = {topic_id: epochs for topic_id, epochs in member.assigned.items() if topic_id not in lost}
    pending = dict(member.pending_revocation)
    for topic_id, epochs in lost.items():
        before = pending.get(topic_id, _NOTHING)
        both = {**before, **epochs}
        pending[topic_id] = (
            {partition: both[partition] for partition in order_rest(before, (), list(epochs))} if before else epochs
        )
    if pending and _owns_any(goal.owned, pending):
        return _changed(member, member.member_epoch, MemberState.UNREVOKED_PARTITIONS, kept, pending)
    # The member has given them up already.
    return _changed(member, member.member_epoch, member.state, kept, member.pending_revocation)


def _changed(
    member: ConsumerGroupMember, epoch: int, state: MemberState, assigned: Epochs, pending_revocation: Epochs
) -> ConsumerGroupMember:
    assigned, pending_revocation = order_topics(assigned), order_topics(pending_revocation)
    current = current_assignment(epoch, member.member_epoch, state, assigned, pending_revocation)
    return ConsumerGroupMember(member.member_id, member.metadata, current, assigned, pending_revocation)


def _owns_any(owned: Sequence[TopicPartitions] | None, partitions: Epochs) -> bool:
    """Return whether the member owns one of these partitions still, or does not say what it owns."""
    if owned is None:
        return True
    return any(
        partition in numbers
        for topic in owned
        if (numbers := partitions.get(topic.topic_id)) is not None
        for partition in topic.partitions
    )
