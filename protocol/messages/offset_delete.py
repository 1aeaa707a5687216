"""OffsetDelete (47): forget positions of a group (KIP-496). It never became flexible."""

from __future__ import annotations

from protocol.fields import Int16, Int32, Item, Message, String, request, response


class OffsetDeleteRequest(Message):
    kafka = request(47, "0", flexible="none")
    group_id: String = ""
    topics: list[OffsetDeleteRequestTopic] = []


class OffsetDeleteRequestTopic(Item):
    name: String = ""
    partitions: list[OffsetDeleteRequestPartition] = []


class OffsetDeleteRequestPartition(Item):
    partition_index: Int32 = 0


class OffsetDeleteResponse(Message):
    kafka = response(47, "0", flexible="none")
    error_code: Int16 = 0
    throttle_time_ms: Int32 = 0
    topics: list[OffsetDeleteResponseTopic] = []


class OffsetDeleteResponseTopic(Item):
    name: String = ""
    partitions: list[OffsetDeleteResponsePartition] = []


class OffsetDeleteResponsePartition(Item):
    partition_index: Int32 = 0
    error_code: Int16 = 0
