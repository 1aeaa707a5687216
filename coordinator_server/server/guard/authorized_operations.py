"""The operations that resources have, as bit fields (Kafka's ``AclEntry.supportedOperations``).

Handlers put all of them into responses with authorized operations. Where an authorizer is configured,
``access.py`` leaves those that the principal may do.
"""

from __future__ import annotations

from typing import Final

from protocol.acl_codes import Operation

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
