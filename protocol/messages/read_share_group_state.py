"""ReadShareGroupState (84): a partition leader loads the state of share-partitions (KIP-932)."""

from __future__ import annotations

from protocol.fields import ZERO_UUID, Int8, Int16, Int32, Int64, Item, Message, String, Uuid, request, response


class ReadShareGroupStateRequest(Message):
    kafka = request(84, "0", flexible="0+")
    group_id: String = ""
    topics: list[ReadStateData] = []


class ReadStateData(Item):
    topic_id: Uuid = ZERO_UUID
    partitions: list[PartitionData] = []


class PartitionData(Item):
    partition: Int32 = 0
    leader_epoch: Int32 = 0


class ReadShareGroupStateResponse(Message):
    kafka = response(84, "0", flexible="0+")
    results: list[ReadStateResult] = []


class ReadStateResult(Item):
    topic_id: Uuid = ZERO_UUID
    partitions: list[PartitionResult] = []


class PartitionResult(Item):
    partition: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    state_epoch: Int32 = 0
    start_offset: Int64 = 0
    state_batches: list[StateBatch] = []


class StateBatch(Item):
    first_offset: Int64 = 0
    last_offset: Int64 = 0
    delivery_state: Int8 = 0
    delivery_count: Int16 = 0
