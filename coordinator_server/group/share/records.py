"""The records of share groups, in the version that Kafka 4.3 writes (``GroupCoordinatorRecordHelpers``)."""

from __future__ import annotations

from collections.abc import Iterable

from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.share.member import ShareGroupMember
from coordinator_server.group.share.state_topics import state_topics_tombstone
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.share_group_records import (
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupMemberMetadataKey,
    ShareGroupMetadataKey,
    ShareGroupMetadataValue,
    ShareGroupTargetAssignmentMemberKey,
    ShareGroupTargetAssignmentMemberValue,
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
    TopicPartition,
)


def member_record(group_id: str, member: ShareGroupMember) -> CoordinatorRecord:
    """Return the record of a member's subscription."""
    return CoordinatorRecord(ShareGroupMemberMetadataKey(group_id, member.member_id), member.metadata)


def member_tombstone(group_id: str, member_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(ShareGroupMemberMetadataKey(group_id, member_id), None)


def epoch_record(group_id: str, epoch: int, metadata_hash: int) -> CoordinatorRecord:
    """Return the record of the group's epoch, and of the hash of the topics that it consumes."""
    return CoordinatorRecord(ShareGroupMetadataKey(group_id), ShareGroupMetadataValue(epoch, metadata_hash))


def epoch_tombstone(group_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(ShareGroupMetadataKey(group_id), None)


def target_record(group_id: str, member_id: str, partitions: Partitions) -> CoordinatorRecord:
    """Return the record of a member's target assignment."""
    topics = [TopicPartition(topic_id, list(numbers)) for topic_id, numbers in partitions.items()]
    key = ShareGroupTargetAssignmentMemberKey(group_id, member_id)
    return CoordinatorRecord(key, ShareGroupTargetAssignmentMemberValue(topics))


def target_tombstone(group_id: str, member_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(ShareGroupTargetAssignmentMemberKey(group_id, member_id), None)


def assignment_epoch_record(group_id: str, epoch: int, timestamp_ms: int) -> CoordinatorRecord:
    """Return the record of the epoch of the target assignment, and of the wall-clock time when it was computed."""
    value = ShareGroupTargetAssignmentMetadataValue(epoch, timestamp_ms)
    return CoordinatorRecord(ShareGroupTargetAssignmentMetadataKey(group_id), value)


def assignment_epoch_tombstone(group_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(ShareGroupTargetAssignmentMetadataKey(group_id), None)


def current_assignment_record(group_id: str, member: ShareGroupMember) -> CoordinatorRecord:
    """Return the record of what a member has."""
    return CoordinatorRecord(ShareGroupCurrentMemberAssignmentKey(group_id, member.member_id), member.current)


def current_assignment_tombstone(group_id: str, member_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(ShareGroupCurrentMemberAssignmentKey(group_id, member_id), None)


def removal_records(group_id: str, member_id: str) -> list[CoordinatorRecord]:
    """Return the tombstones of a member, in the order that readers of the log rely on."""
    return [
        current_assignment_tombstone(group_id, member_id),
        target_tombstone(group_id, member_id),
        member_tombstone(group_id, member_id),
    ]


def group_tombstones(group_id: str, members: Iterable[str], targets: Iterable[str]) -> list[CoordinatorRecord]:
    """Return the tombstones of a whole group in Kafka's order, which is also right for a reader that checks it."""
    ids = list(members)
    return [
        *(current_assignment_tombstone(group_id, member_id) for member_id in ids),
        *(target_tombstone(group_id, member_id) for member_id in targets),
        assignment_epoch_tombstone(group_id),
        *(member_tombstone(group_id, member_id) for member_id in ids),
        state_topics_tombstone(group_id),
        epoch_tombstone(group_id),
    ]
