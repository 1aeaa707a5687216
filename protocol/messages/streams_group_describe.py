"""StreamsGroupDescribe (89): groups of Kafka Streams: topology, members and their tasks (KIP-1071)."""

from __future__ import annotations

from msgspec import field

from protocol.fields import Bool, Int16, Int32, Int64, Item, Message, String, Uint16, request, response


class StreamsGroupDescribeRequest(Message):
    kafka = request(89, "0", flexible="0+")
    group_ids: list[String] = []
    include_authorized_operations: Bool = False


class StreamsGroupDescribeResponse(Message):
    kafka = response(89, "0", flexible="0+")
    throttle_time_ms: Int32 = 0
    groups: list[DescribedGroup] = []


class DescribedGroup(Item):
    error_code: Int16 = 0
    error_message: String | None = None
    group_id: String = ""
    group_state: String = ""
    group_epoch: Int32 = 0
    assignment_epoch: Int32 = 0
    topology: Topology | None = None
    members: list[Member] = []
    authorized_operations: Int32 = -(2**31)


class Topology(Item):
    epoch: Int32 = 0
    subtopologies: list[Subtopology] | None = None


class Subtopology(Item):
    subtopology_id: String = ""
    source_topics: list[String] = []
    repartition_sink_topics: list[String] = []
    state_changelog_topics: list[TopicInfo] = []
    repartition_source_topics: list[TopicInfo] = []


class TopicInfo(Item):
    name: String = ""
    partitions: Int32 = 0
    replication_factor: Int16 = 0
    topic_configs: list[KeyValue] = []


class KeyValue(Item):
    key: String = ""
    value: String = ""


class Assignment(Item):
    active_tasks: list[TaskIds] = []
    standby_tasks: list[TaskIds] = []
    warmup_tasks: list[TaskIds] = []


class Member(Item):
    member_id: String = ""
    member_epoch: Int32 = 0
    instance_id: String | None = None
    rack_id: String | None = None
    client_id: String = ""
    client_host: String = ""
    topology_epoch: Int32 = 0
    process_id: String = ""
    user_endpoint: Endpoint | None = None
    client_tags: list[KeyValue] = []
    task_offsets: list[TaskOffset] = []
    task_end_offsets: list[TaskOffset] = []
    assignment: Assignment = field(default_factory=Assignment)
    target_assignment: Assignment = field(default_factory=Assignment)
    is_classic: Bool = False


class Endpoint(Item):
    host: String = ""
    port: Uint16 = 0


class TaskOffset(Item):
    subtopology_id: String = ""
    partition: Int32 = 0
    offset: Int64 = 0


class TaskIds(Item):
    subtopology_id: String = ""
    partitions: list[Int32] = []
