"""OffsetForLeaderEpoch (23): where an epoch of a partition's leader ended, so that a truncated log is noticed (KIP-320).

Version 3 adds the replica that asks.
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Int16, Int32, Int64, Item, Message, String, V, request, response


class OffsetForLeaderEpochRequest(Message):
    kafka = request(23, "2-4", flexible="4+")
    replica_id: Annotated[Int32, V("3+", ignorable=True)] = -2
    topics: list[OffsetForLeaderTopic] = []


class OffsetForLeaderTopic(Item):
    topic: String = ""
    partitions: list[OffsetForLeaderPartition] = []


class OffsetForLeaderPartition(Item):
    partition: Int32 = 0
    current_leader_epoch: Int32 = -1
    leader_epoch: Int32 = 0


class OffsetForLeaderEpochResponse(Message):
    kafka = response(23, "2-4", flexible="4+")
    throttle_time_ms: Int32 = 0
    topics: list[OffsetForLeaderTopicResult] = []


class OffsetForLeaderTopicResult(Item):
    topic: String = ""
    partitions: list[EpochEndOffset] = []


class EpochEndOffset(Item):
    error_code: Int16 = 0
    partition: Int32 = 0
    leader_epoch: Int32 = -1
    end_offset: Int64 = -1
