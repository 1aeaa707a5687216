"""A group as an assignor sees it, which assignor it wants, and how much there is to assign."""

from __future__ import annotations

from coordinator_server.group.assign.order import (
    LEAST_BUCKETS,
    buckets_for,
    buckets_of_capacity,
    order_members,
    order_timeline,
    spread_text,
)
from coordinator_server.group.assign.spec import GroupSpec, Member
from coordinator_server.group.assign.subscriptions import Subscriptions
from coordinator_server.group.common.counts import recount
from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.member import ConsumerGroupMember, MemberChange
from coordinator_server.group.consumer.subscriptions import matched_names


def group_spec(consumer: ConsumerContext, group: ConsumerGroup, is_alike: bool, updated: ConsumerGroupMember) -> GroupSpec:
    """Return the group with the member that a request changes."""
    updated_id, instance_id = updated.member_id, updated.instance_id
    owner = None if instance_id is None else group.static_members.get(instance_id)
    replaced = None if owner == updated_id else owner
    subscriptions = Subscriptions(consumer.topics.topic)
    members: list[Member] = []
    for member_id in order_members(list(group.members), updated_id, replaced, group.most_members):
        member = updated if member_id == updated_id else group.members[member_id]
        place = subscriptions.place(member.metadata.subscribed_topic_names, matched_names(group, member))
        heir_of = replaced if replaced is not None and member is updated else member_id
        members.append(Member(member_id, member.instance_id, place, group.target(heir_of), member_id in group.targets))
    return GroupSpec(members, subscriptions.found, is_alike, subscriptions.partition_counts)


def preferred_assignor(consumer: ConsumerContext, group: ConsumerGroup, change: MemberChange | None = None) -> str:
    """Return the name of the assignor that most members request, or of the default if none requests one."""
    assignors = consumer.assignors
    counts = dict(group.server_assignors)
    in_order = order_timeline(list(counts), len(counts))
    buckets = buckets_of_capacity(len(counts) * 4 // 3 + 1) if counts else LEAST_BUCKETS
    if change is not None:
        before, after = change.before.metadata.server_assignor, change.after.metadata.server_assignor
        recount(counts, [before] if before in counts else [], [after] if after is not None else [])
    mask = buckets_for(len(counts), buckets) - 1
    in_order = sorted(dict.fromkeys([*in_order, *counts]), key=lambda name: spread_text(name) & mask)
    # The first of those that most members ask for. One that an older configuration allowed may be unknown.
    known = [name for name in in_order if name in counts and name in assignors]
    return max(known, key=lambda name: counts[name], default=next(iter(assignors)))


def assignment_size(consumer: ConsumerContext, group: ConsumerGroup, is_alike: bool, updated: ConsumerGroupMember) -> int:
    """Return what the time of an assignment is proportional to: members and partitions, and subscriptions if they differ."""
    counts = group.subscribed_topics
    topics = [consumer.topics.topic(name) for name in {*counts, *updated.metadata.subscribed_topic_names}]
    size = len(group.members) + sum([topic.partitions for topic in topics if topic is not None])
    if not is_alike:
        size += sum([count.by_name + count.by_regex * len(group.members) for count in counts.values()])
    return size
