"""A group whose members reach their targets step by step, each at its own heartbeats: those of the consumer protocol and of
streams.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from coordinator_server.group.common.counts import recount
from coordinator_server.group.modern.group import ModernGroup
from coordinator_server.group.modern.groups_by_topic import GroupServices
from coordinator_server.group.modern.member import M
from coordinator_server.group.modern.target_assignment import T
from coordinator_server.machine.timeline import LATEST, TimelineDict


class GroupState(StrEnum):
    """The state of a group, as ListGroups names it (Kafka's ``ConsumerGroupState`` and ``StreamsGroupState``)."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"
    NOT_READY = "NotReady"
    """Of a streams group: its topology is not validated."""


class ReconcilingGroup(ModernGroup[M, T]):
    """One group. Its members have a ``stable_epoch``: the epoch to which they have reconciled; None while they have not."""

    __slots__ = ("stable_members",)

    def __init__(self, group_id: str, services: GroupServices) -> None:
        super().__init__(group_id, services)
        # Derived: the number of members that have reconciled to an epoch and to nothing else, so that the state of the group is
        # known without a look at every member.
        self.stable_members: TimelineDict[int, int] = TimelineDict(services.registry)

    def state_at(self, committed_offset: int = LATEST) -> str:
        """Return the state as of ``committed_offset``, which follows from the members and the epochs."""
        members = self.members_at(committed_offset)
        if not members:
            return GroupState.EMPTY.value
        epoch, assignment_epoch = self.epochs_at(committed_offset)
        if epoch > assignment_epoch:
            return GroupState.ASSIGNING.value
        is_stable = self.stable_members.get_at(assignment_epoch, committed_offset, 0) == members
        return GroupState.STABLE.value if is_stable else GroupState.RECONCILING.value

    def _put_member(self, old: Any, member: Any) -> None:
        super()._put_member(old, member)
        before = None if old is None else old.stable_epoch
        after = member.stable_epoch if member.is_in_log else None
        if before != after:
            recount(self.stable_members, [] if before is None else [before], [] if after is None else [after])
