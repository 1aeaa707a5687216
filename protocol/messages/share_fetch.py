"""ShareFetch (78): acquire records of share-partitions and acknowledge earlier ones (KIP-932).

Version 0 was early access and is gone. Version 2 lets acknowledgements renew the lock (KIP-1222) and adds the acquire mode
(KIP-1206).
"""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from protocol.fields import ZERO_UUID, Bool, Int8, Int16, Int32, Int64, Item, Message, Records, String, Uuid, V, request, response


class ShareFetchRequest(Message):
    kafka = request(78, "1-2", flexible="0+")
    group_id: String | None = None
    member_id: String | None = ""
    share_session_epoch: Int32 = 0
    max_wait_ms: Int32 = 0
    min_bytes: Int32 = 0
    max_bytes: Int32 = 0x7FFFFFFF
    max_records: Int32 = 0
    batch_size: Int32 = 0
    share_acquire_mode: Annotated[Int8, V("2+", ignorable=True)] = 0
    is_renew_ack: Annotated[Bool, V("2+")] = False
    topics: list[FetchTopic] = []
    forgotten_topics_data: list[ForgottenTopic] = []


class FetchTopic(Item):
    topic_id: Uuid = ZERO_UUID
    partitions: list[FetchPartition] = []


class FetchPartition(Item):
    partition_index: Int32 = 0
    partition_max_bytes: Annotated[Int32, V("0")] = 0
    acknowledgement_batches: list[AcknowledgementBatch] = []


class AcknowledgementBatch(Item):
    first_offset: Int64 = 0
    last_offset: Int64 = 0
    acknowledge_types: list[Int8] = []


class ForgottenTopic(Item):
    topic_id: Uuid = ZERO_UUID
    partitions: list[Int32] = []


class ShareFetchResponse(Message):
    kafka = response(78, "1-2", flexible="0+")
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    acquisition_lock_timeout_ms: Int32 = 0
    responses: list[ShareFetchableTopicResponse] = []
    node_endpoints: list[NodeEndpoint] = []


class ShareFetchableTopicResponse(Item):
    topic_id: Uuid = ZERO_UUID
    partitions: list[PartitionData] = []


class LeaderIdAndEpoch(Item):
    leader_id: Int32 = 0
    leader_epoch: Int32 = 0


class PartitionData(Item):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    acknowledge_error_code: Int16 = 0
    acknowledge_error_message: String | None = None
    current_leader: LeaderIdAndEpoch = field(default_factory=LeaderIdAndEpoch)
    records: Records = b""
    acquired_records: list[AcquiredRecords] = []


class AcquiredRecords(Item):
    first_offset: Int64 = 0
    last_offset: Int64 = 0
    delivery_count: Int16 = 0


class NodeEndpoint(Item):
    node_id: Int32 = 0
    host: String = ""
    port: Int32 = 0
    rack: String | None = None
