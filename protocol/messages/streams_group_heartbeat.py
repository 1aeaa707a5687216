"""StreamsGroupHeartbeat (88): join, stay in and leave a group of Kafka Streams, whose coordinator assigns tasks (KIP-1071).

Null and -1 mean "as in the last heartbeat". The topology is sent when joining.
"""

from __future__ import annotations

from msgspec import field

from protocol.fields import Bool, Int8, Int16, Int32, Int64, Item, Message, String, Uint16, request, response


class StreamsGroupHeartbeatRequest(Message):
    kafka = request(88, "0", flexible="0+")
    group_id: String = ""
    member_id: String = ""
    member_epoch: Int32 = 0
    endpoint_information_epoch: Int32 = 0
    instance_id: String | None = None
    rack_id: String | None = None
    rebalance_timeout_ms: Int32 = -1
    topology: Topology | None = None
    active_tasks: list[TaskIds] | None = None
    standby_tasks: list[TaskIds] | None = None
    warmup_tasks: list[TaskIds] | None = None
    process_id: String | None = None
    user_endpoint: Endpoint | None = None
    client_tags: list[KeyValue] | None = None
    task_offsets: list[TaskOffset] | None = None
    task_end_offsets: list[TaskOffset] | None = None
    shutdown_application: Bool = False


class Topology(Item):
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
    topic_configs: list[KeyValue] = []


class KeyValue(Item):
    key: String = ""
    value: String = ""


class CopartitionGroup(Item):
    source_topics: list[Int16] = []
    source_topic_regex: list[Int16] = []
    repartition_source_topics: list[Int16] = []


class TaskIds(Item):
    subtopology_id: String = ""
    partitions: list[Int32] = []


class Endpoint(Item):
    host: String = ""
    port: Uint16 = 0


class TaskOffset(Item):
    subtopology_id: String = ""
    partition: Int32 = 0
    offset: Int64 = 0


class StreamsGroupHeartbeatResponse(Message):
    kafka = response(88, "0", flexible="0+")
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    member_id: String = ""
    member_epoch: Int32 = 0
    heartbeat_interval_ms: Int32 = 0
    acceptable_recovery_lag: Int32 = 0
    task_offset_interval_ms: Int32 = 0
    status: list[Status] | None = []
    active_tasks: list[TaskIds] | None = None
    standby_tasks: list[TaskIds] | None = None
    warmup_tasks: list[TaskIds] | None = None
    endpoint_information_epoch: Int32 = 0
    partitions_by_user_endpoint: list[EndpointToPartitions] | None = None


class Status(Item):
    status_code: Int8 = 0
    status_detail: String = ""


class EndpointToPartitions(Item):
    user_endpoint: Endpoint = field(default_factory=Endpoint)
    active_partitions: list[TopicPartition] = []
    standby_partitions: list[TopicPartition] = []


class TopicPartition(Item):
    topic: String = ""
    partitions: list[Int32] = []
