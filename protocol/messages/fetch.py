"""Fetch (1): records of many partitions.

Version 7 adds fetch sessions (KIP-227), 9 leader epochs (KIP-320), 11 the rack (KIP-392), 13 topic ids instead of names
(KIP-516), 15 the replica's state as a tagged field, 16 the endpoints of new leaders (KIP-951), 17 the replica's directory, 18
its high watermark.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from protocol.fields import ZERO_UUID, Int8, Int16, Int32, Int64, Item, Message, Records, String, Uuid, V, request, response


class ReplicaState(Item):
    replica_id: Int32 = -1
    replica_epoch: Int64 = -1


class FetchRequest(Message):
    kafka = request(1, "4-18", flexible="12+")
    cluster_id: Annotated[String | None, V("12+", ignorable=True, tag=0)] = None
    replica_id: Annotated[Int32, V("0-14")] = -1
    replica_state: Annotated[ReplicaState, V("15+", tag=1)] = field(default_factory=ReplicaState)
    max_wait_ms: Int32 = 0
    min_bytes: Int32 = 0
    max_bytes: Int32 = 0x7FFFFFFF
    isolation_level: Int8 = 0
    session_id: Annotated[Int32, V("7+", ignorable=True)] = 0
    session_epoch: Annotated[Int32, V("7+", ignorable=True)] = -1
    topics: list[FetchTopic] = []
    forgotten_topics_data: Annotated[list[ForgottenTopic], V("7+")] = []
    rack_id: Annotated[String, V("11+", ignorable=True)] = ""


class FetchTopic(Item):
    topic: Annotated[String, V("0-12", ignorable=True)] = ""
    topic_id: Annotated[Uuid, V("13+", ignorable=True)] = ZERO_UUID
    partitions: list[FetchPartition] = []


class FetchPartition(Item):
    partition: Int32 = 0
    current_leader_epoch: Annotated[Int32, V("9+", ignorable=True)] = -1
    fetch_offset: Int64 = 0
    last_fetched_epoch: Annotated[Int32, V("12+")] = -1
    log_start_offset: Annotated[Int64, V("5+", ignorable=True)] = -1
    partition_max_bytes: Int32 = 0
    replica_directory_id: Annotated[Uuid, V("17+", ignorable=True, tag=0)] = ZERO_UUID
    high_watermark: Annotated[Int64, V("18+", ignorable=True, tag=1)] = 0x7FFFFFFFFFFFFFFF


class ForgottenTopic(Item):
    topic: Annotated[String, V("7-12", ignorable=True)] = ""
    topic_id: Annotated[Uuid, V("13+", ignorable=True)] = ZERO_UUID
    partitions: list[Int32] = []


class FetchResponse(Message):
    kafka = response(1, "4-18", flexible="12+")
    throttle_time_ms: Int32 = 0
    error_code: Annotated[Int16, V("7+", ignorable=True)] = 0
    session_id: Annotated[Int32, V("7+")] = 0
    responses: list[FetchableTopicResponse] = []
    node_endpoints: Annotated[list[NodeEndpoint], V("16+", tag=0)] = []


class FetchableTopicResponse(Item):
    topic: Annotated[String, V("0-12", ignorable=True)] = ""
    topic_id: Annotated[Uuid, V("13+", ignorable=True)] = ZERO_UUID
    partitions: list[PartitionData] = []


class EpochEndOffset(Item):
    epoch: Int32 = -1
    end_offset: Int64 = -1


class LeaderIdAndEpoch(Item):
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1


class SnapshotId(Item):
    end_offset: Int64 = -1
    epoch: Int32 = -1


class PartitionData(Item):
    partition_index: Int32 = 0
    error_code: Int16 = 0
    high_watermark: Int64 = 0
    last_stable_offset: Int64 = -1
    log_start_offset: Annotated[Int64, V("5+", ignorable=True)] = -1
    diverging_epoch: Annotated[EpochEndOffset, V("12+", tag=0)] = field(default_factory=EpochEndOffset)
    current_leader: Annotated[LeaderIdAndEpoch, V("12+", tag=1)] = field(default_factory=LeaderIdAndEpoch)
    snapshot_id: Annotated[SnapshotId, V("12+", tag=2)] = field(default_factory=SnapshotId)
    aborted_transactions: list[AbortedTransaction] | None = []
    preferred_read_replica: Annotated[Int32, V("11+")] = -1
    records: Records | None = b""


class AbortedTransaction(Item):
    producer_id: Int64 = 0
    first_offset: Int64 = 0


class NodeEndpoint(Item):
    node_id: Int32 = 0
    host: String = ""
    port: Int32 = 0
    rack: String | None = None
