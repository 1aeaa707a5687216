"""DescribeConfigs (32), ListConfigResources (74).

The catalog has the settings of topics and groups, equal in every loop. The settings of a broker are this server's properties,
which come from command line, environment and a file, and which no request changes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from coordinator_server.catalog.alter_configs import ResourceType
from coordinator_server.catalog.create import topic_synonyms
from coordinator_server.catalog.describe_configs import ConfigSource, described
from coordinator_server.catalog.setting_tables import GROUP_SETTINGS, TOPIC_SETTINGS, group_synonyms
from coordinator_server.catalog.settings import SettingType
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.config import Config
from coordinator_server.config.load import shown_values
from coordinator_server.config.names import is_secret
from coordinator_server.config.properties import is_property, property_named
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.lists import answer_list
from coordinator_server.server.apis.refusals import each_refused, error_only
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.guard.access import ApiAccess, Asked, cluster
from coordinator_server.server.guard.parts import Both, Each
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from coordinator_server.server.wire.quantum import UNITS_PER_US
from coordinator_server.topic_names import name_problem
from protocol import acl_codes
from protocol.acl_codes import CLUSTER_NAME
from protocol.error_codes import ErrorCode
from protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
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
    ResourceType.GROUP: "Checked, stored and described; it has no effect, because this server delivers no records.",
}
# The work of DescribeConfigs for a resource with all its settings.
UNITS_PER_RESOURCE: Final = 100
# The work of ListConfigResources for a topic.
US_PER_NAME: Final = 1
# The fields that identify a resource, in requests and responses.
RESOURCE: Final = ("resource_type", "resource_name")
OWNERS: Final[Mapping[int, acl_codes.ResourceType]] = {
    ResourceType.TOPIC: acl_codes.ResourceType.TOPIC,
    ResourceType.GROUP: acl_codes.ResourceType.GROUP,
    ResourceType.BROKER: acl_codes.ResourceType.CLUSTER,
    ResourceType.BROKER_LOGGER: acl_codes.ResourceType.CLUSTER,
    ResourceType.CLIENT_METRICS: acl_codes.ResourceType.CLUSTER,
}
"""What the settings of each type belong to, for access control."""
# The types of properties in Kafka, where a value here is a text or a whole number.
_LISTS: Final = frozenset(
    {
        "advertised.listeners",
        "group.consumer.assignors",
        "listeners",
        "log.dirs",
        "sasl.enabled.mechanisms",
        "sasl.oauthbearer.expected.audience",
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
        "sasl.oauthbearer.jwks.endpoint.refresh.ms",
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
    }
)
_CLASSES: Final = frozenset({"sasl.oauthbearer.jwt.validator.class", "sasl.server.callback.handler.class"})
_TYPES: Final[dict[type, SettingType]] = {bool: SettingType.BOOLEAN, int: SettingType.INT, float: SettingType.DOUBLE}


# Describe


def describe_configs(
    node: Node, context: RequestContext, request: DescribeConfigsRequest, reply: Exchange[DescribeConfigsResponse]
) -> None:
    broker = topic_synonyms(node.config)

    def describe(asked: DescribeConfigsResource) -> tuple[DescribeConfigsResult, int]:
        return _describe(node, request, asked, broker), UNITS_PER_RESOURCE

    answer_list(node.steps, reply, request.resources, describe, lambda results: DescribeConfigsResponse(results=results))


def _described(owner: acl_codes.ResourceType) -> Each:
    """Return the need of the resources in a request whose settings belong to ``owner``."""

    def name_of(_: Asked, resource: DescribeConfigsResource) -> str | None:
        return owner_name(owner, resource.resource_name) if OWNERS.get(resource.resource_type) is owner else None

    return Each("resources", acl_codes.Operation.DESCRIBE_CONFIGS, owner, name_of, "results")


def owner_name(owner: acl_codes.ResourceType, name: str) -> str:
    """Return the name under which rights on settings are given."""
    return CLUSTER_NAME if owner is acl_codes.ResourceType.CLUSTER else name


DESCRIBE_CONFIGS_API = ApiRow(
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    describe_configs,
    each_refused(DescribeConfigsResponse, "results", DescribeConfigsResult, of="resources", by=RESOURCE),
    Order.READ,
    access=ApiAccess(
        parts=Both(
            _described(acl_codes.ResourceType.TOPIC),
            Both(_described(acl_codes.ResourceType.GROUP), _described(acl_codes.ResourceType.CLUSTER)),
        )
    ),
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
            own = node.catalog.read(CatalogShard.settings, (kind, name))
            return described(GROUP_SETTINGS, own, ConfigSource.GROUP, group_synonyms(node.config))
        case ResourceType.BROKER:
            return _broker_settings(node, name)
        case _:
            raise CoordinatorError(ErrorCode.INVALID_REQUEST, f"Unsupported resource type: {kind}")


def _topic_settings(node: Node, name: str, broker: Mapping[str, str]) -> list[DescribeConfigsResourceResult]:
    problem = name_problem(name)
    if problem is not None:
        raise CoordinatorError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
    if node.image.topic(name) is None:
        node.image.check_current()
        raise CoordinatorError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    own = node.catalog.read(CatalogShard.settings, (ResourceType.TOPIC, name))
    if name in node.internal:
        own = {"cleanup.policy": "compact", "segment.bytes": str(node.config.log.offsets_topic_segment_bytes)}
    return described(TOPIC_SETTINGS, own, ConfigSource.TOPIC, broker)


def _broker_settings(node: Node, name: str) -> list[DescribeConfigsResourceResult]:
    if not name:
        return []  # No setting of all brokers can be changed at run time.
    ours = node.nodes.id
    number = broker_id(name)
    if number is None:
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}")
    if number != ours:
        problem = f"Unexpected broker id, expected {ours} or empty string, but received {name}"
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, problem)
    present, default = shown_values(node.config), shown_values(Config())
    present["node.id"] = ours
    return [_property(each, value, default.get(each)) for each, value in sorted(present.items())]


def broker_id(name: str) -> int | None:
    """Return the number that Java's ``Integer.parseInt`` finds, or None where it fails."""
    found = re.fullmatch(r"([+-]?)0*(\d{1,10})", name, re.ASCII)
    if found is None:
        return None
    number = int(found[1] + found[2])
    return number if -(1 << 31) <= number < 1 << 31 else None


def _property(name: str, value: Any, default: Any) -> DescribeConfigsResourceResult:
    if is_secret(name):
        return _secret(name, is_set=bool(value))
    synonyms = [] if default is None else [DescribeConfigsSynonym(name, _text(default), ConfigSource.DEFAULT)]
    if value != default:
        synonyms.insert(0, DescribeConfigsSynonym(name, _text(value), ConfigSource.STATIC_BROKER))
    first, kind = synonyms[0], _TYPES.get(type(value), SettingType.STRING)
    if name in _LISTS:
        kind = SettingType.LIST
    if name in _CLASSES:
        kind = SettingType.CLASS
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
    topics = [topic.name for topic in node.image.all_topics()]
    names = {
        ResourceType.GROUP: node.catalog.read(CatalogShard.with_settings, ResourceType.GROUP),
        ResourceType.BROKER: list(map(str, node.nodes.view.node_ids)),
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
    access=cluster(acl_codes.Operation.DESCRIBE_CONFIGS),
)
