"""DescribeUserScramCredentials (50), AlterUserScramCredentials (51): the SCRAM credentials of users, which are in the catalog."""

from __future__ import annotations

from typing import Final

from coordinator_server.catalog.scram_users import SCRAM_USERS, describe_credentials
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.topics import CONTROLLER_ERRORS
from coordinator_server.server.cluster.operations import ALTER_SCRAM_USERS
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.guard.access import cluster
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from coordinator_server.server.wire.quantum import UNITS_PER_US
from protocol.acl_codes import Operation
from protocol.error_codes import ErrorCode
from protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)

US_PER_CREDENTIAL: Final = 2
"""The work of a description."""
US_PER_CHANGE: Final = 20
"""The work of an alteration: two keys and two hashes."""


def describe_user_scram_credentials(
    node: Node,
    context: RequestContext,
    request: DescribeUserScramCredentialsRequest,
    reply: Exchange[DescribeUserScramCredentialsResponse],
) -> None:
    """Return the mechanisms and iterations of users, never salts and keys."""
    records = list(node.catalog.read(CatalogShard.records, SCRAM_USERS))
    reply.connection.use_up(US_PER_CREDENTIAL * UNITS_PER_US * len(records))
    results = describe_credentials(records, [user.name for user in request.users or ()])
    reply.complete(DescribeUserScramCredentialsResponse(results=results))


def _undescribed(
    context: RequestContext, request: DescribeUserScramCredentialsRequest, error: ErrorCode, message: str | None
) -> DescribeUserScramCredentialsResponse:
    """Refuse the request. As in Kafka, the answer has a result for each user, without the name."""
    results = [DescribeUserScramCredentialsResult("", error, message) for _ in request.users or ()]
    return DescribeUserScramCredentialsResponse(0, error, message, results)


DESCRIBE_USER_SCRAM_CREDENTIALS_API = ApiRow(
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    describe_user_scram_credentials,
    _undescribed,
    Order.READ,
    access=cluster(Operation.DESCRIBE),
)


def alter_user_scram_credentials(
    node: Node,
    context: RequestContext,
    request: AlterUserScramCredentialsRequest,
    reply: Exchange[AlterUserScramCredentialsResponse],
) -> None:
    """Set and remove credentials. The catalog decides."""
    reply.connection.use_up(US_PER_CHANGE * UNITS_PER_US * (len(request.deletions) + len(request.upsertions)))
    node.catalog.write(ALTER_SCRAM_USERS, context, request, reply)


def _each_refused(
    context: RequestContext, request: AlterUserScramCredentialsRequest, error: ErrorCode, message: str | None
) -> AlterUserScramCredentialsResponse:
    """Return the error once for each user."""
    code = CONTROLLER_ERRORS.get(error, error)
    names = dict.fromkeys([*(each.name for each in request.deletions), *(each.name for each in request.upsertions)])
    return AlterUserScramCredentialsResponse(results=[AlterUserScramCredentialsResult(name, code, message) for name in names])


ALTER_USER_SCRAM_CREDENTIALS_API = ApiRow(
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    alter_user_scram_credentials,
    _each_refused,
    Order.ALONE,
    access=cluster(Operation.ALTER),
)
