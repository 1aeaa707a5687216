"""DeleteRecords (21): move the start of partitions forward (KIP-107)."""

from __future__ import annotations

from protocol.fields import Int16, Int32, Int64, Item, Message, String, request, response


class DeleteRecordsRequest(Message):
    kafka = request(21, "0-2", flexible="2+")
    topics: list[DeleteRecordsTopic] = []
    timeout_ms: Int32 = 0


class DeleteRecordsTopic(Item):
    name: String = ""
    partitions: list[DeleteRecordsPartition] = []


class DeleteRecordsPartition(Item):
    partition_index: Int32 = 0
    offset: Int64 = 0


class DeleteRecordsResponse(Message):
    kafka = response(21, "0-2", flexible="2+")
    throttle_time_ms: Int32 = 0
    topics: list[DeleteRecordsTopicResult] = []


class DeleteRecordsTopicResult(Item):
    name: String = ""
    partitions: list[DeleteRecordsPartitionResult] = []


class DeleteRecordsPartitionResult(Item):
    partition_index: Int32 = 0
    low_watermark: Int64 = 0
    error_code: Int16 = 0
