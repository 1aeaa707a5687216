"""ReadShareGroupStateSummary (87): only where share-partitions start (KIP-932).

Version 1 adds the number of records delivered (KIP-1226).
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import ZERO_UUID, Int16, Int32, Int64, Item, Message, String, Uuid, V, request, response


class ReadShareGroupStateSummaryRequest(Message):
    kafka = request(87, "0-1", flexible="0+")
    group_id: String = ""
    topics: list[ReadStateSummaryData] = []


class ReadStateSummaryData(Item):
    topic_id: Uuid = ZERO_UUID
    partitions: list[PartitionData] = []


class PartitionData(Item):
    partition: Int32 = 0
    leader_epoch: Int32 = 0


class ReadShareGroupStateSummaryResponse(Message):
    kafka = response(87, "0-1", flexible="0+")
    results: list[ReadStateSummaryResult] = []


class ReadStateSummaryResult(Item):
    topic_id: Uuid = ZERO_UUID
    partitions: list[PartitionResult] = []


class PartitionResult(Item):
    partition: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    state_epoch: Int32 = 0
    leader_epoch: Int32 = 0
    start_offset: Int64 = 0
    delivery_complete_count: Annotated[Int32, V("1+", ignorable=True)] = -1
