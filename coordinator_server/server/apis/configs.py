"""DescribeConfigs (32), IncrementalAlterConfigs (44), AlterConfigs (33), ListConfigResources (74).

The catalog has the settings of topics and groups, equal in every loop. The settings of a broker are this server's properties,
which come from command line, environment and a file, and which no request changes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from coordinator_server.catalog.alter_configs import SETTINGS, Operation, ResourceType
from coordinator_server.catalog.create import topic_synonyms
from coordinator_server.catalog.describe_configs import ConfigSource, described
from coordinator_server.catalog.setting_tables import GROUP_SETTINGS, TOPIC_SETTINGS, group_synonyms
from coordinator_server.catalog.settings import SettingType
from coordinator_server.config import Config
from coordinator_server.config.load import shown_values
from coordinator_server.config.names import is_secret
from coordinator_server.config.properties import is_property, property_named
from coordinator_server.machine.errors import CoordinatorError, fitting
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.apis import config_access
from coordinator_server.server.apis.lists import answer_list
from coordinator_server.server.apis.refusals import each_refused, error_only
from coordinator_server.server.apis.topics import CONTROLLER_ERRORS
from coordinator_server.server.cluster.operations import ALTER_CONFIGS, REPLACE_CONFIGS
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.guard.access import MESSAGES
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from coordinator_server.server.wire.quantum import UNITS_PER_US
from coordinator_server.topic_names import name_problem
from protocol.error_codes import ErrorCode
from protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from protocol.messages.alter_configs import AlterConfigsResourceResponse as ReplacedResource
from protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from protocol.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from protocol.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

# Older versions list the names of client metrics only.
FIRST_WITH_RESOURCE_TYPES: Final = 1
DOCUMENTATION: Final = {
    ResourceType.TOPIC: "Checked, stored and described; it has no effect, because topics of this server store no records.",
    ResourceType.GROUP: "Checked, stored and described; groups of this type are not served yet.",
}
# The work of DescribeConfigs for a resource with all its settings.
UNITS_PER_RESOURCE: Final = 100
# The work of ListConfigResources for a topic.
US_PER_NAME: Final = 1
# The fields that identify a resource, in requests and responses.
RESOURCE: Final = ("resource_type", "resource_name")
# Properties whose text is a list in Kafka.
# As in Kafka, where values here are texts and whole numbers.
_LISTS: Final = frozenset(
    {
        "advertised.listeners",
        "group.consumer.assignors",
        "listeners",
        "log.dirs",
        "sasl.enabled.mechanisms",
        "ssl.cipher.suites",
        "ssl.enabled.protocols",
    }
)
_LONGS: Final = frozenset(
    {
        "connections.max.idle.ms",
        "connections.max.reauth.ms",
        "offsets.retention.check.interval.ms",
        "queued.max.request.bytes",
    }
)
_TYPES: Final[dict[type, SettingType]] = {bool: SettingType.BOOLEAN, int: SettingType.INT, float: SettingType.DOUBLE}


# Describe


def describe_configs(
    node: Node, context: RequestContext, request: DescribeConfigsRequest, reply: Exchange[DescribeConfigsResponse]
) -> None:
    broker = topic_synonyms(node.config)

    def describe(asked: DescribeConfigsResource) -> tuple[DescribeConfigsResult, int]:
        return _describe(node, request, asked, broker), UNITS_PER_RESOURCE

    answer_list(node.steps, reply, request.resources, describe, lambda results: DescribeConfigsResponse(results=results))


DESCRIBE_CONFIGS_API = ApiRow(
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    describe_configs,
    each_refused(DescribeConfigsResponse, "results", DescribeConfigsResult, of="resources", by=RESOURCE),
    Order.READ,
    access=config_access.DESCRIBE_CONFIGS,
)


def _describe(
    node: Node, request: DescribeConfigsRequest, asked: DescribeConfigsResource, broker: Mapping[str, str]
) -> DescribeConfigsResult:
    result = DescribeConfigsResult(resource_type=asked.resource_type, resource_name=asked.resource_name)
    try:
        configs = _settings(node, asked.resource_type, asked.resource_name, broker)
    except CoordinatorError as refused:
        result.error_code, result.error_message = refused.error, refused.message or ""
        return result
    wanted = set(asked.configuration_keys or ())
    result.configs = [config for config in configs if not wanted or config.name in wanted]
    for config in result.configs:
        if not request.include_synonyms:
            config.synonyms = []
        config.documentation = _documentation(asked.resource_type, config.name) if request.include_documentation else None
    return result


def _documentation(kind: int, name: str) -> str:
    served = name if kind == ResourceType.BROKER else f"group.{name}" if kind == ResourceType.GROUP else ""
    return property_named(served).description if is_property(served) else DOCUMENTATION[ResourceType(kind)]


def _settings(node: Node, kind: int, name: str, broker: Mapping[str, str]) -> list[DescribeConfigsResourceResult]:
    match kind:
        case ResourceType.TOPIC:
            return _topic_settings(node, name, broker)
        case ResourceType.GROUP:
            if not name:
                raise CoordinatorError(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
            return described(GROUP_SETTINGS, node.catalog.settings((kind, name)), ConfigSource.GROUP, group_synonyms(node.config))
        case ResourceType.BROKER:
            return _broker_settings(node, name)
        case _:
            raise CoordinatorError(ErrorCode.INVALID_REQUEST, f"Unsupported resource type: {kind}")


def _topic_settings(node: Node, name: str, broker: Mapping[str, str]) -> list[DescribeConfigsResourceResult]:
    problem = name_problem(name)
    if problem is not None:
        raise CoordinatorError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
    if node.topic(name) is None:
        node.check_current()
        raise CoordinatorError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    own = node.catalog.settings((ResourceType.TOPIC, name))
    if name in node.internal:
        own = {"cleanup.policy": "compact", "segment.bytes": str(node.config.log.offsets_topic_segment_bytes)}
    return described(TOPIC_SETTINGS, own, ConfigSource.TOPIC, broker)


def _broker_settings(node: Node, name: str) -> list[DescribeConfigsResourceResult]:
    if not name:
        return []  # No setting of all brokers can be changed at run time.
    ours = node.nodes.first_id + node.nodes.loop
    number = _broker_id(name)
    if number is None:
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}")
    if number != ours:
        problem = f"Unexpected broker id, expected {ours} or empty string, but received {name}"
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, problem)
    present, default = shown_values(node.config), shown_values(Config())
    present["node.id"] = ours
    return [_property(each, value, default.get(each)) for each, value in sorted(present.items())]


def _property(name: str, value: Any, default: Any) -> DescribeConfigsResourceResult:
    if is_secret(name):
        return _secret(name, is_set=bool(value))
    synonyms = [] if default is None else [DescribeConfigsSynonym(name, _text(default), ConfigSource.DEFAULT)]
    if value != default:
        synonyms.insert(0, DescribeConfigsSynonym(name, _text(value), ConfigSource.STATIC_BROKER))
    first, kind = synonyms[0], _TYPES.get(type(value), SettingType.STRING)
    if name in _LISTS:
        kind = SettingType.LIST
    if kind is SettingType.INT and (name in _LONGS or name.startswith("log.")):
        kind = SettingType.LONG  # nearly all of log. are, in Kafka
    return DescribeConfigsResourceResult(name, first.value, True, first.source, False, synonyms, kind, None)


def _secret(name: str, *, is_set: bool) -> DescribeConfigsResourceResult:
    """Describe a property whose value no client gets."""
    synonyms = [DescribeConfigsSynonym(name, None, ConfigSource.STATIC_BROKER)] if is_set else []
    source = ConfigSource.STATIC_BROKER if is_set else ConfigSource.DEFAULT
    return DescribeConfigsResourceResult(name, None, True, source, True, synonyms, SettingType.PASSWORD, None)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# Alter


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
    access=config_access.ALTER_CONFIGS,
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
    access=config_access.ALTER_CONFIGS,
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
        elif (error := config_access.alteration_denied(node, context, *resource)) is not None:
            refused[place] = answer(error, MESSAGES[error], *resource)
    request.resources = [each for place, each in enumerate(request.resources) if place not in refused]

    def answered(response: Any) -> None:
        others = iter(response.responses)
        response.responses = [refused[place] if place in refused else next(others) for place in range(len(asked))]
        reply.complete(response)

    def failed(error: ErrorCode, message: str | None) -> None:
        answered(reply.row.refuse(context, request, error, message))

    node.catalog.write(operation, context, request, CallbackReply(answered, failed))


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


def _broker_id(name: str) -> int | None:
    """Return the number that Java's ``Integer.parseInt`` finds, or None where it fails."""
    found = re.fullmatch(r"([+-]?)0*(\d{1,10})", name, re.ASCII)
    if found is None:
        return None
    number = int(found[1] + found[2])
    return number if -(1 << 31) <= number < 1 << 31 else None


