"""The state of a consumer group, which follows from its members and epochs (Kafka's ``ConsumerGroupState``)."""

from __future__ import annotations

from enum import Enum

from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.machine.timeline import LATEST


class ConsumerGroupState(Enum):
    """The state, as ListGroups names it."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"


def group_state(group: ConsumerGroup, committed_offset: int = LATEST) -> ConsumerGroupState:
    """Return the state as of ``committed_offset``."""
    members = group.members_at(committed_offset)
    if not members:
        return ConsumerGroupState.EMPTY
    epoch, assignment_epoch = group.epochs_at(committed_offset)
    if epoch > assignment_epoch:
        return ConsumerGroupState.ASSIGNING
    is_stable = group.stable_members.get_at(assignment_epoch, committed_offset, 0) == members
    return ConsumerGroupState.STABLE if is_stable else ConsumerGroupState.RECONCILING
