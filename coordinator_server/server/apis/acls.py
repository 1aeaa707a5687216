"""DescribeAcls (29), CreateAcls (30), DeleteAcls (31): the access control entries of the catalog,
where an authorizer is configured.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from coordinator_server.catalog.acl_model import Acl, Pattern
from coordinator_server.catalog.acls import filter_of
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.security.authorizer import Authorizer
from coordinator_server.server.apis.refusals import each_refused, error_only
from coordinator_server.server.apis.topics import CONTROLLER_ERRORS
from coordinator_server.server.cluster.operations import CREATE_ACLS, DELETE_ACLS
from coordinator_server.server.exchange.api_row import ApiRow, Refusal
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work, at_once, in_portions
from coordinator_server.server.guard.access import cluster
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from protocol.acl_codes import Operation
from protocol.error_codes import ErrorCode
from protocol.messages.create_acls import AclCreationResult, CreateAclsRequest, CreateAclsResponse
from protocol.messages.delete_acls import DeleteAclsFilterResult, DeleteAclsRequest, DeleteAclsResponse
from protocol.messages.describe_acls import AclDescription, DescribeAclsRequest, DescribeAclsResource, DescribeAclsResponse

COMPARED_PER_STEP: Final = 2_000


def _authorizer(node: Node, problem: str) -> Authorizer:
    """Return the authorizer.

    Raises SECURITY_DISABLED if there is none, and COORDINATOR_LOAD_IN_PROGRESS before the ACLs are known.
    """
    if node.authorizer is None:
        raise CoordinatorError(ErrorCode.SECURITY_DISABLED, problem)
    if not node.authorizer.is_loaded:
        raise CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "the ACLs are not known here yet")
    return node.authorizer


def describe_acls(
    node: Node, context: RequestContext, request: DescribeAclsRequest, reply: Exchange[DescribeAclsResponse]
) -> None:
    """Answer with the entries that the filter selects, by the patterns that they are about."""
    authorizer = _authorizer(node, "No Authorizer is configured on the broker")
    selecting = filter_of(request)
    if selecting.problem is not None:
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, selecting.problem)
    work = _described(authorizer.acls, selecting.matches)
    if len(authorizer.acls) > COMPARED_PER_STEP:
        reply.connection.use_up()
        node.steps.run(reply, work)
    else:
        reply.complete(at_once(work))


def _described(acls: Collection[Acl], matches: Any) -> Work[DescribeAclsResponse]:
    found: dict[Pattern, list[AclDescription]] = {}
    for portion in in_portions(list(acls), COMPARED_PER_STEP):
        for acl in portion:
            if matches(acl):
                found.setdefault(acl.pattern, []).append(AclDescription(*acl[1:]))
        yield
    resources = [DescribeAclsResource(*pattern, entries) for pattern, entries in found.items()]
    return DescribeAclsResponse(resources=resources)


DESCRIBE_ACLS_API = ApiRow(
    DescribeAclsRequest,
    DescribeAclsResponse,
    describe_acls,
    error_only(DescribeAclsResponse),
    Order.READ,
    access=cluster(Operation.DESCRIBE),
)


def create_acls(node: Node, context: RequestContext, request: CreateAclsRequest, reply: Exchange[CreateAclsResponse]) -> None:
    _authorizer(node, "No Authorizer is configured.")
    reply.connection.use_up()
    node.catalog.write(CREATE_ACLS, context, request, reply)


def delete_acls(node: Node, context: RequestContext, request: DeleteAclsRequest, reply: Exchange[DeleteAclsResponse]) -> None:
    _authorizer(node, "No Authorizer is configured.")
    reply.connection.use_up()
    node.catalog.write(DELETE_ACLS, context, request, reply)


def _refusing(response: Any, field: str, item: Any, of: str) -> Refusal[Any, Any]:
    return each_refused(response, field, item, of=of, by=(), errors=CONTROLLER_ERRORS)


CREATE_ACLS_API = ApiRow(
    CreateAclsRequest,
    CreateAclsResponse,
    create_acls,
    _refusing(CreateAclsResponse, "results", AclCreationResult, "creations"),
    Order.ALONE,
    access=cluster(Operation.ALTER),
)
DELETE_ACLS_API = ApiRow(
    DeleteAclsRequest,
    DeleteAclsResponse,
    delete_acls,
    _refusing(DeleteAclsResponse, "filter_results", DeleteAclsFilterResult, "filters"),
    Order.ALONE,
    access=cluster(Operation.ALTER),
)
