"""OffsetCommit (8): store the positions of a group.

Versions 2-4 carry a retention time, 6 adds leader epochs (KIP-320), 7 static membership (KIP-345), 9 serves KIP-848 members, 10
names topics by id instead of name.
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import ZERO_UUID, Int16, Int32, Int64, Item, Message, String, Uuid, V, request, response


class OffsetCommitRequest(Message):
    kafka = request(8, "2-10", flexible="8+")
    group_id: String = ""
    generation_id_or_member_epoch: Int32 = -1
    member_id: String = ""
    group_instance_id: Annotated[String | None, V("7+")] = None
    retention_time_ms: Annotated[Int64, V("2-4", ignorable=True)] = -1
    topics: list[OffsetCommitRequestTopic] = []


class OffsetCommitRequestTopic(Item):
    name: Annotated[String, V("0-9", ignorable=True)] = ""
    topic_id: Annotated[Uuid, V("10+", ignorable=True)] = ZERO_UUID
    partitions: list[OffsetCommitRequestPartition] = []


class OffsetCommitRequestPartition(Item):
    partition_index: Int32 = 0
    committed_offset: Int64 = 0
    committed_leader_epoch: Annotated[Int32, V("6+", ignorable=True)] = -1
    committed_metadata: String | None = ""


class OffsetCommitResponse(Message):
    kafka = response(8, "2-10", flexible="8+")
    throttle_time_ms: Annotated[Int32, V("3+", ignorable=True)] = 0
    topics: list[OffsetCommitResponseTopic] = []


class OffsetCommitResponseTopic(Item):
    name: Annotated[String, V("0-9", ignorable=True)] = ""
    topic_id: Annotated[Uuid, V("10+", ignorable=True)] = ZERO_UUID
    partitions: list[OffsetCommitResponsePartition] = []


class OffsetCommitResponsePartition(Item):
    partition_index: Int32 = 0
    error_code: Int16 = 0
