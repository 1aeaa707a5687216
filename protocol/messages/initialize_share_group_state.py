"""InitializeShareGroupState (83): the group coordinator sets up share-partitions at the share coordinator (KIP-932)."""

from __future__ import annotations

from protocol.fields import ZERO_UUID, Int16, Int32, Int64, Item, Message, String, Uuid, request, response


class InitializeShareGroupStateRequest(Message):
    kafka = request(83, "0", flexible="0+")
    group_id: String = ""
    topics: list[InitializeStateData] = []


class InitializeStateData(Item):
    topic_id: Uuid = ZERO_UUID
    partitions: list[PartitionData] = []


class PartitionData(Item):
    partition: Int32 = 0
    state_epoch: Int32 = 0
    start_offset: Int64 = 0


class InitializeShareGroupStateResponse(Message):
    kafka = response(83, "0", flexible="0+")
    results: list[InitializeStateResult] = []


class InitializeStateResult(Item):
    topic_id: Uuid = ZERO_UUID
    partitions: list[PartitionResult] = []


class PartitionResult(Item):
    partition: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
