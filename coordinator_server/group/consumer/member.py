"""One member of a consumer group: the values of its two records, and the partitions in them by topic.

A value, as Kafka's ``ConsumerGroupMember``: a change makes a new one. A member exists while one of its records does; the other
then has the defaults that Kafka uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from msgspec import Struct, field

from coordinator_server.group.consumer.partition_order import order_loaded, order_topics
from protocol.messages.consumer_group_records import (
    ClassicMemberMetadata,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataValue,
    TopicPartitions,
)

TopicId = bytes
Epochs = Mapping[TopicId, Mapping[int, int]]
"""Partitions by topic, each with the member epoch in which it was assigned (KIP-1251)."""

LEAVE_GROUP_EPOCH: Final = -1
LEAVE_GROUP_STATIC_EPOCH: Final = -2


class MemberState(IntEnum):
    """How far a member is from its target, as in its record. ``reconciliation.py`` has the transitions."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2
    UNKNOWN = 127


NO_METADATA: Final = ConsumerGroupMemberMetadataValue(
    instance_id=None, rack_id=None, server_assignor=None, classic_member_metadata=None
)
NO_ASSIGNMENT: Final = ConsumerGroupCurrentMemberAssignmentValue(previous_member_epoch=LEAVE_GROUP_EPOCH)
_STATES: Final = {state.value: state for state in MemberState}


class ConsumerGroupMember(Struct, frozen=True):
    """One member. The fields of ``metadata`` and ``current`` are those of the records."""

    member_id: str
    metadata: ConsumerGroupMemberMetadataValue = field(default_factory=lambda: NO_METADATA)
    current: ConsumerGroupCurrentMemberAssignmentValue = field(default_factory=lambda: NO_ASSIGNMENT)
    assigned: Epochs = {}
    pending_revocation: Epochs = {}

    @property
    def member_epoch(self) -> int:
        return self.current.member_epoch

    @property
    def previous_member_epoch(self) -> int:
        return self.current.previous_member_epoch

    @property
    def state(self) -> MemberState:
        """The state; UNKNOWN for one of a later version of Kafka."""
        return _STATES.get(self.current.state, MemberState.UNKNOWN)

    @property
    def instance_id(self) -> str | None:
        return self.metadata.instance_id

    @property
    def subscribed_topic_regex(self) -> str | None:
        """The regular expression, or None: an empty one is none."""
        return self.metadata.subscribed_topic_regex or None

    @property
    def classic_member_metadata(self) -> ClassicMemberMetadata | None:
        """What the member sent in its JoinGroup, or None if it uses the consumer protocol."""
        return self.metadata.classic_member_metadata

    @property
    def is_classic(self) -> bool:
        """Whether the member uses the classic protocol."""
        return self.metadata.classic_member_metadata is not None

    @property
    def is_in_log(self) -> bool:
        """Whether the member has a record."""
        return self.metadata is not NO_METADATA or self.current is not NO_ASSIGNMENT

    @property
    def is_revoking(self) -> bool:
        """Whether the member has partitions to give up."""
        return self.state is MemberState.UNREVOKED_PARTITIONS

    @property
    def stable_epoch(self) -> int | None:
        """The epoch to which the member has reconciled; None while it has not."""
        current = self.current
        return current.member_epoch if current.state == MemberState.STABLE else None

    def is_reconciled_to(self, assignment_epoch: int) -> bool:
        """Return whether the member has all of the target assignment of this epoch, and nothing else."""
        current = self.current
        return current.state == MemberState.STABLE and current.member_epoch == assignment_epoch

    def with_metadata(self, metadata: ConsumerGroupMemberMetadataValue) -> ConsumerGroupMember:
        return ConsumerGroupMember(self.member_id, metadata, self.current, self.assigned, self.pending_revocation)

    def with_current(self, current: ConsumerGroupCurrentMemberAssignmentValue) -> ConsumerGroupMember:
        """Return the member with this assignment. Partitions without an epoch, from older logs, get the member's (KIP-1251)."""
        epoch = max(current.member_epoch, 0)
        assigned = _by_topic(current.assigned_partitions, epoch)
        pending = _by_topic(current.partitions_pending_revocation, epoch)
        return ConsumerGroupMember(self.member_id, self.metadata, current, assigned, pending)


class MemberChange(NamedTuple):
    """A member before and after the change of its metadata that a request makes. Before a join it has none."""

    before: ConsumerGroupMember
    after: ConsumerGroupMember


def current_assignment(
    member_epoch: int, previous_member_epoch: int, state: MemberState, assigned: Epochs, pending_revocation: Epochs
) -> ConsumerGroupCurrentMemberAssignmentValue:
    """Return the value of the record with this assignment."""
    return ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch, previous_member_epoch, state.value, _listed(assigned), _listed(pending_revocation)
    )


def _by_topic(topics: Iterable[TopicPartitions], default_epoch: int) -> Epochs:
    by_topic: dict[TopicId, Mapping[int, int]] = {}
    for topic in topics:
        partitions, epochs = topic.partitions, topic.assignment_epochs
        if epochs is None or len(epochs) != len(partitions):
            epochs = [default_epoch] * len(partitions)
        if len(partitions) == 1:
            # Most topics of a member that has many.
            by_topic[topic.topic_id] = {partitions[0]: epochs[0]}
        else:
            by_topic[topic.topic_id] = order_loaded(dict(zip(partitions, epochs, strict=True)))
    return order_topics(by_topic)


def _listed(by_topic: Epochs) -> list[TopicPartitions]:
    return [TopicPartitions(topic_id, list(epochs), list(epochs.values())) for topic_id, epochs in by_topic.items()]
