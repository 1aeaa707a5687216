"""The table of served APIs: one row per API, with the versions of its declarations.

ApiVersions answers, dispatch, docs and tests are derived from it. To serve fewer versions than are declared, restrict the row. A
declaration without a row is not served. ``known_apis`` has every declared API, for tools and clients.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from msgspec import Struct

from protocol.fields import Kind, Message, Versions
from protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnResponse
from protocol.messages.alter_client_quotas import AlterClientQuotasRequest, AlterClientQuotasResponse
from protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from protocol.messages.alter_share_group_offsets import AlterShareGroupOffsetsRequest, AlterShareGroupOffsetsResponse
from protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
)
from protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from protocol.messages.create_acls import CreateAclsRequest, CreateAclsResponse
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse
from protocol.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse
from protocol.messages.delete_acls import DeleteAclsRequest, DeleteAclsResponse
from protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from protocol.messages.delete_share_group_offsets import DeleteShareGroupOffsetsRequest, DeleteShareGroupOffsetsResponse
from protocol.messages.delete_share_group_state import DeleteShareGroupStateRequest, DeleteShareGroupStateResponse
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from protocol.messages.describe_client_quotas import DescribeClientQuotasRequest, DescribeClientQuotasResponse
from protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse
from protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from protocol.messages.describe_producers import DescribeProducersRequest, DescribeProducersResponse
from protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsResponse,
)
from protocol.messages.describe_topic_partitions import DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse
from protocol.messages.describe_transactions import DescribeTransactionsRequest, DescribeTransactionsResponse
from protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
)
from protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from protocol.messages.fetch import FetchRequest, FetchResponse
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse
from protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from protocol.messages.initialize_share_group_state import InitializeShareGroupStateRequest, InitializeShareGroupStateResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from protocol.messages.list_config_resources import ListConfigResourcesRequest, ListConfigResourcesResponse
from protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from protocol.messages.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse
from protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from protocol.messages.metadata import MetadataRequest, MetadataResponse
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from protocol.messages.produce import ProduceRequest, ProduceResponse
from protocol.messages.read_share_group_state import ReadShareGroupStateRequest, ReadShareGroupStateResponse
from protocol.messages.read_share_group_state_summary import ReadShareGroupStateSummaryRequest, ReadShareGroupStateSummaryResponse
from protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from protocol.messages.share_acknowledge import ShareAcknowledgeRequest, ShareAcknowledgeResponse
from protocol.messages.share_fetch import ShareFetchRequest, ShareFetchResponse
from protocol.messages.share_group_describe import ShareGroupDescribeRequest, ShareGroupDescribeResponse
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from protocol.messages.streams_group_describe import StreamsGroupDescribeRequest, StreamsGroupDescribeResponse
from protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from protocol.messages.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse
from protocol.messages.write_share_group_state import WriteShareGroupStateRequest, WriteShareGroupStateResponse
from protocol.messages.write_txn_markers import WriteTxnMarkersRequest, WriteTxnMarkersResponse
from protocol.schema import all_messages

API_VERSIONS_KEY: Final = 18


class Api(Struct, frozen=True, gc=False):
    """One API and its served versions."""

    key: int
    name: str
    min_version: int
    max_version: int
    request: type[Message]
    response: type[Message]

    @property
    def versions(self) -> range:
        return range(self.min_version, self.max_version + 1)

    def request_header_version(self, version: int) -> int:
        """Return the version of the request header, also for versions that are not served: unknown ones count as the newest."""
        return 2 if version in self.request.kafka.flexible else 1

    def response_header_version(self, version: int) -> int:
        """Return the version of the response header.

        For ApiVersions it is always 0: a client must read the answer before it knows the server's versions (KIP-511).
        """
        return 1 if version in self.response.kafka.flexible and self.key != API_VERSIONS_KEY else 0


def _api(request: type[Message], response: type[Message], served: str = "0+") -> Api:
    key = request.kafka.key
    assert key is not None
    versions = request.kafka.versions & Versions.parse(served)
    return Api(key, request.__name__.removesuffix("Request"), versions.low, versions.high, request, response)


APIS: Final[dict[int, Api]] = {
    api.key: api
    for api in (
        _api(ProduceRequest, ProduceResponse),
        _api(FetchRequest, FetchResponse),
        _api(ListOffsetsRequest, ListOffsetsResponse),
        _api(MetadataRequest, MetadataResponse),
        _api(OffsetCommitRequest, OffsetCommitResponse),
        _api(OffsetFetchRequest, OffsetFetchResponse),
        _api(FindCoordinatorRequest, FindCoordinatorResponse),
        _api(JoinGroupRequest, JoinGroupResponse),
        _api(HeartbeatRequest, HeartbeatResponse),
        _api(LeaveGroupRequest, LeaveGroupResponse),
        _api(SyncGroupRequest, SyncGroupResponse),
        _api(DescribeGroupsRequest, DescribeGroupsResponse),
        _api(ListGroupsRequest, ListGroupsResponse),
        _api(SaslHandshakeRequest, SaslHandshakeResponse),
        _api(SaslAuthenticateRequest, SaslAuthenticateResponse),
        _api(DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse),
        _api(AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse),
        _api(ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse),
        _api(ApiVersionsRequest, ApiVersionsResponse),
        _api(CreateTopicsRequest, CreateTopicsResponse),
        _api(DeleteTopicsRequest, DeleteTopicsResponse),
        _api(InitProducerIdRequest, InitProducerIdResponse, "0-5"),
        _api(AddPartitionsToTxnRequest, AddPartitionsToTxnResponse),
        _api(AddOffsetsToTxnRequest, AddOffsetsToTxnResponse),
        _api(EndTxnRequest, EndTxnResponse),
        _api(DescribeTransactionsRequest, DescribeTransactionsResponse),
        _api(ListTransactionsRequest, ListTransactionsResponse),
        _api(CreatePartitionsRequest, CreatePartitionsResponse),
        _api(DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse),
        _api(WriteTxnMarkersRequest, WriteTxnMarkersResponse),
        _api(TxnOffsetCommitRequest, TxnOffsetCommitResponse),
        _api(DescribeConfigsRequest, DescribeConfigsResponse),
        _api(AlterConfigsRequest, AlterConfigsResponse),
        _api(IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse),
        _api(ListConfigResourcesRequest, ListConfigResourcesResponse),
        _api(ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse),
        _api(DescribeClientQuotasRequest, DescribeClientQuotasResponse),
        _api(AlterClientQuotasRequest, AlterClientQuotasResponse),
        _api(DeleteGroupsRequest, DeleteGroupsResponse),
        _api(OffsetDeleteRequest, OffsetDeleteResponse),
        _api(DescribeProducersRequest, DescribeProducersResponse),
        _api(DescribeClusterRequest, DescribeClusterResponse),
        _api(ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse),
        _api(ShareFetchRequest, ShareFetchResponse),
        _api(ShareAcknowledgeRequest, ShareAcknowledgeResponse),
        _api(DescribeAclsRequest, DescribeAclsResponse),
        _api(CreateAclsRequest, CreateAclsResponse),
        _api(DeleteAclsRequest, DeleteAclsResponse),
        _api(InitializeShareGroupStateRequest, InitializeShareGroupStateResponse),
        _api(ReadShareGroupStateRequest, ReadShareGroupStateResponse),
        _api(WriteShareGroupStateRequest, WriteShareGroupStateResponse),
        _api(DeleteShareGroupStateRequest, DeleteShareGroupStateResponse),
        _api(ReadShareGroupStateSummaryRequest, ReadShareGroupStateSummaryResponse),
        _api(ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse),
        _api(ShareGroupDescribeRequest, ShareGroupDescribeResponse),
        _api(StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse),
        _api(StreamsGroupDescribeRequest, StreamsGroupDescribeResponse),
        _api(DescribeShareGroupOffsetsRequest, DescribeShareGroupOffsetsResponse),
        _api(AlterShareGroupOffsetsRequest, AlterShareGroupOffsetsResponse),
        _api(DeleteShareGroupOffsetsRequest, DeleteShareGroupOffsetsResponse),
    )
}


@cache
def known_apis() -> dict[int, Api]:
    """Return every declared API by key, with all declared versions. It imports all declarations; serving does not need them."""
    by_kind: dict[Kind, dict[int | None, type[Message]]] = {kind: {} for kind in Kind}
    for message in all_messages():
        by_kind[message.kafka.kind][message.kafka.key] = message
    responses = by_kind[Kind.RESPONSE]
    apis = (_api(request, responses[key]) for key, request in by_kind[Kind.REQUEST].items())
    return {api.key: api for api in sorted(apis, key=lambda api: api.key)}
