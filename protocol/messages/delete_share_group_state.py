"""DeleteShareGroupState (86): the group coordinator removes share-partitions from the share coordinator (KIP-932)."""

from __future__ import annotations

from protocol.fields import ZERO_UUID, Int16, Int32, Item, Message, String, Uuid, request, response


class DeleteShareGroupStateRequest(Message):
    kafka = request(86, "0", flexible="0+")
    group_id: String = ""
    topics: list[DeleteStateData] = []


class DeleteStateData(Item):
    topic_id: Uuid = ZERO_UUID
    partitions: list[PartitionData] = []


class PartitionData(Item):
    partition: Int32 = 0


class DeleteShareGroupStateResponse(Message):
    kafka = response(86, "0", flexible="0+")
    results: list[DeleteStateResult] = []


class DeleteStateResult(Item):
    topic_id: Uuid = ZERO_UUID
    partitions: list[PartitionResult] = []


class PartitionResult(Item):
    partition: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
