"""Access control entries: those that a cluster has, and changes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coordinator_server.client.admin.cluster import Cluster, check, error_of
from coordinator_server.client.errors import ClientError
from protocol.acl_codes import Operation, PatternType, Permission, ResourceType
from protocol.messages.create_acls import AclCreation, CreateAclsRequest, CreateAclsResponse
from protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest, DeleteAclsResponse
from protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse


@dataclass(frozen=True, order=True)
class Acl:
    """An access control entry. ``principal`` has its type in front, such as ``User:alice``; ``host`` is an address or ``*``."""

    principal: str
    resource_type: int
    name: str
    pattern_type: int
    operation: int
    permission: int
    host: str = "*"


@dataclass(frozen=True)
class AclFilter:
    """Selects entries. None and ANY match everything; MATCH selects the patterns that a resource of this name matches."""

    principal: str | None = None
    resource_type: int = ResourceType.ANY
    name: str | None = None
    pattern_type: int = PatternType.ANY
    operation: int = Operation.ANY
    permission: int = Permission.ANY
    host: str | None = None


async def describe_acls(cluster: Cluster, selecting: AclFilter) -> list[Acl]:
    """Return the entries that a filter selects. Raises ClientError, also where no authorizer is configured."""
    request = DescribeAclsRequest(
        selecting.resource_type,
        selecting.name,
        selecting.pattern_type,
        selecting.principal,
        selecting.host,
        selecting.operation,
        selecting.permission,
    )
    answer = await cluster.ask(request, DescribeAclsResponse)
    check("description of ACLs", answer.error_code, answer.error_message)
    return sorted(
        Acl(
            each.principal,
            resource.resource_type,
            resource.resource_name,
            resource.pattern_type,
            each.operation,
            each.permission_type,
            each.host,
        )
        for resource in answer.resources
        for each in resource.acls
    )


async def create_acls(cluster: Cluster, acls: Sequence[Acl]) -> list[ClientError | None]:
    """Add entries; those that exist are no error. Return why each is refused. Raises ClientError."""
    creations = [
        AclCreation(each.resource_type, each.name, each.pattern_type, each.principal, each.host, each.operation, each.permission)
        for each in acls
    ]
    answer = await cluster.ask_controller(CreateAclsRequest(creations), CreateAclsResponse)
    return [error_of("creation of an ACL", each.error_code, each.error_message) for each in answer.results]


async def delete_acls(cluster: Cluster, acls: Sequence[Acl]) -> list[ClientError | None]:
    """Remove entries; those that do not exist are no error. Return why each is refused. Raises ClientError."""
    filters = [
        DeleteAclsFilter(
            each.resource_type, each.name, each.pattern_type, each.principal, each.host, each.operation, each.permission
        )
        for each in acls
    ]
    answer = await cluster.ask_controller(DeleteAclsRequest(filters), DeleteAclsResponse)
    return [error_of("removal of an ACL", each.error_code, each.error_message) for each in answer.filter_results]
