"""Records of the group coordinator's log for groups of the consumer protocol (KIP-848).

The group's epoch rises with each change of subscriptions or partitions, the assignment's follows it, each member's follows that.
ConsumerGroupPartitionMetadata is no longer written: the metadata hash in ConsumerGroupMetadata has taken its place.

Defaults that the schemas mean to be null, and write as a bare JSON null, are none to Kafka's generator: such a field is empty
when it is not set, and null is written.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from protocol.fields import ZERO_UUID, Bytes, Int8, Int32, Int64, Item, Message, String, Uuid, V, record_key, record_value


class ConsumerGroupMetadataKey(Message):
    kafka = record_key(3)
    group_id: String = ""


class ConsumerGroupMetadataValue(Message):
    kafka = record_value(3, "0", flexible="0+")
    epoch: Int32 = 0
    metadata_hash: Annotated[Int64, V(tag=0)] = 0


class ConsumerGroupPartitionMetadataKey(Message):
    kafka = record_key(4)
    group_id: String = ""


class ConsumerGroupPartitionMetadataValue(Message):
    kafka = record_value(4, "0", flexible="0+")
    topics: list[TopicMetadata] = []


class TopicMetadata(Item):
    topic_id: Uuid = ZERO_UUID
    topic_name: String = ""
    num_partitions: Int32 = 0
    partition_metadata: list[PartitionMetadata] = []


class PartitionMetadata(Item):
    partition: Int32 = 0
    racks: list[String] = []


class ConsumerGroupMemberMetadataKey(Message):
    kafka = record_key(5)
    group_id: String = ""
    member_id: String = ""


class ClassicMemberMetadata(Item):
    session_timeout_ms: Int32 = 0
    supported_protocols: list[ClassicProtocol] = []


class ConsumerGroupMemberMetadataValue(Message):
    kafka = record_value(5, "0", flexible="0+")
    instance_id: String | None = ""
    rack_id: String | None = ""
    client_id: String = ""
    client_host: String = ""
    subscribed_topic_names: list[String] = []
    subscribed_topic_regex: String | None = ""
    rebalance_timeout_ms: Int32 = -1
    server_assignor: String | None = ""
    classic_member_metadata: Annotated[ClassicMemberMetadata | None, V(tag=0)] = field(default_factory=ClassicMemberMetadata)


class ClassicProtocol(Item):
    name: String = ""
    metadata: Bytes = b""


class ConsumerGroupTargetAssignmentMetadataKey(Message):
    kafka = record_key(6)
    group_id: String = ""


class ConsumerGroupTargetAssignmentMetadataValue(Message):
    kafka = record_value(6, "0", flexible="0+")
    assignment_epoch: Int32 = 0
    assignment_timestamp: Annotated[Int64, V(tag=0)] = 0


class ConsumerGroupTargetAssignmentMemberKey(Message):
    kafka = record_key(7)
    group_id: String = ""
    member_id: String = ""


class ConsumerGroupTargetAssignmentMemberValue(Message):
    kafka = record_value(7, "0", flexible="0+")
    topic_partitions: list[TopicPartition] = []


class TopicPartition(Item):
    topic_id: Uuid = ZERO_UUID
    partitions: list[Int32] = []


class ConsumerGroupCurrentMemberAssignmentKey(Message):
    kafka = record_key(8)
    group_id: String = ""
    member_id: String = ""


class ConsumerGroupCurrentMemberAssignmentValue(Message):
    kafka = record_value(8, "0", flexible="0+")
    member_epoch: Int32 = 0
    previous_member_epoch: Int32 = 0
    state: Int8 = 0
    assigned_partitions: list[TopicPartitions] = []
    partitions_pending_revocation: list[TopicPartitions] = []


class TopicPartitions(Item):
    topic_id: Uuid = ZERO_UUID
    partitions: list[Int32] = []
    assignment_epochs: Annotated[list[Int32] | None, V(tag=0)] = []


class ConsumerGroupRegularExpressionKey(Message):
    kafka = record_key(16)
    group_id: String = ""
    regular_expression: String = ""


class ConsumerGroupRegularExpressionValue(Message):
    kafka = record_value(16, "0", flexible="0+")
    topics: list[String] = []
    version: Int64 = 0
    timestamp: Int64 = 0
