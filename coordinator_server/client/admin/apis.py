"""The requests of administrators, with the versions that this client knows. Brokers of Kafka 3.1 and later have one of each.

ConsumerGroupDescribe needs Kafka 4.0, and the APIs of share groups 4.1: they are asked only if the server has them.
"""

from __future__ import annotations

from typing import Final

from coordinator_server.client.apis import APIS, api
from protocol.messages.alter_client_quotas import AlterClientQuotasRequest, AlterClientQuotasResponse
from protocol.messages.alter_share_group_offsets import AlterShareGroupOffsetsRequest, AlterShareGroupOffsetsResponse
from protocol.messages.alter_user_scram_credentials import AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse
from protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from protocol.messages.create_acls import CreateAclsRequest, CreateAclsResponse
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse
from protocol.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse
from protocol.messages.delete_acls import DeleteAclsRequest, DeleteAclsResponse
from protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from protocol.messages.delete_share_group_offsets import DeleteShareGroupOffsetsRequest, DeleteShareGroupOffsetsResponse
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from protocol.messages.describe_client_quotas import DescribeClientQuotasRequest, DescribeClientQuotasResponse
from protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse
from protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from protocol.messages.describe_share_group_offsets import DescribeShareGroupOffsetsRequest, DescribeShareGroupOffsetsResponse
from protocol.messages.describe_transactions import DescribeTransactionsRequest, DescribeTransactionsResponse
from protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
)
from protocol.messages.fetch import FetchRequest, FetchResponse
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse
from protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from protocol.messages.list_config_resources import ListConfigResourcesRequest, ListConfigResourcesResponse
from protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from protocol.messages.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from protocol.messages.metadata import MetadataRequest, MetadataResponse
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from protocol.messages.share_group_describe import ShareGroupDescribeRequest, ShareGroupDescribeResponse
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from protocol.messages.streams_group_describe import StreamsGroupDescribeRequest, StreamsGroupDescribeResponse
from protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse

ADMIN_APIS: Final = APIS | {
    each.request: each
    for each in (
        # All groups of a coordinator in one request, from 4 and 8 on; Kafka before 3.0 has neither.
        api(FindCoordinatorRequest, FindCoordinatorResponse, "1-6"),
        api(OffsetFetchRequest, OffsetFetchResponse, "5-9"),
        # Topics by name, with their ids.
        api(MetadataRequest, MetadataResponse, "10-12"),
        api(OffsetCommitRequest, OffsetCommitResponse, "2-9"),
        api(ListGroupsRequest, ListGroupsResponse),
        api(DescribeGroupsRequest, DescribeGroupsResponse),
        api(ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse),
        api(ShareGroupDescribeRequest, ShareGroupDescribeResponse),
        api(StreamsGroupDescribeRequest, StreamsGroupDescribeResponse),
        api(ListOffsetsRequest, ListOffsetsResponse),
        api(OffsetDeleteRequest, OffsetDeleteResponse),
        api(DeleteGroupsRequest, DeleteGroupsResponse),
        api(LeaveGroupRequest, LeaveGroupResponse, "3+"),
        api(ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse),
        api(ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse),
        api(StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse),
        api(CreateTopicsRequest, CreateTopicsResponse, "4+"),
        api(DeleteTopicsRequest, DeleteTopicsResponse, "1-5"),
        api(CreatePartitionsRequest, CreatePartitionsResponse),
        api(DescribeShareGroupOffsetsRequest, DescribeShareGroupOffsetsResponse),
        api(AlterShareGroupOffsetsRequest, AlterShareGroupOffsetsResponse),
        api(DeleteShareGroupOffsetsRequest, DeleteShareGroupOffsetsResponse),
        api(DescribeClusterRequest, DescribeClusterResponse),
        api(DescribeConfigsRequest, DescribeConfigsResponse),
        api(IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse),
        api(ListConfigResourcesRequest, ListConfigResourcesResponse),
        api(ListTransactionsRequest, ListTransactionsResponse),
        api(DescribeTransactionsRequest, DescribeTransactionsResponse),
        api(InitProducerIdRequest, InitProducerIdResponse, "0-5"),
        # Topics by name.
        api(FetchRequest, FetchResponse, "4-12"),
        api(DescribeAclsRequest, DescribeAclsResponse),
        api(CreateAclsRequest, CreateAclsResponse),
        api(DeleteAclsRequest, DeleteAclsResponse),
        api(DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse),
        api(AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse),
        api(DescribeClientQuotasRequest, DescribeClientQuotasResponse),
        api(AlterClientQuotasRequest, AlterClientQuotasResponse),
    )
}
"""By the class of the request."""
