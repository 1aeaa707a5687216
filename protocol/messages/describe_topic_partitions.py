"""DescribeTopicPartitions (75): metadata of topics in pages, with eligible leader replicas (KIP-966)."""

from __future__ import annotations

from protocol.fields import ZERO_UUID, Bool, Int16, Int32, Item, Message, String, Uuid, request, response


class DescribeTopicPartitionsRequest(Message):
    kafka = request(75, "0", flexible="0+")
    topics: list[TopicRequest] = []
    response_partition_limit: Int32 = 2000
    cursor: Cursor | None = None


class TopicRequest(Item):
    name: String = ""


class Cursor(Item):
    topic_name: String = ""
    partition_index: Int32 = 0


class DescribeTopicPartitionsResponse(Message):
    kafka = response(75, "0", flexible="0+")
    throttle_time_ms: Int32 = 0
    topics: list[DescribeTopicPartitionsResponseTopic] = []
    next_cursor: Cursor | None = None


class DescribeTopicPartitionsResponseTopic(Item):
    error_code: Int16 = 0
    name: String | None = ""
    topic_id: Uuid = ZERO_UUID
    is_internal: Bool = False
    partitions: list[DescribeTopicPartitionsResponsePartition] = []
    topic_authorized_operations: Int32 = -(2**31)


class DescribeTopicPartitionsResponsePartition(Item):
    error_code: Int16 = 0
    partition_index: Int32 = 0
    leader_id: Int32 = 0
    leader_epoch: Int32 = -1
    replica_nodes: list[Int32] = []
    isr_nodes: list[Int32] = []
    eligible_leader_replicas: list[Int32] | None = None
    last_known_elr: list[Int32] | None = None
    offline_replicas: list[Int32] = []
