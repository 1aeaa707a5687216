"""OffsetFetch (9): the stored positions of groups.

Version 2 lets null ask for every topic, 5 adds leader epochs (KIP-320), 7 require_stable (KIP-447), 8 asks for many groups at
once (KIP-709), 9 carries the member's epoch (KIP-848), 10 names topics by id instead of name.
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import ZERO_UUID, Bool, Int16, Int32, Int64, Item, Message, String, Uuid, V, request, response


class OffsetFetchRequest(Message):
    kafka = request(9, "1-10", flexible="6+")
    group_id: Annotated[String, V("0-7")] = ""
    topics: Annotated[list[OffsetFetchRequestTopic] | None, V("0-7", nullable="2-7")] = []
    groups: Annotated[list[OffsetFetchRequestGroup], V("8+")] = []
    require_stable: Annotated[Bool, V("7+")] = False


class OffsetFetchRequestTopic(Item):
    name: String = ""
    partition_indexes: list[Int32] = []


class OffsetFetchRequestGroup(Item):
    group_id: String = ""
    member_id: Annotated[String | None, V("9+", ignorable=True)] = None
    member_epoch: Annotated[Int32, V("9+", ignorable=True)] = -1
    topics: list[OffsetFetchRequestTopics] | None = []


class OffsetFetchRequestTopics(Item):
    name: Annotated[String, V("8-9", ignorable=True)] = ""
    topic_id: Annotated[Uuid, V("10+", ignorable=True)] = ZERO_UUID
    partition_indexes: list[Int32] = []


class OffsetFetchResponse(Message):
    kafka = response(9, "1-10", flexible="6+")
    throttle_time_ms: Annotated[Int32, V("3+", ignorable=True)] = 0
    topics: Annotated[list[OffsetFetchResponseTopic], V("0-7")] = []
    error_code: Annotated[Int16, V("2-7", ignorable=True)] = 0
    groups: Annotated[list[OffsetFetchResponseGroup], V("8+")] = []


class OffsetFetchResponseTopic(Item):
    name: String = ""
    partitions: list[OffsetFetchResponsePartition] = []


class OffsetFetchResponsePartition(Item):
    partition_index: Int32 = 0
    committed_offset: Int64 = 0
    committed_leader_epoch: Annotated[Int32, V("5-7", ignorable=True)] = -1
    metadata: String | None = ""
    error_code: Int16 = 0


class OffsetFetchResponseGroup(Item):
    group_id: String = ""
    topics: list[OffsetFetchResponseTopics] = []
    error_code: Int16 = 0


class OffsetFetchResponseTopics(Item):
    name: Annotated[String, V("8-9", ignorable=True)] = ""
    topic_id: Annotated[Uuid, V("10+", ignorable=True)] = ZERO_UUID
    partitions: list[OffsetFetchResponsePartitions] = []


class OffsetFetchResponsePartitions(Item):
    partition_index: Int32 = 0
    committed_offset: Int64 = 0
    committed_leader_epoch: Annotated[Int32, V(ignorable=True)] = -1
    metadata: String | None = ""
    error_code: Int16 = 0
