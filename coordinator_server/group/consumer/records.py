"""The record types of consumer groups, and the records that no other groups have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from coordinator_server.group.consumer.member import NO_ASSIGNMENT, NO_METADATA
from coordinator_server.group.modern.limits import texts_bytes
from coordinator_server.group.modern.records import GroupRecords, target_of_topics, tombstone
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages import consumer_group_records as consumer

# The objects of a classic protocol, beside their texts: rounded up.
_PROTOCOL_BYTES = 150


def _metadata_bytes(metadata: consumer.ConsumerGroupMemberMetadataValue) -> int:
    texts = (metadata.instance_id, metadata.rack_id, metadata.client_id, metadata.client_host, metadata.subscribed_topic_regex)
    size = texts_bytes(texts, metadata.subscribed_topic_names)
    classic = metadata.classic_member_metadata
    if classic is not None:
        size += sum([_PROTOCOL_BYTES + len(each.name) + len(each.metadata) for each in classic.supported_protocols])
    return size


RECORDS: Final = GroupRecords(
    type_name="consumer",
    epoch_key=consumer.ConsumerGroupMetadataKey,
    epoch_value=consumer.ConsumerGroupMetadataValue,
    target_epoch_key=consumer.ConsumerGroupTargetAssignmentMetadataKey,
    target_epoch_value=consumer.ConsumerGroupTargetAssignmentMetadataValue,
    member_key=consumer.ConsumerGroupMemberMetadataKey,
    current_key=consumer.ConsumerGroupCurrentMemberAssignmentKey,
    target_key=consumer.ConsumerGroupTargetAssignmentMemberKey,
    target_form=target_of_topics(consumer.ConsumerGroupTargetAssignmentMemberValue, consumer.TopicPartition),
    no_epoch=consumer.ConsumerGroupMetadataValue(epoch=1),
    no_target_epoch=consumer.ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=1),
    no_metadata=NO_METADATA,
    no_current=NO_ASSIGNMENT,
    metadata_bytes=_metadata_bytes,
)


def regex_record(group_id: str, regex: str, topics: Iterable[str], version: int, timestamp_ms: int) -> CoordinatorRecord:
    """Return the record of the topics that match a regular expression, as of a version of the topics and a wall-clock time."""
    value = consumer.ConsumerGroupRegularExpressionValue(sorted(topics), version, timestamp_ms)
    return CoordinatorRecord(consumer.ConsumerGroupRegularExpressionKey(group_id, regex), value)


def regex_tombstone(group_id: str, regex: str) -> CoordinatorRecord:
    return tombstone(consumer.ConsumerGroupRegularExpressionKey(group_id, regex))
