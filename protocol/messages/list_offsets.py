"""ListOffsets (2): the offset of a time in each partition.

Version 2 adds the isolation level (KIP-98), 4 leader epochs (KIP-320), 7 the offset of the largest timestamp (KIP-734), 8 and 9
tiered storage (KIP-405, KIP-1005), 10 a timeout (KIP-1075).
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Int8, Int16, Int32, Int64, Item, Message, String, V, request, response


class ListOffsetsRequest(Message):
    kafka = request(2, "1-11", flexible="6+")
    replica_id: Int32 = 0
    isolation_level: Annotated[Int8, V("2+")] = 0
    topics: list[ListOffsetsTopic] = []
    timeout_ms: Annotated[Int32, V("10+", ignorable=True)] = 0


class ListOffsetsTopic(Item):
    name: String = ""
    partitions: list[ListOffsetsPartition] = []


class ListOffsetsPartition(Item):
    partition_index: Int32 = 0
    current_leader_epoch: Annotated[Int32, V("4+", ignorable=True)] = -1
    timestamp: Int64 = 0


class ListOffsetsResponse(Message):
    kafka = response(2, "1-11", flexible="6+")
    throttle_time_ms: Annotated[Int32, V("2+", ignorable=True)] = 0
    topics: list[ListOffsetsTopicResponse] = []


class ListOffsetsTopicResponse(Item):
    name: String = ""
    partitions: list[ListOffsetsPartitionResponse] = []


class ListOffsetsPartitionResponse(Item):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    timestamp: Int64 = -1
    offset: Int64 = -1
    leader_epoch: Annotated[Int32, V("4+")] = -1
