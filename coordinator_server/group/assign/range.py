"""The range assignor: each topic's partitions in ranges, members in order of their ids (Kafka's RangeAssignor).

Members that subscribe to the same topics, all of as many partitions, get the same partition numbers of each. Static members
come first, in order of their instance ids, so that a restart moves nothing. The current target is not looked at.
"""

from __future__ import annotations

from itertools import pairwise

from coordinator_server.group.assign.order import buckets_of_capacity, by_bucket
from coordinator_server.group.assign.spec import CannotAssign, GroupSpec, Member, Partitions, Subscription
from coordinator_server.machine.java import text_order


def assign_ranges(group: GroupSpec) -> dict[str, Partitions]:
    """Return the target of every member. Raises CannotAssign if a topic does not exist."""
    if not group.members:
        return {}
    members = sorted(group.members, key=_rank)
    return _assign_alike(group, members) if group.is_homogeneous else _assign_each(group, members)


def _assign_alike(group: GroupSpec, members: list[Member]) -> dict[str, Partitions]:
    """Assign to members that subscribe to the same topics: Kafka reads the subscription of the first one only."""
    subscription = group.subscriptions[members[0].subscription]
    targets: dict[str, Partitions] = {member.member_id: {} for member in members}
    in_order = list(targets.values())
    for topic_id in _order(subscription, len(subscription.topic_ids)):
        for target, mine in zip(in_order, _ranges(group, topic_id, len(members)), strict=False):
            target[topic_id] = list(mine)
    return targets


def _assign_each(group: GroupSpec, members: list[Member]) -> dict[str, Partitions]:
    orders = [_order(subscription, subscription.name_count) for subscription in group.subscriptions]
    subscribers: dict[bytes, int] = {}
    for member in members:
        for topic_id in orders[member.subscription]:
            subscribers[topic_id] = subscribers.get(topic_id, 0) + 1
    ranges = {topic_id: iter(_ranges(group, topic_id, count)) for topic_id, count in subscribers.items()}
    targets: dict[str, Partitions] = {}
    for member in members:
        target: Partitions = {}
        for topic_id in orders[member.subscription]:
            mine = next(ranges[topic_id], None)
            if mine is not None:
                target[topic_id] = list(mine)
        targets[member.member_id] = target
    return targets


def _rank(member: Member) -> tuple[bool, bytes]:
    """Return a key that sorts members as Kafka compares their ids."""
    instance_id = member.instance_id
    text = member.member_id if instance_id is None else instance_id
    return instance_id is None, text_order(text)


def _ranges(group: GroupSpec, topic_id: bytes, members: int) -> list[range]:
    """Return the ranges of a topic. There are fewer than members if the topic has fewer partitions."""
    count = group.partition_counts.get(topic_id)
    if count is None:
        raise CannotAssign("Member is subscribed to a non-existent topic")
    least, extra = divmod(count, members)
    starts = [i * least + min(i, extra) for i in range(min(members, count) + 1)]
    return [range(start, end) for start, end in pairwise(starts)]


def _order(subscription: Subscription, topics: int) -> list[bytes]:
    """Return the order of the topics in a member's new HashMap that Kafka makes for ``topics`` keys."""
    return by_bucket(subscription.topic_ids, buckets_of_capacity(topics * 4 // 3 + 1))
