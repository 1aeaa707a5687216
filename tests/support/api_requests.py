"""One request of each API that is served, about the group ``g``, the topic ``t`` and the producer ``p``."""

from __future__ import annotations

from typing import Final

from protocol.fields import Message
from protocol.messages import delete_share_group_state as delete_state
from protocol.messages import initialize_share_group_state as initialize_state
from protocol.messages import read_share_group_state as read_state
from protocol.messages import read_share_group_state_summary as read_summary
from protocol.messages import write_share_group_state as write_state
from protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from protocol.messages.alter_client_quotas import AlterClientQuotasRequest, EntityData, OpData, RequestEntryData
from protocol.messages.alter_configs import AlterConfigsRequest
from protocol.messages.alter_configs import AlterConfigsResource as ReplacedResource
from protocol.messages.alter_share_group_offsets import AlterShareGroupOffsetsRequest
from protocol.messages.alter_user_scram_credentials import AlterUserScramCredentialsRequest, ScramCredentialDeletion
from protocol.messages.api_versions import ApiVersionsRequest
from protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from protocol.messages.create_acls import AclCreation, CreateAclsRequest
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from protocol.messages.delete_groups import DeleteGroupsRequest
from protocol.messages.delete_share_group_offsets import DeleteShareGroupOffsetsRequest
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from protocol.messages.describe_acls import DescribeAclsRequest
from protocol.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from protocol.messages.describe_cluster import DescribeClusterRequest
from protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from protocol.messages.describe_groups import DescribeGroupsRequest
from protocol.messages.describe_producers import DescribeProducersRequest
from protocol.messages.describe_producers import TopicRequest as ProducersTopic
from protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from protocol.messages.describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest
from protocol.messages.describe_transactions import DescribeTransactionsRequest
from protocol.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from protocol.messages.end_txn import EndTxnRequest
from protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from protocol.messages.find_coordinator import FindCoordinatorRequest
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.incremental_alter_configs import AlterConfigsResource, IncrementalAlterConfigsRequest
from protocol.messages.init_producer_id import InitProducerIdRequest
from protocol.messages.join_group import JoinGroupRequest
from protocol.messages.leave_group import LeaveGroupRequest
from protocol.messages.list_config_resources import ListConfigResourcesRequest
from protocol.messages.list_groups import ListGroupsRequest
from protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from protocol.messages.list_transactions import ListTransactionsRequest
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_delete import OffsetDeleteRequest
from protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from protocol.messages.sasl_handshake import SaslHandshakeRequest
from protocol.messages.share_acknowledge import AcknowledgeTopic, ShareAcknowledgeRequest
from protocol.messages.share_fetch import FetchPartition as SharePartition
from protocol.messages.share_fetch import FetchTopic as ShareTopic
from protocol.messages.share_fetch import ShareFetchRequest
from protocol.messages.share_group_describe import ShareGroupDescribeRequest
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest, Subtopology, Topology
from protocol.messages.sync_group import SyncGroupRequest
from protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from protocol.messages.write_txn_markers import WritableTxnMarker, WritableTxnMarkerTopic, WriteTxnMarkersRequest

