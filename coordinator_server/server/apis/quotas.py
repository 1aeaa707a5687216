"""DescribeClientQuotas (48) and AlterClientQuotas (49): quotas of users, client ids and addresses (KIP-546)."""

from __future__ import annotations

from coordinator_server.catalog.client_quotas import CLIENT_QUOTAS
from coordinator_server.catalog.describe_quotas import described, quota_filter
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.topics import CONTROLLER_ERRORS
from coordinator_server.server.cluster.operations import ALTER_CLIENT_QUOTAS
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.guard.access import cluster
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from protocol.acl_codes import Operation
from protocol.error_codes import ErrorCode
from protocol.messages.alter_client_quotas import AlterClientQuotasRequest, AlterClientQuotasResponse, ResponseEntryData
from protocol.messages.describe_client_quotas import DescribeClientQuotasRequest, DescribeClientQuotasResponse


def describe_client_quotas(
    node: Node,
    context: RequestContext,
    request: DescribeClientQuotasRequest,
    reply: Exchange[DescribeClientQuotasResponse],
) -> None:
    """Describe the quotas that match. There are at most ``client.quotas.max``."""
    wanted = quota_filter(request)
    reply.connection.use_up()
    reply.complete(described(node.catalog.read(CatalogShard.records, CLIENT_QUOTAS), wanted))


def refuse_describe(
    context: RequestContext, request: DescribeClientQuotasRequest, error: ErrorCode, message: str | None
) -> DescribeClientQuotasResponse:
    return DescribeClientQuotasResponse(error_code=error, error_message=message, entries=None)


DESCRIBE_CLIENT_QUOTAS_API = ApiRow(
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    describe_client_quotas,
    refuse_describe,
    Order.READ,
    access=cluster(Operation.DESCRIBE_CONFIGS),
)


def alter_client_quotas(
    node: Node, context: RequestContext, request: AlterClientQuotasRequest, reply: Exchange[AlterClientQuotasResponse]
) -> None:
    reply.connection.use_up()
    node.catalog.write(ALTER_CLIENT_QUOTAS, context, request, reply)


def refuse_alter(
    context: RequestContext, request: AlterClientQuotasRequest, error: ErrorCode, message: str | None
) -> AlterClientQuotasResponse:
    code = CONTROLLER_ERRORS.get(error, error)
    return AlterClientQuotasResponse(entries=[ResponseEntryData(code, message, entry.entity) for entry in request.entries])


ALTER_CLIENT_QUOTAS_API = ApiRow(
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    alter_client_quotas,
    refuse_alter,
    Order.ALONE,
    access=cluster(Operation.ALTER_CONFIGS),
)
