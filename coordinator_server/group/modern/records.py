"""The record types of one group type, and its records, as Kafka 4.3 writes them (``GroupCoordinatorRecordHelpers``).

Kafka's schemas of the group types have the same fields in the same order, under other names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.modern.member import ModernMember
from protocol.coordinator_records import CoordinatorRecord
from protocol.fields import Message


class TargetForm(NamedTuple):
    """How a target is read from the value of its record and written as one, and the target of a member without a record."""

    read: Callable[[Any], Any]
    write: Callable[[Any], Message]
    empty: Any


def target_of_topics(value_type: Callable[[list[Any]], Message], topic_type: Callable[[bytes, list[int]], Any]) -> TargetForm:
    """Return the form of a target that is a list of topics: partitions by topic id, in the order of the record."""

    def read(value: Any) -> Partitions:
        return {topic.topic_id: topic.partitions for topic in value.topic_partitions}

    def write(partitions: Partitions) -> Message:
        return value_type([topic_type(topic_id, list(numbers)) for topic_id, numbers in partitions.items()])

    return TargetForm(read, write, {})


class GroupRecords(NamedTuple):
    """The record types of one group type. Each method returns a record."""

    type_name: str
    """The name of the group type as in ListGroups, in lower case: that of its settings, and in messages, too."""
    epoch_key: type[Message]
    """Of the group's epoch: group id."""
    epoch_value: Callable[[int, int], Message]
    """Of epoch and metadata hash."""
    target_epoch_key: type[Message]
    target_epoch_value: Callable[[int, int], Message]
    """Of epoch and wall-clock time in milliseconds."""
    member_key: type[Message]
    """Of a member's subscription: group id and member id."""
    current_key: type[Message]
    """Of a member's assignment: group id and member id."""
    target_key: type[Message]
    target_form: TargetForm
    no_epoch: Any
    """The value before the first record."""
    no_target_epoch: Any
    no_metadata: Message
    """The subscription of a member whose record does not exist: compared by identity."""
    no_current: Message
    metadata_bytes: Callable[[Any], int]
    """Of the value of a subscription: about what its member takes in memory, beside its assignment."""

    def bytes_of(self, metadata: Any) -> int:
        """Return about what a member with this subscription takes in memory; 0 without one."""
        return 0 if metadata is self.no_metadata else self.metadata_bytes(metadata)

    def epoch(self, group_id: str, epoch: int, metadata_hash: int) -> CoordinatorRecord:
        """Of the group's epoch, and of the hash of the topics that it consumes."""
        return CoordinatorRecord(self.epoch_key(group_id), self.epoch_value(epoch, metadata_hash))

    def target_epoch(self, group_id: str, epoch: int, timestamp_ms: int) -> CoordinatorRecord:
        """Of the epoch of the target assignment, and of the wall-clock time when it was computed."""
        return CoordinatorRecord(self.target_epoch_key(group_id), self.target_epoch_value(epoch, timestamp_ms))

    def member(self, group_id: str, member: ModernMember) -> CoordinatorRecord:
        """Of a member's subscription."""
        return CoordinatorRecord(self.member_key(group_id, member.member_id), member.metadata)

    def current(self, group_id: str, member: ModernMember) -> CoordinatorRecord:
        """Of what a member has."""
        return CoordinatorRecord(self.current_key(group_id, member.member_id), member.current)

    def target(self, group_id: str, member_id: str, target: Any) -> CoordinatorRecord:
        """Of a member's target assignment."""
        return CoordinatorRecord(self.target_key(group_id, member_id), self.target_form.write(target))

    def member_tombstones(self, group_id: str, member_id: str) -> list[CoordinatorRecord]:
        """Return the tombstones of a member, in the order that readers of the log rely on."""
        return [tombstone(key(group_id, member_id)) for key in (self.current_key, self.target_key, self.member_key)]

    def group_tombstones(
        self, group_id: str, members: Iterable[str], targets: Iterable[str], others: Iterable[Message]
    ) -> list[CoordinatorRecord]:
        """Return the tombstones of a whole group in Kafka's order, which is also right for a reader that checks it.

        ``others`` are the keys of records that only this group type has.
        """
        ids = list(members)
        keys = [
            *(self.current_key(group_id, member_id) for member_id in ids),
            *(self.target_key(group_id, member_id) for member_id in targets),
            self.target_epoch_key(group_id),
            *(self.member_key(group_id, member_id) for member_id in ids),
            *others,
            self.epoch_key(group_id),
        ]
        return [tombstone(key) for key in keys]


def tombstone(key: Message) -> CoordinatorRecord:
    """Return the tombstone of a record."""
    return CoordinatorRecord(key, None)
