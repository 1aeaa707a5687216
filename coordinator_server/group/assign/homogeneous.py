"""The uniform assignor for members that subscribe to the same topics (Kafka's UniformHomogeneousAssignmentBuilder).

Each member may have the number of partitions divided by the number of members, and the first members that have that many
one more. What a member has beyond that moves to members that have less; nothing else moves.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode

from coordinator_server.group.assign.altered import AlteredTarget, read_target
from coordinator_server.group.assign.order import buckets_of_copy, by_bucket
from coordinator_server.group.assign.spec import CannotAssign, GroupSpec, Member, Partitions, Subscription

# Partitions of a topic that no member has.
Free = list[tuple[bytes, list[int]]]


def assign_alike(group: GroupSpec) -> dict[str, Partitions]:
    """Return the target of every member. Raises CannotAssign."""
    topic_ids = _subscribed(group.subscriptions[group.members[0].subscription])
    if not topic_ids:
        return {}
    free = _unassigned(group, topic_ids)
    least, extras = divmod(sum([group.partition_counts[topic_id] for topic_id in topic_ids]), len(group.members))
    subscribed = frozenset(topic_ids)
    targets: dict[str, Partitions] = {}
    altered: dict[str, AlteredTarget] = {}
    unfilled: list[tuple[Member, int]] = []
    remaining = len(group.members)
    for member in group.members:
        quota, has_extra = (least + 1, True) if extras > 0 else (least, False)
        target = targets[member.member_id] = member.target
        partitions = sum(map(len, target.values()))
        if partitions <= quota and target.keys() <= subscribed:
            quota -= partitions
        else:
            quota, changed = _revoke(target, subscribed, quota, free)
            if changed is not None:
                altered[member.member_id] = changed
        if quota > 0 and has_extra and remaining > extras:
            # Leave the extra partition to a later member, unless this is one of the last, which must take it.
            quota -= 1
            has_extra = False
        remaining -= 1
        if quota > 0:
            unfilled.append((member, quota))
        extras -= has_extra
    _give(free, unfilled, altered)
    for member in group.members:
        changed = altered.get(member.member_id)
        if changed is not None:
            targets[member.member_id] = changed.result()
        elif not member.has_target:
            targets[member.member_id] = read_target(member.target)
    return targets


def _subscribed(subscription: Subscription) -> list[bytes]:
    """Return the order of a HashSet that is made of the subscribed topics."""
    return by_bucket(subscription.topic_ids, buckets_of_copy(subscription.name_count))


def _unassigned(group: GroupSpec, topic_ids: list[bytes]) -> Free:
    assigned: dict[bytes, set[int]] = {topic_id: set() for topic_id in topic_ids}
    for member in group.members:
        for topic_id, partitions in member.target.items():
            if topic_id in assigned:
                assigned[topic_id].update(partitions)
    free: Free = []
    for topic_id, taken in assigned.items():
        count = group.partition_counts.get(topic_id)
        if count is None:
            raise CannotAssign(
                f"Members are subscribed to topic {urlsafe_b64encode(topic_id)[:-2].decode()} which doesn't exist in the topic "
                "metadata."
            )
        if not taken:
            free.append((topic_id, list(range(count))))
        elif len(taken) < count:
            free.append((topic_id, [partition for partition in range(count) if partition not in taken]))
    return free


def _revoke(target: Partitions, subscribed: frozenset[bytes], quota: int, free: Free) -> tuple[int, AlteredTarget | None]:
    """Remove the partitions of a member that exceed its quota or that it does not subscribe to.

    Return what is left of the quota, and the target if it changed.
    """
    altered: AlteredTarget | None = None
    for topic_id, partitions in read_target(target).items():
        if topic_id in subscribed and len(partitions) <= quota:
            quota -= len(partitions)
            continue
        if altered is None:
            altered = AlteredTarget(target)
        if topic_id not in subscribed:
            altered.remove_topic(topic_id)
            continue
        for partition in partitions[quota:]:
            altered.remove(topic_id, partition)
        free.append((topic_id, partitions[quota:]))
        quota = 0
    return quota, altered


def _give(free: Free, unfilled: list[tuple[Member, int]], altered: dict[str, AlteredTarget]) -> None:
    """Give the free partitions to the members that have less than their quota."""
    place, start = 0, 0
    for member, quota in unfilled:
        changed = altered.get(member.member_id)
        if changed is None and (place < len(free) or not member.has_target):
            changed = altered[member.member_id] = AlteredTarget(member.target)
        while quota and place < len(free) and changed is not None:
            topic_id, partitions = free[place]
            given = partitions[start : start + quota]
            changed.add(topic_id, given)
            quota -= len(given)
            start += len(given)
            if start == len(partitions):
                place, start = place + 1, 0
    if place < len(free):
        raise CannotAssign("Partitions were left unassigned")
