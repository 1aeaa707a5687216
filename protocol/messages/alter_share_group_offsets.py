"""AlterShareGroupOffsets (91): move where share-partitions start, while the group is empty (KIP-932)."""

from __future__ import annotations

from protocol.fields import ZERO_UUID, Int16, Int32, Int64, Item, Message, String, Uuid, request, response


class AlterShareGroupOffsetsRequest(Message):
    kafka = request(91, "0", flexible="0+")
    group_id: String = ""
    topics: list[AlterShareGroupOffsetsRequestTopic] = []


class AlterShareGroupOffsetsRequestTopic(Item):
    topic_name: String = ""
    partitions: list[AlterShareGroupOffsetsRequestPartition] = []


class AlterShareGroupOffsetsRequestPartition(Item):
    partition_index: Int32 = 0
    start_offset: Int64 = 0


class AlterShareGroupOffsetsResponse(Message):
    kafka = response(91, "0", flexible="0+")
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    responses: list[AlterShareGroupOffsetsResponseTopic] = []


class AlterShareGroupOffsetsResponseTopic(Item):
    topic_name: String = ""
    topic_id: Uuid = ZERO_UUID
    partitions: list[AlterShareGroupOffsetsResponsePartition] = []


class AlterShareGroupOffsetsResponsePartition(Item):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
