"""One member of a share group: the values of its two records, and its partitions by topic (Kafka's ``ShareGroupMember``).

A value: a change makes a new one. A member exists while one of its records does; the other then has the defaults that Kafka uses.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.common.partition_sets import read_partitions
from protocol.messages.share_group_records import (
    ShareGroupCurrentMemberAssignmentValue,
    ShareGroupMemberMetadataValue,
    TopicPartitions,
)

LEAVE_GROUP_EPOCH: Final = -1
STABLE: Final = 0
"""The state of a member in its record, as Kafka writes it: a share group has nothing to revoke and nothing to wait for."""

NO_METADATA: Final = ShareGroupMemberMetadataValue(rack_id=None)
NO_ASSIGNMENT: Final = ShareGroupCurrentMemberAssignmentValue(previous_member_epoch=LEAVE_GROUP_EPOCH)


class ShareGroupMember(Struct, frozen=True):
    """One member. The fields of ``metadata`` and ``current`` are those of the records; ``assigned`` has Kafka's order."""

    member_id: str
    metadata: ShareGroupMemberMetadataValue = field(default_factory=lambda: NO_METADATA)
    current: ShareGroupCurrentMemberAssignmentValue = field(default_factory=lambda: NO_ASSIGNMENT)
    assigned: Partitions = {}

    @property
    def member_epoch(self) -> int:
        return self.current.member_epoch

    @property
    def previous_member_epoch(self) -> int:
        return self.current.previous_member_epoch

    @property
    def is_in_log(self) -> bool:
        """Whether the member has a record."""
        return self.metadata is not NO_METADATA or self.current is not NO_ASSIGNMENT

    def with_metadata(self, metadata: ShareGroupMemberMetadataValue) -> ShareGroupMember:
        return ShareGroupMember(self.member_id, metadata, self.current, self.assigned)

    def with_current(self, current: ShareGroupCurrentMemberAssignmentValue) -> ShareGroupMember:
        """Return the member with this record of its assignment."""
        assigned = read_partitions((topic.topic_id, topic.partitions) for topic in current.assigned_partitions)
        return ShareGroupMember(self.member_id, self.metadata, current, assigned)

    def with_assignment(
        self, member_epoch: int, previous_member_epoch: int, state: int, assigned: Partitions
    ) -> ShareGroupMember:
        """Return the member with a new assignment, whose order is that of its record."""
        topics = [TopicPartitions(topic_id, list(partitions)) for topic_id, partitions in assigned.items()]
        current = ShareGroupCurrentMemberAssignmentValue(member_epoch, previous_member_epoch, state, topics)
        return ShareGroupMember(self.member_id, self.metadata, current, assigned)


def are_equal(one: Partitions, other: Partitions) -> bool:
    """Return whether both have the same partitions, in any order."""
    if one is other or one == other:
        return True
    return one.keys() == other.keys() and all(set(partitions) == set(other[topic_id]) for topic_id, partitions in one.items())
