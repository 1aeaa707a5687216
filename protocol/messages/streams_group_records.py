"""Records of the group coordinator's log for groups of Kafka Streams (KIP-1071).

Defaults that the schemas mean to be null are empty lists to Kafka's generator, as in the records of consumer groups.
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Int8, Int16, Int32, Int64, Item, Message, String, Uint16, V, record_key, record_value


class StreamsGroupMetadataKey(Message):
    kafka = record_key(17)
    group_id: String = ""


class StreamsGroupMetadataValue(Message):
    kafka = record_value(17, "0", flexible="0+")
    epoch: Int32 = 0
    metadata_hash: Int64 = 0
    validated_topology_epoch: Annotated[Int32, V(tag=0)] = -1
    last_assignment_configs: Annotated[list[LastAssignmentConfig] | None, V(tag=1)] = []


class LastAssignmentConfig(Item):
    key: String = ""
    value: String = ""


class StreamsGroupMemberMetadataKey(Message):
    kafka = record_key(19)
    group_id: String = ""
    member_id: String = ""


class StreamsGroupMemberMetadataValue(Message):
    kafka = record_value(19, "0", flexible="0+")
    instance_id: String | None = ""
    rack_id: String | None = ""
    client_id: String = ""
    client_host: String = ""
    rebalance_timeout_ms: Int32 = -1
    topology_epoch: Int32 = 0
    process_id: String = ""
    user_endpoint: Endpoint | None = None
    client_tags: list[KeyValue] = []


class Endpoint(Item):
    host: String = ""
    port: Uint16 = 0


class KeyValue(Item):
    key: String = ""
    value: String = ""


class StreamsGroupTargetAssignmentMetadataKey(Message):
    kafka = record_key(20)
    group_id: String = ""


class StreamsGroupTargetAssignmentMetadataValue(Message):
    kafka = record_value(20, "0", flexible="0+")
    assignment_epoch: Int32 = 0
    assignment_timestamp: Annotated[Int64, V(tag=0)] = 0


class StreamsGroupTargetAssignmentMemberKey(Message):
    kafka = record_key(21)
    group_id: String = ""
    member_id: String = ""


class StreamsGroupTargetAssignmentMemberValue(Message):
    kafka = record_value(21, "0", flexible="0+")
    active_tasks: list[StreamsGroupTargetAssignmentMemberTaskIds] = []
    standby_tasks: list[StreamsGroupTargetAssignmentMemberTaskIds] = []
    warmup_tasks: list[StreamsGroupTargetAssignmentMemberTaskIds] = []


class StreamsGroupTargetAssignmentMemberTaskIds(Item):
    subtopology_id: String = ""
    partitions: list[Int32] = []


class StreamsGroupCurrentMemberAssignmentKey(Message):
    kafka = record_key(22)
    group_id: String = ""
    member_id: String = ""


class StreamsGroupCurrentMemberAssignmentValue(Message):
    kafka = record_value(22, "0", flexible="0+")
    member_epoch: Int32 = 0
    previous_member_epoch: Int32 = 0
    state: Int8 = 0
    active_tasks: list[StreamsGroupCurrentMemberAssignmentTaskIds] = []
    standby_tasks: list[StreamsGroupCurrentMemberAssignmentTaskIds] = []
    warmup_tasks: list[StreamsGroupCurrentMemberAssignmentTaskIds] = []
    active_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentTaskIds] = []
    standby_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentTaskIds] = []
    warmup_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentTaskIds] = []


class StreamsGroupCurrentMemberAssignmentTaskIds(Item):
    subtopology_id: String = ""
    partitions: list[Int32] = []
    assignment_epochs: Annotated[list[Int32] | None, V(tag=0)] = []


class StreamsGroupTopologyKey(Message):
    kafka = record_key(23)
    group_id: String = ""


class StreamsGroupTopologyValue(Message):
    kafka = record_value(23, "0", flexible="0+")
    epoch: Int32 = 0
    subtopologies: list[Subtopology] = []


class Subtopology(Item):
    subtopology_id: String = ""
    source_topics: list[String] = []
    source_topic_regex: list[String] = []
    state_changelog_topics: list[TopicInfo] = []
    repartition_sink_topics: list[String] = []
    repartition_source_topics: list[TopicInfo] = []
    copartition_groups: list[CopartitionGroup] = []


class TopicInfo(Item):
    name: String = ""
    partitions: Int32 = 0
    replication_factor: Int16 = 0
    topic_configs: list[TopicConfig] = []


class TopicConfig(Item):
    key: String = ""
    value: String = ""


class CopartitionGroup(Item):
    source_topics: list[Int16] = []
    source_topic_regex: list[Int16] = []
    repartition_source_topics: list[Int16] = []
