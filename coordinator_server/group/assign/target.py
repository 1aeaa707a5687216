"""Which members' targets change with a new target assignment (Kafka's TargetAssignmentBuilder)."""

from __future__ import annotations

from coordinator_server.group.assign.spec import Assignor, GroupSpec, Partitions


def change_targets(assignor: Assignor, group: GroupSpec) -> list[tuple[str, Partitions]]:
    """Return the ids of the members whose targets change and their new targets, in the order of Kafka's records.

    The records of these come first, then that of the assignment's epoch. Raises CannotAssign.
    """
    targets = assignor(group)
    changed: list[tuple[str, Partitions]] = []
    for member in group.members:
        target = targets.get(member.member_id)
        if target is None:
            target = {}
        if not member.has_target or not _are_equal(target, member.target):
            changed.append((member.member_id, target))
    return changed


def _are_equal(one: Partitions, other: Partitions) -> bool:
    """Return whether both have the same partitions, in any order."""
    if one is other or one == other:
        return True
    return one.keys() == other.keys() and all(set(partitions) == set(other[topic_id]) for topic_id, partitions in one.items())
