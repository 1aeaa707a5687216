"""The target assignment of a group: computed at the first heartbeat that finds its epoch behind the group's (KIP-848, KIP-1263)."""

from __future__ import annotations

from typing import NamedTuple

from coordinator_server.group.assign.order import (
    LEAST_BUCKETS,
    buckets_for,
    buckets_of_capacity,
    order_members,
    order_timeline,
    spread_text,
)
from coordinator_server.group.assign.spec import Assignor, CannotAssign, GroupSpec, Member, Partitions
from coordinator_server.group.assign.subscriptions import Subscriptions
from coordinator_server.group.assign.target import change_targets
from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.group import ConsumerGroup, recount
from coordinator_server.group.consumer.member import ConsumerGroupMember, MemberChange
from coordinator_server.group.consumer.records import assignment_epoch_record, target_record
from coordinator_server.group.consumer.subscriptions import is_homogeneous, matched_names
from coordinator_server.machine.errors import CoordinatorError
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode


class Target(NamedTuple):
    """The epoch of the group's target assignment, and the target of one member."""

    epoch: int
    partitions: Partitions


def update_target(
    consumer: ConsumerContext, group: ConsumerGroup, group_epoch: int, change: MemberChange, is_alike: bool | None
) -> tuple[Target, list[CoordinatorRecord]]:
    """Return the target of the changed member, and the records if it is new. ``is_alike``: all subscribe to the same topics.

    ``group_epoch`` is the group's epoch with this request. Raises UNKNOWN_SERVER_ERROR if the assignor fails.
    """
    if group.assignment_epoch >= group_epoch or not _is_due(consumer, group):
        return _last_target(group, change.after), []
    if is_alike is None:
        is_alike = is_homogeneous(group.regex_members, group.subscribed_topics, len(group.members))
    spec = group_spec(consumer, group, change.after, is_alike)
    try:
        changed = change_targets(_assignor(consumer, group, change), spec)
    except CannotAssign as failed:
        raise CoordinatorError(
            ErrorCode.UNKNOWN_SERVER_ERROR, f"Failed to compute a new target assignment for epoch {group_epoch}: {failed}"
        ) from failed
    records = [target_record(group.group_id, member_id, partitions) for member_id, partitions in changed]
    records.append(assignment_epoch_record(group.group_id, group_epoch, consumer.clock.wall_ms()))
    member_id = change.after.member_id
    mine = dict(changed).get(member_id)
    if mine is None:
        mine = next(member.target for member in spec.members if member.member_id == member_id)
    return Target(group_epoch, mine), records


def _is_due(consumer: ConsumerContext, group: ConsumerGroup) -> bool:
    """Return whether the assignment interval since the last target has passed. No timer applies it: the next heartbeat does.

    A wall clock that was set back counts as passed; Kafka would wait until it reaches the time of the last target.
    """
    last = group.assignment_timestamp
    interval_ms = consumer.settings(group.group_id).consumer.assignment_interval_ms
    return last == 0 or interval_ms == 0 or not last <= consumer.clock.wall_ms() < last + interval_ms


def _last_target(group: ConsumerGroup, member: ConsumerGroupMember) -> Target:
    """Return the present target. A static member that replaces another one gets the other one's."""
    instance_id = member.instance_id
    member_id = member.member_id if instance_id is None else group.static_members.get(instance_id)
    return Target(group.assignment_epoch, {} if member_id is None else group.target(member_id))


def group_spec(consumer: ConsumerContext, group: ConsumerGroup, updated: ConsumerGroupMember, is_alike: bool) -> GroupSpec:
    """Return the group as an assignor sees it, with the changed member."""
    instance_id = updated.instance_id
    owner = None if instance_id is None else group.static_members.get(instance_id)
    replaced = None if owner == updated.member_id else owner
    subscriptions = Subscriptions(consumer.topics.topic)
    members: list[Member] = []
    for member_id in order_members(list(group.members), updated.member_id, replaced):
        member = updated if member_id == updated.member_id else group.members[member_id]
        place = subscriptions.place(member.metadata.subscribed_topic_names, matched_names(group, member))
        heir_of = replaced if replaced is not None and member is updated else member_id
        members.append(Member(member_id, member.instance_id, place, group.target(heir_of), member_id in group.targets))
    return GroupSpec(members, subscriptions.found, is_alike, subscriptions.partition_counts)


def _assignor(consumer: ConsumerContext, group: ConsumerGroup, change: MemberChange) -> Assignor:
    """Return the assignor that most members ask for, or the default if none asks for one."""
    assignors = consumer.assignors
    counts = dict(group.server_assignors)
    in_order = order_timeline(list(counts), len(counts))
    buckets = buckets_of_capacity(len(counts) * 4 // 3 + 1) if counts else LEAST_BUCKETS
    before, after = change.before.metadata.server_assignor, change.after.metadata.server_assignor
    recount(counts, [before] if before in counts else [], [after] if after is not None else [])
    mask = buckets_for(len(counts), buckets) - 1
    in_order = sorted(dict.fromkeys([*in_order, *counts]), key=lambda name: spread_text(name) & mask)
    # The first of those that most members ask for. One that an older configuration allowed may be unknown.
    known = [name for name in in_order if name in counts and name in assignors]
    return assignors[max(known, key=lambda name: counts[name], default=next(iter(assignors)))]
