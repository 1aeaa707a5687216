"""DescribeProducers (61): the active producers of partitions (KIP-664)."""

from __future__ import annotations

from protocol.fields import Int16, Int32, Int64, Item, Message, String, request, response


class DescribeProducersRequest(Message):
    kafka = request(61, "0", flexible="0+")
    topics: list[TopicRequest] = []


class TopicRequest(Item):
    name: String = ""
    partition_indexes: list[Int32] = []


class DescribeProducersResponse(Message):
    kafka = response(61, "0", flexible="0+")
    throttle_time_ms: Int32 = 0
    topics: list[TopicResponse] = []


class TopicResponse(Item):
    name: String = ""
    partitions: list[PartitionResponse] = []


class PartitionResponse(Item):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    active_producers: list[ProducerState] = []


class ProducerState(Item):
    producer_id: Int64 = 0
    producer_epoch: Int32 = 0
    last_sequence: Int32 = -1
    last_timestamp: Int64 = -1
    coordinator_epoch: Int32 = 0
    current_txn_start_offset: Int64 = -1
