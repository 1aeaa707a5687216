"""WriteShareGroupState (85): a partition leader stores changed states of share-partitions (KIP-932).

Version 1 adds the number of records delivered (KIP-1226).
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import ZERO_UUID, Int8, Int16, Int32, Int64, Item, Message, String, Uuid, V, request, response


class WriteShareGroupStateRequest(Message):
    kafka = request(85, "0-1", flexible="0+")
    group_id: String = ""
    topics: list[WriteStateData] = []


class WriteStateData(Item):
    topic_id: Uuid = ZERO_UUID
    partitions: list[PartitionData] = []


class PartitionData(Item):
    partition: Int32 = 0
    state_epoch: Int32 = 0
    leader_epoch: Int32 = 0
    start_offset: Int64 = 0
    delivery_complete_count: Annotated[Int32, V("1+", ignorable=True)] = -1
    state_batches: list[StateBatch] = []


class StateBatch(Item):
    first_offset: Int64 = 0
    last_offset: Int64 = 0
    delivery_state: Int8 = 0
    delivery_count: Int16 = 0


class WriteShareGroupStateResponse(Message):
    kafka = response(85, "0-1", flexible="0+")
    results: list[WriteStateResult] = []


class WriteStateResult(Item):
    topic_id: Uuid = ZERO_UUID
    partitions: list[PartitionResult] = []


class PartitionResult(Item):
    partition: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
