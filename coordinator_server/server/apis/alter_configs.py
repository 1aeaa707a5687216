"""IncrementalAlterConfigs (44) and AlterConfigs (33): changes of the catalog's settings of topics and groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from coordinator_server.catalog.alter_configs import SETTINGS, Operation, ResourceType
from coordinator_server.machine.errors import fitting
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.apis.configs import OWNERS, RESOURCE, broker_id, owner_name
from coordinator_server.server.apis.refusals import each_refused
from coordinator_server.server.apis.topics import CONTROLLER_ERRORS
from coordinator_server.server.cluster.operations import ALTER_CONFIGS, REPLACE_CONFIGS
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.guard.access import MESSAGES, ApiAccess, denial
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from protocol import acl_codes
from protocol.error_codes import ErrorCode
from protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from protocol.messages.alter_configs import AlterConfigsResourceResponse as ReplacedResource
from protocol.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

# The handler checks each resource itself: a resource that is invalid by the request alone is refused for that, as in Kafka.
_ACCESS: Final[ApiAccess[Any]] = ApiAccess(
    in_handler=(
        (acl_codes.Operation.ALTER_CONFIGS, acl_codes.ResourceType.TOPIC),
        (acl_codes.Operation.ALTER_CONFIGS, acl_codes.ResourceType.GROUP),
    )
)


def alter_configs(
    node: Node,
    context: RequestContext,
    request: IncrementalAlterConfigsRequest,
    reply: Exchange[IncrementalAlterConfigsResponse],
) -> None:
    nulls = [
        [config.name for config in asked.configs if config.value is None and config.config_operation != Operation.DELETE]
        for asked in request.resources
    ]
    _alter(node, context, request, reply, nulls=nulls, operation=ALTER_CONFIGS, answer=AlterConfigsResourceResponse)


INCREMENTAL_ALTER_CONFIGS_API = ApiRow(
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    alter_configs,
    each_refused(
        IncrementalAlterConfigsResponse,
        "responses",
        AlterConfigsResourceResponse,
        of="resources",
        by=RESOURCE,
        errors=CONTROLLER_ERRORS,
    ),
    Order.ALONE,
    access=_ACCESS,
)


def replace_configs(
    node: Node, context: RequestContext, request: AlterConfigsRequest, reply: Exchange[AlterConfigsResponse]
) -> None:
    nulls = [[config.name for config in asked.configs if config.value is None] for asked in request.resources]
    _alter(node, context, request, reply, nulls=nulls, operation=REPLACE_CONFIGS, answer=ReplacedResource)


ALTER_CONFIGS_API = ApiRow(
    AlterConfigsRequest,
    AlterConfigsResponse,
    replace_configs,
    each_refused(AlterConfigsResponse, "responses", ReplacedResource, of="resources", by=RESOURCE, errors=CONTROLLER_ERRORS),
    Order.ALONE,
    access=_ACCESS,
)


def _alter(  # noqa: PLR0913 - two APIs that differ in their messages' types alone
    node: Node,
    context: RequestContext,
    request: Any,
    reply: Exchange[Any],
    *,
    nulls: Sequence[Sequence[str]],
    operation: WriteOperation[Any, Any, Any],
    answer: Callable[..., Any],
) -> None:
    """Refuse resources that are invalid by the request alone, and send the rest to the catalog.

    The answers have the order of the request.
    """
    reply.connection.use_up()
    asked = [(each.resource_type, each.resource_name) for each in request.resources]
    times = Counter(asked)
    refused = {}
    for place, (resource, each) in enumerate(zip(asked, request.resources, strict=True)):
        problem = "Each resource must appear at most once." if times[resource] > 1 else _problem(node, each, nulls[place])
        if problem is not None:
            refused[place] = answer(ErrorCode.INVALID_REQUEST, fitting(problem), *resource)
        elif (error := _denial(node, context, *resource)) is not None:
            refused[place] = answer(error, MESSAGES[error], *resource)
    request.resources = [each for place, each in enumerate(request.resources) if place not in refused]

    def answered(response: Any) -> None:
        others = iter(response.responses)
        response.responses = [refused[place] if place in refused else next(others) for place in range(len(asked))]
        reply.complete(response)

    def failed(error: ErrorCode, message: str | None) -> None:
        answered(reply.row.refuse(context, request, error, message))

    node.catalog.write(operation, context, request, CallbackReply(answered, failed))


def _denial(node: Node, context: RequestContext, resource_type: int, name: str) -> ErrorCode | None:
    """Return the error for settings that the sender of a request may not alter, or None."""
    owner = OWNERS[resource_type]
    return denial(node, context, acl_codes.Operation.ALTER_CONFIGS, owner, owner_name(owner, name))


def _problem(node: Node, asked: Any, nulls: Sequence[str]) -> str | None:
    """Return why a resource is invalid by the request alone, or None if the catalog must decide."""
    names = [config.name for config in asked.configs]
    if len(set(names)) != len(names):
        return "Error due to duplicate config keys"
    if nulls:
        return f"Null value not supported for : {', '.join(nulls)}"
    if asked.resource_type == ResourceType.BROKER:
        return _broker_problem(node, asked.resource_name, names)
    return None if asked.resource_type in SETTINGS else f"Unknown resource type {asked.resource_type}"


def _broker_problem(node: Node, name: str, names: list[str]) -> str:
    ours = node.nodes.id
    number = broker_id(name)
    if name and number is None:
        return f"Node id must be an integer, but it is: {name}"
    if name and number != ours:
        return f"Unexpected broker id, expected {ours}, but received {name}"
    return f"Cannot update these configs dynamically: [{', '.join(names)}]"
