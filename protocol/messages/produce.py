"""Produce (0): append records to partitions.

Version 8 says which records of a refused batch were wrong (KIP-467), 10 names the current leader as a tagged field (KIP-951), 12
adds the partitions to the transaction too (KIP-890), 13 names topics by id instead of name (KIP-516).
"""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from protocol.fields import ZERO_UUID, Int16, Int32, Int64, Item, Message, Records, String, Uuid, V, request, response


class ProduceRequest(Message):
    kafka = request(0, "3-13", flexible="9+")
    transactional_id: String | None = None
    acks: Int16 = 0
    timeout_ms: Int32 = 0
    topic_data: list[TopicProduceData] = []


class TopicProduceData(Item):
    name: Annotated[String, V("0-12", ignorable=True)] = ""
    topic_id: Annotated[Uuid, V("13+", ignorable=True)] = ZERO_UUID
    partition_data: list[PartitionProduceData] = []


class PartitionProduceData(Item):
    index: Int32 = 0
    records: Records | None = b""


class ProduceResponse(Message):
    kafka = response(0, "3-13", flexible="9+")
    responses: list[TopicProduceResponse] = []
    throttle_time_ms: Int32 = 0
    node_endpoints: Annotated[list[NodeEndpoint], V("10+", tag=0)] = []


class TopicProduceResponse(Item):
    name: Annotated[String, V("0-12", ignorable=True)] = ""
    topic_id: Annotated[Uuid, V("13+", ignorable=True)] = ZERO_UUID
    partition_responses: list[PartitionProduceResponse] = []


class LeaderIdAndEpoch(Item):
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1


class PartitionProduceResponse(Item):
    index: Int32 = 0
    error_code: Int16 = 0
    base_offset: Int64 = 0
    log_append_time_ms: Int64 = -1
    log_start_offset: Annotated[Int64, V("5+", ignorable=True)] = -1
    record_errors: Annotated[list[BatchIndexAndErrorMessage], V("8+", ignorable=True)] = []
    error_message: Annotated[String | None, V("8+", ignorable=True)] = None
    current_leader: Annotated[LeaderIdAndEpoch, V("10+", tag=0)] = field(default_factory=LeaderIdAndEpoch)


class BatchIndexAndErrorMessage(Item):
    batch_index: Int32 = 0
    batch_index_error_message: String | None = None


class NodeEndpoint(Item):
    node_id: Int32 = 0
    host: String = ""
    port: Int32 = 0
    rack: String | None = None
