"""The records of consumer groups, in the version that Kafka 4.3 writes (``GroupCoordinatorRecordHelpers``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from coordinator_server.group.consumer.member import ConsumerGroupMember, TopicId
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.consumer_group_records import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
    TopicPartition,
)


def member_record(group_id: str, member: ConsumerGroupMember) -> CoordinatorRecord:
    """Return the record of a member's subscription."""
    return CoordinatorRecord(ConsumerGroupMemberMetadataKey(group_id, member.member_id), member.metadata)


def member_tombstone(group_id: str, member_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(ConsumerGroupMemberMetadataKey(group_id, member_id), None)


def epoch_record(group_id: str, epoch: int, metadata_hash: int) -> CoordinatorRecord:
    """Return the record of the group's epoch, and of the hash of the topics that it consumes."""
    return CoordinatorRecord(ConsumerGroupMetadataKey(group_id), ConsumerGroupMetadataValue(epoch, metadata_hash))


def epoch_tombstone(group_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(ConsumerGroupMetadataKey(group_id), None)


def partition_metadata_tombstone(group_id: str) -> CoordinatorRecord:
    """Return the tombstone of the record that the metadata hash has replaced."""
    return CoordinatorRecord(ConsumerGroupPartitionMetadataKey(group_id), None)


def target_record(group_id: str, member_id: str, partitions: Mapping[TopicId, Iterable[int]]) -> CoordinatorRecord:
    """Return the record of a member's target assignment."""
    topics = [TopicPartition(topic_id, list(numbers)) for topic_id, numbers in partitions.items()]
    key = ConsumerGroupTargetAssignmentMemberKey(group_id, member_id)
    return CoordinatorRecord(key, ConsumerGroupTargetAssignmentMemberValue(topics))


def target_tombstone(group_id: str, member_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(ConsumerGroupTargetAssignmentMemberKey(group_id, member_id), None)


def assignment_epoch_record(group_id: str, epoch: int, timestamp_ms: int) -> CoordinatorRecord:
    """Return the record of the epoch of the target assignment, and of the wall-clock time when it was computed."""
    value = ConsumerGroupTargetAssignmentMetadataValue(epoch, timestamp_ms)
    return CoordinatorRecord(ConsumerGroupTargetAssignmentMetadataKey(group_id), value)


def assignment_epoch_tombstone(group_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(ConsumerGroupTargetAssignmentMetadataKey(group_id), None)


def current_assignment_record(group_id: str, member: ConsumerGroupMember) -> CoordinatorRecord:
    """Return the record of what a member has."""
    return CoordinatorRecord(ConsumerGroupCurrentMemberAssignmentKey(group_id, member.member_id), member.current)


def current_assignment_tombstone(group_id: str, member_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id), None)


def regex_record(group_id: str, regex: str, topics: Iterable[str], version: int, timestamp_ms: int) -> CoordinatorRecord:
    """Return the record of the topics that match a regular expression, as of a version of the topics and a wall-clock time."""
    value = ConsumerGroupRegularExpressionValue(sorted(topics), version, timestamp_ms)
    return CoordinatorRecord(ConsumerGroupRegularExpressionKey(group_id, regex), value)


def regex_tombstone(group_id: str, regex: str) -> CoordinatorRecord:
    return CoordinatorRecord(ConsumerGroupRegularExpressionKey(group_id, regex), None)


def group_tombstones(
    group_id: str, members: Iterable[str], targets: Iterable[str], regexes: Iterable[str]
) -> list[CoordinatorRecord]:
    """Return the tombstones of a whole group in Kafka's order, which is also right for a reader that checks it."""
    ids = list(members)
    return [
        *(current_assignment_tombstone(group_id, member_id) for member_id in ids),
        *(target_tombstone(group_id, member_id) for member_id in targets),
        assignment_epoch_tombstone(group_id),
        *(member_tombstone(group_id, member_id) for member_id in ids),
        *(regex_tombstone(group_id, regex) for regex in regexes),
        partition_metadata_tombstone(group_id),
        epoch_tombstone(group_id),
    ]
