"""Records of the group coordinator's log for share groups (KIP-932)."""

from __future__ import annotations

from typing import Annotated

from protocol.fields import ZERO_UUID, Int8, Int32, Int64, Item, Message, String, Uuid, V, record_key, record_value


class ShareGroupMemberMetadataKey(Message):
    kafka = record_key(10)
    group_id: String = ""
    member_id: String = ""


class ShareGroupMemberMetadataValue(Message):
    kafka = record_value(10, "0", flexible="0+")
    rack_id: String | None = ""
    client_id: String = ""
    client_host: String = ""
    subscribed_topic_names: list[String] = []


class ShareGroupMetadataKey(Message):
    kafka = record_key(11)
    group_id: String = ""


class ShareGroupMetadataValue(Message):
    kafka = record_value(11, "0", flexible="0+")
    epoch: Int32 = 0
    metadata_hash: Int64 = 0


class ShareGroupTargetAssignmentMetadataKey(Message):
    kafka = record_key(12)
    group_id: String = ""


class ShareGroupTargetAssignmentMetadataValue(Message):
    kafka = record_value(12, "0", flexible="0+")
    assignment_epoch: Int32 = 0
    assignment_timestamp: Annotated[Int64, V(tag=0)] = 0


class ShareGroupTargetAssignmentMemberKey(Message):
    kafka = record_key(13)
    group_id: String = ""
    member_id: String = ""


class ShareGroupTargetAssignmentMemberValue(Message):
    kafka = record_value(13, "0", flexible="0+")
    topic_partitions: list[TopicPartition] = []


class TopicPartition(Item):
    topic_id: Uuid = ZERO_UUID
    partitions: list[Int32] = []


class ShareGroupCurrentMemberAssignmentKey(Message):
    kafka = record_key(14)
    group_id: String = ""
    member_id: String = ""


class ShareGroupCurrentMemberAssignmentValue(Message):
    kafka = record_value(14, "0", flexible="0+")
    member_epoch: Int32 = 0
    previous_member_epoch: Int32 = 0
    state: Int8 = 0
    assigned_partitions: list[TopicPartitions] = []


class TopicPartitions(Item):
    topic_id: Uuid = ZERO_UUID
    partitions: list[Int32] = []


class ShareGroupStatePartitionMetadataKey(Message):
    kafka = record_key(15)
    group_id: String = ""


class ShareGroupStatePartitionMetadataValue(Message):
    kafka = record_value(15, "0", flexible="0+")
    initializing_topics: list[TopicPartitionsInfo] = []
    initialized_topics: list[TopicPartitionsInfo] = []
    deleting_topics: list[TopicInfo] = []


class TopicPartitionsInfo(Item):
    topic_id: Uuid = ZERO_UUID
    topic_name: String = ""
    partitions: list[Int32] = []


class TopicInfo(Item):
    topic_id: Uuid = ZERO_UUID
    topic_name: String = ""
