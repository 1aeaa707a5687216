"""Which members' targets change with a new target assignment (Kafka's TargetAssignmentBuilder)."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from coordinator_server.group.assign.spec import Assignor, GroupSpec, Partitions

_ANY: Final = 1 << 31
"""More partitions than any topic has."""


def change_targets(assignor: Assignor, group: GroupSpec) -> list[tuple[str, Partitions]]:
    """Return the ids of the members whose targets change and their new targets, in the order of Kafka's records.

    The records of these come first, then that of the assignment's epoch. Raises CannotAssign.
    """
    targets = assignor(_existing(group))
    changed: list[tuple[str, Partitions]] = []
    for member in group.members:
        target = targets.get(member.member_id)
        if target is None:
            target = {}
        if not member.has_target or not _are_equal(target, member.target):
            changed.append((member.member_id, target))
    return changed


def _existing(group: GroupSpec) -> GroupSpec:
    """Return the group without partitions of targets that their topics do not have, as an imported group may; else the same.

    Kafka's assignors fail on them, or assign them again. Topics that nobody subscribes to are left to the assignor.
    """
    counts = group.partition_counts
    if all(
        max(has, default=0) < counts.get(topic_id, _ANY) for member in group.members for topic_id, has in member.target.items()
    ):
        return group
    return replace(group, members=[replace(member, target=_cut(member.target, counts)) for member in group.members])


def _cut(target: Partitions, counts: dict[bytes, int]) -> Partitions:
    existing = {topic_id: [each for each in has if each < counts.get(topic_id, _ANY)] for topic_id, has in target.items()}
    return {topic_id: has for topic_id, has in existing.items() if has}


def _are_equal(one: Partitions, other: Partitions) -> bool:
    """Return whether both have the same partitions, in any order."""
    if one is other or one == other:
        return True
    return one.keys() == other.keys() and all(set(partitions) == set(other[topic_id]) for topic_id, partitions in one.items())
