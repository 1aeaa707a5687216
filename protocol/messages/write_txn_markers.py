"""WriteTxnMarkers (27): the transaction coordinator ends transactions in partitions (KIP-98).

Version 2 adds the transaction's version (KIP-1228).
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Bool, Int8, Int16, Int32, Int64, Item, Message, String, V, request, response


class WriteTxnMarkersRequest(Message):
    kafka = request(27, "1-2", flexible="1+")
    markers: list[WritableTxnMarker] = []


class WritableTxnMarker(Item):
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    transaction_result: Bool = False
    topics: list[WritableTxnMarkerTopic] = []
    coordinator_epoch: Int32 = 0
    transaction_version: Annotated[Int8, V("2+", ignorable=True)] = 0


class WritableTxnMarkerTopic(Item):
    name: String = ""
    partition_indexes: list[Int32] = []


class WriteTxnMarkersResponse(Message):
    kafka = response(27, "1-2", flexible="1+")
    markers: list[WritableTxnMarkerResult] = []


class WritableTxnMarkerResult(Item):
    producer_id: Int64 = 0
    topics: list[WritableTxnMarkerTopicResult] = []


class WritableTxnMarkerTopicResult(Item):
    name: String = ""
    partitions: list[WritableTxnMarkerPartitionResult] = []


class WritableTxnMarkerPartitionResult(Item):
    partition_index: Int32 = 0
    error_code: Int16 = 0