def _broker_problem(node: Node, name: str, names: list[str]) -> str:
    ours = node.nodes.first_id + node.nodes.loop
    number = _broker_id(name)
    if name and number is None:
        return f"Node id must be an integer, but it is: {name}"
    if name and number != ours:
        return f"Unexpected broker id, expected {ours}, but received {name}"
    return f"Cannot update these configs dynamically: [{', '.join(names)}]"


# List


def list_config_resources(
    node: Node, context: RequestContext, request: ListConfigResourcesRequest, reply: Exchange[ListConfigResourcesResponse]
) -> None:
    """List the resources that DescribeConfigs knows; of groups only those with settings."""
    if context.api_version < FIRST_WITH_RESOURCE_TYPES:
        wanted = {int(ResourceType.CLIENT_METRICS)}
    else:
        wanted = set(request.resource_types) or {int(kind) for kind in ResourceType}
    if not wanted <= {int(kind) for kind in ResourceType}:
        raise CoordinatorError(ErrorCode.UNSUPPORTED_VERSION)
    topics = [topic.name for topic in node.all_topics()]
    names = {
        ResourceType.GROUP: node.catalog.with_settings(ResourceType.GROUP),
        ResourceType.BROKER: [str(node.nodes.first_id + loop) for loop in range(node.nodes.loops)],
        ResourceType.TOPIC: topics,
    }
    found = [ConfigResource(name, kind) for kind, each in names.items() if kind in wanted for name in each]
    reply.connection.use_up(US_PER_NAME * UNITS_PER_US * len(topics))
    reply.complete(ListConfigResourcesResponse(config_resources=found))


LIST_CONFIG_RESOURCES_API = ApiRow(
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
    list_config_resources,
    error_only(ListConfigResourcesResponse),
    Order.READ,
    access=config_access.LIST_RESOURCES,
)
