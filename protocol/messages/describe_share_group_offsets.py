"""DescribeShareGroupOffsets (90): where share-partitions start (KIP-932). Version 1 adds the lag (KIP-1226)."""

from __future__ import annotations

from typing import Annotated

from protocol.fields import ZERO_UUID, Int16, Int32, Int64, Item, Message, String, Uuid, V, request, response


class DescribeShareGroupOffsetsRequest(Message):
    kafka = request(90, "0-1", flexible="0+")
    groups: list[DescribeShareGroupOffsetsRequestGroup] = []


class DescribeShareGroupOffsetsRequestGroup(Item):
    group_id: String = ""
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None = []


class DescribeShareGroupOffsetsRequestTopic(Item):
    topic_name: String = ""
    partitions: list[Int32] = []


class DescribeShareGroupOffsetsResponse(Message):
    kafka = response(90, "0-1", flexible="0+")
    throttle_time_ms: Int32 = 0
    groups: list[DescribeShareGroupOffsetsResponseGroup] = []


class DescribeShareGroupOffsetsResponseGroup(Item):
    group_id: String = ""
    topics: list[DescribeShareGroupOffsetsResponseTopic] = []
    error_code: Int16 = 0
    error_message: String | None = None


class DescribeShareGroupOffsetsResponseTopic(Item):
    topic_name: String = ""
    topic_id: Uuid = ZERO_UUID
    partitions: list[DescribeShareGroupOffsetsResponsePartition] = []


class DescribeShareGroupOffsetsResponsePartition(Item):
    partition_index: Int32 = 0
    start_offset: Int64 = 0
    leader_epoch: Int32 = 0
    lag: Annotated[Int64, V("1+", ignorable=True)] = -1
    error_code: Int16 = 0
    error_message: String | None = None
