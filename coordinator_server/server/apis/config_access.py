"""What requests about settings need."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from coordinator_server.catalog.alter_configs import ResourceType as Configured
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.guard.access import ApiAccess, Asked, cluster, denial
from coordinator_server.server.guard.parts import Both, Each
from coordinator_server.server.hosting.node import Node
from protocol.acl_codes import CLUSTER_NAME, Operation, ResourceType
from protocol.error_codes import ErrorCode

_RESOURCES: Final = {
    Configured.TOPIC: ResourceType.TOPIC,
    Configured.GROUP: ResourceType.GROUP,
    Configured.BROKER: ResourceType.CLUSTER,
    Configured.BROKER_LOGGER: ResourceType.CLUSTER,
    Configured.CLIENT_METRICS: ResourceType.CLUSTER,
}
"""What the settings of each type belong to."""


def _name(kind: ResourceType, name: str) -> str:
    return CLUSTER_NAME if kind is ResourceType.CLUSTER else name


def _name_of(kind: ResourceType) -> Callable[[Asked, Any], str | None]:
    def name_of(kind: ResourceType, _asked: Asked, resource: Any) -> str | None:
        return _name(kind, resource.resource_name) if _RESOURCES.get(resource.resource_type) is kind else None

    return partial(name_of, kind)


def _described(kind: ResourceType) -> Each:
    return Each("resources", Operation.DESCRIBE_CONFIGS, kind, _name_of(kind), "results")


def alteration_denied(node: Node, context: RequestContext, resource_type: int, name: str) -> ErrorCode | None:
    """Return the error for settings that the sender of a request may not alter, or None."""
    kind = _RESOURCES[Configured(resource_type)]
    return denial(node, context, Operation.ALTER_CONFIGS, kind, _name(kind, name))


DESCRIBE_CONFIGS: Final[ApiAccess[Any]] = ApiAccess(
    parts=Both(_described(ResourceType.TOPIC), Both(_described(ResourceType.GROUP), _described(ResourceType.CLUSTER)))
)
ALTER_CONFIGS: Final[ApiAccess[Any]] = ApiAccess(
    in_handler=((Operation.ALTER_CONFIGS, ResourceType.TOPIC), (Operation.ALTER_CONFIGS, ResourceType.GROUP))
)
LIST_RESOURCES: Final = cluster(Operation.DESCRIBE_CONFIGS)
