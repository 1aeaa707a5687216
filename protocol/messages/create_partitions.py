"""CreatePartitions (37): give topics more partitions (KIP-195). Version 3 adds THROTTLING_QUOTA_EXCEEDED (KIP-599)."""

from __future__ import annotations

from protocol.fields import Bool, Int16, Int32, Item, Message, String, request, response


class CreatePartitionsRequest(Message):
    kafka = request(37, "0-3", flexible="2+")
    topics: list[CreatePartitionsTopic] = []
    timeout_ms: Int32 = 0
    validate_only: Bool = False


class CreatePartitionsTopic(Item):
    name: String = ""
    count: Int32 = 0
    assignments: list[CreatePartitionsAssignment] | None = []


class CreatePartitionsAssignment(Item):
    broker_ids: list[Int32] = []


class CreatePartitionsResponse(Message):
    kafka = response(37, "0-3", flexible="2+")
    throttle_time_ms: Int32 = 0
    results: list[CreatePartitionsTopicResult] = []


class CreatePartitionsTopicResult(Item):
    name: String = ""
    error_code: Int16 = 0
    error_message: String | None = None
