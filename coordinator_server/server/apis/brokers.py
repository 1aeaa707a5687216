"""ApiVersions (18), DescribeCluster (60), ListPartitionReassignments (46): the nodes, and what they serve."""

from __future__ import annotations

import re

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.features import EPOCH, finalized_features, supported_features
from coordinator_server.server.apis.refusals import error_only
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.guard.access import OPEN, ApiAccess, cluster
from coordinator_server.server.guard.authorized_operations import CLUSTER_OPERATIONS, with_cluster_operations
from coordinator_server.server.guard.parts import Filtered
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from protocol.acl_codes import Operation
from protocol.api import APIS
from protocol.error_codes import ErrorCode
from protocol.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from protocol.messages.describe_cluster import DescribeClusterBroker, DescribeClusterRequest, DescribeClusterResponse
from protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse

# The first version that is announced, where it is not the first that is served. As in Kafka: old clients refuse a server without
# version 0 of Produce, and then use a newer version (KAFKA-18659).
ANNOUNCED_FROM = {0: 0}
BROKERS, CONTROLLERS = 1, 2

# The characters that KIP-511 allows in the name and version of a client's software.
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?")


def api_versions(node: Node, context: RequestContext, request: ApiVersionsRequest, reply: Exchange[ApiVersionsResponse]) -> None:
    if context.api_version >= 3 and not (
        _SOFTWARE.fullmatch(request.client_software_name) and _SOFTWARE.fullmatch(request.client_software_version)
    ):
        raise CoordinatorError(ErrorCode.INVALID_REQUEST)
    reply.complete(
        ApiVersionsResponse(
            api_keys=_served(),
            supported_features=supported_features(context.api_version),
            finalized_features_epoch=EPOCH,
            finalized_features=finalized_features(),
        )
    )


def refuse_api_versions(
    context: RequestContext, request: ApiVersionsRequest, error: ErrorCode, message: str | None
) -> ApiVersionsResponse:
    # The answer has the supported versions, for a client that used an unknown version (KIP-511).
    return ApiVersionsResponse(error, [api for api in _served() if api.api_key == context.api_key])


API_VERSIONS_API = ApiRow(
    ApiVersionsRequest,
    ApiVersionsResponse,
    api_versions,
    refuse_api_versions,
    Order.FREE,
    access=OPEN,
)


def _served() -> list[ApiVersion]:
    return [ApiVersion(api.key, ANNOUNCED_FROM.get(api.key, api.min_version), api.max_version) for api in APIS.values()]


def list_partition_reassignments(
    node: Node,
    context: RequestContext,
    request: ListPartitionReassignmentsRequest,
    reply: Exchange[ListPartitionReassignmentsResponse],
) -> None:
    """Answer that no partition moves: a partition of a topic without records has one replica, and keeps it."""
    reply.complete(ListPartitionReassignmentsResponse(error_message=None))


LIST_PARTITION_REASSIGNMENTS_API = ApiRow(
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    list_partition_reassignments,
    error_only(ListPartitionReassignmentsResponse),
    Order.READ,
    access=cluster(Operation.DESCRIBE),
)


def describe_cluster(
    node: Node, context: RequestContext, request: DescribeClusterRequest, reply: Exchange[DescribeClusterResponse]
) -> None:
    """Answer DescribeCluster (KIP-700).

    All nodes are brokers: there are no separate controller endpoints (KIP-919) and no fenced brokers (KIP-1073).
    """
    if request.endpoint_type != BROKERS:
        raise CoordinatorError(*_not_here(request.endpoint_type))
    response = DescribeClusterResponse(
        cluster_id=node.cluster_id,
        controller_id=node.nodes.controller_id,
        brokers=[DescribeClusterBroker(node_id, *there) for node_id, there in node.endpoints(reply)],
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = CLUSTER_OPERATIONS
    reply.complete(response)


DESCRIBE_CLUSTER_API = ApiRow(
    DescribeClusterRequest,
    DescribeClusterResponse,
    describe_cluster,
    error_only(DescribeClusterResponse),
    Order.READ,
    access=ApiAccess(parts=Filtered(with_cluster_operations)),
)


def _not_here(endpoint_type: int) -> tuple[ErrorCode, str]:
    if endpoint_type == CONTROLLERS:
        return ErrorCode.MISMATCHED_ENDPOINT_TYPE, "this endpoint is a broker's, and controllers were asked for"
    return ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"there is no endpoint type {endpoint_type}"
