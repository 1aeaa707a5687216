"""ShareAcknowledge (79): accept, release, reject or renew acquired records (KIP-932).

Version 0 was early access and is gone. Version 2 adds renewing (KIP-1222).
"""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from protocol.fields import ZERO_UUID, Bool, Int8, Int16, Int32, Int64, Item, Message, String, Uuid, V, request, response


class ShareAcknowledgeRequest(Message):
    kafka = request(79, "1-2", flexible="0+")
    group_id: String | None = None
    member_id: String | None = ""
    share_session_epoch: Int32 = 0
    is_renew_ack: Annotated[Bool, V("2+")] = False
    topics: list[AcknowledgeTopic] = []


class AcknowledgeTopic(Item):
    topic_id: Uuid = ZERO_UUID
    partitions: list[AcknowledgePartition] = []


class AcknowledgePartition(Item):
    partition_index: Int32 = 0
    acknowledgement_batches: list[AcknowledgementBatch] = []


class AcknowledgementBatch(Item):
    first_offset: Int64 = 0
    last_offset: Int64 = 0
    acknowledge_types: list[Int8] = []


class ShareAcknowledgeResponse(Message):
    kafka = response(79, "1-2", flexible="0+")
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    acquisition_lock_timeout_ms: Annotated[Int32, V("2+", ignorable=True)] = 0
    responses: list[ShareAcknowledgeTopicResponse] = []
    node_endpoints: list[NodeEndpoint] = []


class ShareAcknowledgeTopicResponse(Item):
    topic_id: Uuid = ZERO_UUID
    partitions: list[PartitionData] = []


class LeaderIdAndEpoch(Item):
    leader_id: Int32 = 0
    leader_epoch: Int32 = 0


class PartitionData(Item):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    current_leader: LeaderIdAndEpoch = field(default_factory=LeaderIdAndEpoch)


class NodeEndpoint(Item):
    node_id: Int32 = 0
    host: String = ""
    port: Int32 = 0
    rack: String | None = None