_PARTITIONS: Final = [AddPartitionsToTxnTopic("t", [0])]
_TOPIC_ID: Final = b"0123456789abcdef"
_NEWEST: Final[dict[str, Message]] = {
    type(request).__name__.removesuffix("Request"): request
    for request in (
        AddOffsetsToTxnRequest("p", 1, 0, "g"),
        AddPartitionsToTxnRequest([AddPartitionsToTxnTransaction("p", 1, 0, topics=_PARTITIONS)]),
        AlterClientQuotasRequest([RequestEntryData([EntityData("user", "u")], [OpData("request_percentage", 10.0)])]),
        AlterConfigsRequest([ReplacedResource(2, "t")]),
        CreateAclsRequest([AclCreation(2, "t", 3, "User:a", "*", 3, 3)]),
        DeleteAclsRequest([DeleteAclsFilter(2, "t", 3, "User:a", None, 1, 1)]),
        DescribeAclsRequest(1, None, 1, None, None, 1, 1),
        delete_state.DeleteShareGroupStateRequest(
            "g", [delete_state.DeleteStateData(_TOPIC_ID, [delete_state.PartitionData(0)])]
        ),
        initialize_state.InitializeShareGroupStateRequest(
            "g", [initialize_state.InitializeStateData(_TOPIC_ID, [initialize_state.PartitionData(0)])]
        ),
        read_state.ReadShareGroupStateRequest("g", [read_state.ReadStateData(_TOPIC_ID, [read_state.PartitionData(0)])]),
        read_summary.ReadShareGroupStateSummaryRequest(
            "g", [read_summary.ReadStateSummaryData(_TOPIC_ID, [read_summary.PartitionData(0)])]
        ),
        write_state.WriteShareGroupStateRequest("g", [write_state.WriteStateData(_TOPIC_ID, [write_state.PartitionData(0)])]),
        AlterShareGroupOffsetsRequest("g"),
        AlterUserScramCredentialsRequest([ScramCredentialDeletion("u", 1)]),
        ApiVersionsRequest("tests", "1"),
        ConsumerGroupDescribeRequest(["g"]),
        ConsumerGroupHeartbeatRequest("g", "m", 0, None, None, 60_000, ["t"], None, None, []),
        CreatePartitionsRequest([CreatePartitionsTopic("t", 2)]),
        CreateTopicsRequest([CreatableTopic("t")]),
        DeleteGroupsRequest(["g"]),
        DeleteShareGroupOffsetsRequest("g"),
        DeleteTopicsRequest([DeleteTopicState("t")]),
        DescribeClientQuotasRequest([ComponentData("user", 2, None)]),
        DescribeClusterRequest(),
        DescribeConfigsRequest([DescribeConfigsResource(2, "t")]),
        DescribeGroupsRequest(["g"]),
        DescribeProducersRequest([ProducersTopic("t", [0])]),
        DescribeShareGroupOffsetsRequest([DescribeShareGroupOffsetsRequestGroup("g")]),
        DescribeTopicPartitionsRequest([TopicRequest("t")]),
        DescribeTransactionsRequest(["p"]),
        DescribeUserScramCredentialsRequest(),
        EndTxnRequest("p", 1, 0, True),
        FetchRequest(topics=[FetchTopic("t", partitions=[FetchPartition(0)])]),
        FindCoordinatorRequest(coordinator_keys=["g"]),
        HeartbeatRequest("g"),
        IncrementalAlterConfigsRequest([AlterConfigsResource(2, "t")]),
        InitProducerIdRequest("p", 1000),
        JoinGroupRequest("g"),
        LeaveGroupRequest("g"),
        ListConfigResourcesRequest(),
        ListPartitionReassignmentsRequest(),
        ListGroupsRequest(),
        ListOffsetsRequest(topics=[ListOffsetsTopic("t", [ListOffsetsPartition(0)])]),
        ListTransactionsRequest(),
        MetadataRequest([MetadataRequestTopic(name="t")]),
        OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0)])]),
        OffsetDeleteRequest("g"),
        OffsetFetchRequest(
            groups=[OffsetFetchRequestGroup("g", topics=[OffsetFetchRequestTopics("t", b"t" * 16, partition_indexes=[0])])]
        ),
        ProduceRequest(acks=1, topic_data=[TopicProduceData("t", partition_data=[PartitionProduceData(0)])]),
        SaslAuthenticateRequest(b"token"),
        SaslHandshakeRequest("PLAIN"),
        ShareAcknowledgeRequest("g", "m", 1, topics=[AcknowledgeTopic(b"t" * 16)]),
        ShareFetchRequest("g", "m", 0, 100, 1, topics=[ShareTopic(b"t" * 16, [SharePartition(0)])]),
        ShareGroupDescribeRequest(["g"]),
        ShareGroupHeartbeatRequest("g", "m", 0, None, ["t"]),
        StreamsGroupDescribeRequest(["g"]),
        StreamsGroupHeartbeatRequest(
            "g",
            "m",
            rebalance_timeout_ms=1000,
            topology=Topology(0, [Subtopology("0", ["t"])]),
            active_tasks=[],
            standby_tasks=[],
            warmup_tasks=[],
            process_id="p",
        ),
        SyncGroupRequest("g"),
        TxnOffsetCommitRequest("tx", "g", 1, 0, topics=[TxnOffsetCommitRequestTopic("t", [TxnOffsetCommitRequestPartition(0)])]),
        WriteTxnMarkersRequest([WritableTxnMarker(1, 0, topics=[WritableTxnMarkerTopic("t", [0])])]),
    )
}
# The newest version that says the same in other fields.
_OLDER: Final[dict[str, tuple[int, Message]]] = {
    "AddPartitionsToTxn": (3, AddPartitionsToTxnRequest([], "p", 1, 0, _PARTITIONS)),
    "DeleteTopics": (5, DeleteTopicsRequest(topic_names=["t"])),
    "FindCoordinator": (3, FindCoordinatorRequest("g")),
    "OffsetFetch": (7, OffsetFetchRequest("g", [OffsetFetchRequestTopic("t", [0])])),
}


def request_of(api: str, version: int) -> Message:
    """A request as a client of this version makes it."""
    newest, older = _OLDER.get(api, (-1, _NEWEST[api]))
    return older if version <= newest else _NEWEST[api]
