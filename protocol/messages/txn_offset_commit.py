"""TxnOffsetCommit (28): store positions that count once the transaction commits (KIP-98).

Version 2 adds leader epochs (KIP-320), 3 the member, so that zombies are fenced (KIP-447), 5 adds the group to the transaction
too (KIP-890).
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Int16, Int32, Int64, Item, Message, String, V, request, response


class TxnOffsetCommitRequest(Message):
    kafka = request(28, "0-5", flexible="3+")
    transactional_id: String = ""
    group_id: String = ""
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    generation_id: Annotated[Int32, V("3+")] = -1
    member_id: Annotated[String, V("3+")] = ""
    group_instance_id: Annotated[String | None, V("3+")] = None
    topics: list[TxnOffsetCommitRequestTopic] = []


class TxnOffsetCommitRequestTopic(Item):
    name: String = ""
    partitions: list[TxnOffsetCommitRequestPartition] = []


class TxnOffsetCommitRequestPartition(Item):
    partition_index: Int32 = 0
    committed_offset: Int64 = 0
    committed_leader_epoch: Annotated[Int32, V("2+", ignorable=True)] = -1
    committed_metadata: String | None = ""


class TxnOffsetCommitResponse(Message):
    kafka = response(28, "0-5", flexible="3+")
    throttle_time_ms: Int32 = 0
    topics: list[TxnOffsetCommitResponseTopic] = []


class TxnOffsetCommitResponseTopic(Item):
    name: String = ""
    partitions: list[TxnOffsetCommitResponsePartition] = []


class TxnOffsetCommitResponsePartition(Item):
    partition_index: Int32 = 0
    error_code: Int16 = 0
