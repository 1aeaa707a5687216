"""The operations that resources have, as bit fields (Kafka's ``AclEntry.supportedOperations``).

Handlers put all of them into responses with authorized operations. Where an authorizer is configured,
the functions here leave those that the principal may do.
"""

from __future__ import annotations

from typing import Any, Final

from coordinator_server.server.guard.access import Asked
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode

OF_TOPICS: Final = (
    Operation.READ,
    Operation.WRITE,
    Operation.CREATE,
    Operation.DELETE,
    Operation.ALTER,
    Operation.DESCRIBE,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)
OF_GROUPS: Final = (
    Operation.READ,
    Operation.DELETE,
    Operation.DESCRIBE,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)
OF_CLUSTER: Final = (
    Operation.CREATE,
    Operation.ALTER,
    Operation.DESCRIBE,
    Operation.CLUSTER_ACTION,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
    Operation.IDEMPOTENT_WRITE,
)
NOT_REQUESTED: Final = -(1 << 31)
"""The value of the field if a request does not ask for the operations."""


def _bits(operations: tuple[Operation, ...]) -> int:
    return sum(1 << operation for operation in operations)


TOPIC_OPERATIONS: Final = _bits(OF_TOPICS)
GROUP_OPERATIONS: Final = _bits(OF_GROUPS)
CLUSTER_OPERATIONS: Final = _bits(OF_CLUSTER)


def with_group_operations(asked: Asked, request: Any, response: Any) -> Any:
    """Set the operations that the principal may do on each described group."""
    for group in response.groups:
        if group.authorized_operations >= 0:
            group.authorized_operations = asked.access.allowed_bits(OF_GROUPS, ResourceType.GROUP, group.group_id)
    return response


def with_topic_operations(asked: Asked, request: Any, response: Any) -> Any:
    """Set the operations that the principal may do, on topics and on the cluster."""
    for topic in response.topics:
        if topic.topic_authorized_operations >= 0:
            name = topic.name
            is_described = name is not None and topic.error_code != ErrorCode.TOPIC_AUTHORIZATION_FAILED
            bits = asked.access.allowed_bits(OF_TOPICS, ResourceType.TOPIC, name or "") if is_described else NOT_REQUESTED
            topic.topic_authorized_operations = bits
    return with_cluster_operations(asked, request, response)


def with_cluster_operations(asked: Asked, request: Any, response: Any) -> Any:
    """Set the operations that the principal may do on the cluster, if the answer has a field for them."""
    if getattr(response, "cluster_authorized_operations", NOT_REQUESTED) >= 0:
        may_describe = asked.access.allows(Operation.DESCRIBE, ResourceType.CLUSTER)
        bits = asked.access.allowed_bits(OF_CLUSTER, ResourceType.CLUSTER) if may_describe else 0
        response.cluster_authorized_operations = bits
    return response
