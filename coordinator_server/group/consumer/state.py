"""The state of a consumer group, which follows from its members and epochs (Kafka's ``ConsumerGroupState``)."""

from __future__ import annotations

from enum import Enum

from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.machine.timeline import LATEST
from protocol.messages.consumer_group_records import ConsumerGroupMetadataKey, ConsumerGroupTargetAssignmentMetadataKey


class ConsumerGroupState(Enum):
    """The state, as ListGroups names it."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"


def group_state(group: ConsumerGroup, committed_offset: int = LATEST) -> ConsumerGroupState:
    """Return the state as of ``committed_offset``."""
    members = _count_at(group, committed_offset)
    if not members:
        return ConsumerGroupState.EMPTY
    assignment_epoch = assignment_epoch_at(group, committed_offset)
    if group_epoch_at(group, committed_offset) > assignment_epoch:
        return ConsumerGroupState.ASSIGNING
    is_stable = group.stable_members.get_at(assignment_epoch, committed_offset, 0) == members
    return ConsumerGroupState.STABLE if is_stable else ConsumerGroupState.RECONCILING


def _count_at(group: ConsumerGroup, committed_offset: int) -> int:
    members = group.members
    # Usually the members are as they were.
    return len(members) if members.is_as_of(committed_offset) else sum(1 for _ in members.items_at(committed_offset))


def group_epoch_at(group: ConsumerGroup, committed_offset: int) -> int:
    """Return the group's epoch as of ``committed_offset``."""
    value = group.head.get_at(ConsumerGroupMetadataKey, committed_offset)
    return 1 if value is None else value.epoch


def assignment_epoch_at(group: ConsumerGroup, committed_offset: int) -> int:
    """Return the epoch of the target assignment as of ``committed_offset``."""
    value = group.head.get_at(ConsumerGroupTargetAssignmentMetadataKey, committed_offset)
    return 1 if value is None else value.assignment_epoch
