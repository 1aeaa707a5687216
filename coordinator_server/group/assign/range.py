"""The range assignor: each topic's partitions in ranges, members in order of their ids (Kafka's RangeAssignor).

Members that subscribe to the same topics, all of as many partitions, get the same partition numbers of each. Static members
come first, in order of their instance ids, so that a restart moves nothing. The current target is not looked at.
"""

from __future__ import annotations

from coordinator_server.group.assign.order import buckets_of_capacity, spread_topic_id
from coordinator_server.group.assign.spec import CannotAssign, GroupSpec, Member, Partitions, Subscription


def assign_ranges(group: GroupSpec) -> dict[str, Partitions]:
    """Return the target of every member. Raises CannotAssign if a topic does not exist."""
    if not group.members:
        return {}
    members = sorted(group.members, key=_rank)
    if group.is_homogeneous:
        # Kafka reads the subscription of one member only.
        places = [members[0].subscription] * len(members)
    else:
        places = [member.subscription for member in members]
    orders = [_order(subscription, group.is_homogeneous) for subscription in group.subscriptions]
    subscribers: dict[bytes, int] = {}
    for place in places:
        for topic_id in orders[place]:
            subscribers[topic_id] = subscribers.get(topic_id, 0) + 1
    ranges = {topic_id: _ranges(group, topic_id, count) for topic_id, count in subscribers.items()}
    targets: dict[str, Partitions] = {}
    for member, place in zip(members, places, strict=True):
        target: Partitions = {}
        for topic_id in orders[place]:
            # A topic with fewer partitions than members has an empty range for the last ones.
            if mine := ranges[topic_id].pop():
                target[topic_id] = list(mine)
        targets[member.member_id] = target
    return targets


def _rank(member: Member) -> tuple[bool, bytes]:
    """Return a key that sorts members as Kafka compares their ids."""
    instance_id = member.instance_id
    text = member.member_id if instance_id is None else instance_id
    return instance_id is None, text.encode("utf-16-be", "surrogatepass")


def _ranges(group: GroupSpec, topic_id: bytes, members: int) -> list[range]:
    """Return the ranges of a topic, the last one first."""
    count = group.partition_counts.get(topic_id)
    if count is None:
        raise CannotAssign("Member is subscribed to a non-existent topic")
    least, extra = divmod(count, members)
    ends = [(i + 1) * least + min(i + 1, extra) for i in range(members)]
    starts = [0, *ends[:-1]]
    return [range(start, end) for start, end in zip(reversed(starts), reversed(ends), strict=True)]


def _order(subscription: Subscription, is_homogeneous: bool) -> list[bytes]:
    """Return the order of the topics in a member's new HashMap, which Kafka sizes for the topics or for their names."""
    topics = len(subscription.topic_ids) if is_homogeneous else subscription.name_count
    mask = buckets_of_capacity(topics * 4 // 3 + 1) - 1
    return sorted(subscription.topic_ids, key=lambda topic_id: spread_topic_id(topic_id) & mask)
