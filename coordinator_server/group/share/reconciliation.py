"""A member's way to its target assignment (Kafka's ``ShareGroupAssignmentBuilder``), as a pure function:
it gets there in one step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from coordinator_server.group.assign.order import buckets_for, buckets_of_capacity, by_bucket
from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.modern.target import Target
from coordinator_server.group.share.member import STABLE, ShareGroupMember, are_equal

_LOAD_FACTOR: Final = 0.75


def reconcile(
    member: ShareGroupMember, target: Target[Partitions], has_changed: bool, is_subscribed: Callable[[bytes], bool]
) -> ShareGroupMember:
    """Return the member with its target, or the same member if it has that. ``has_changed``: the group gets a new epoch.

    Topics to which the member does not subscribe are left out: the target may be older than the subscription.
    """
    if member.member_epoch != target.epoch:
        return member.with_assignment(target.epoch, member.member_epoch, STABLE, _filtered(target.assigned, is_subscribed))
    if not has_changed:
        return member
    assigned = _filtered(target.assigned, is_subscribed)
    if are_equal(assigned, member.assigned):
        return member
    return member.with_assignment(member.member_epoch, member.previous_member_epoch, member.current.state, assigned)


def _filtered(partitions: Partitions, is_subscribed: Callable[[bytes], bool]) -> Partitions:
    kept = [topic_id for topic_id in partitions if is_subscribed(topic_id)]
    if len(kept) == len(partitions):
        return partitions
    # What is left of a copy of the HashMap.
    count = len(partitions)
    buckets = buckets_for(count, buckets_of_capacity(int(count / _LOAD_FACTOR + 1)))
    return {topic_id: partitions[topic_id] for topic_id in by_bucket(kept, buckets)}
