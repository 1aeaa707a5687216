"""Settings of topics, groups and servers: DescribeConfigs, IncrementalAlterConfigs and ListConfigResources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeVar

from coordinator_server.client.admin.cluster import Cluster, check, error_of
from coordinator_server.client.errors import ClientError
from protocol.fields import Message
from protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from protocol.messages.list_config_resources import ListConfigResourcesRequest, ListConfigResourcesResponse

R = TypeVar("R", bound=Message)


class ResourceType(IntEnum):
    """What has settings: Kafka's ConfigResource.Type."""

    TOPIC = 2
    BROKER = 4
    CLIENT_METRICS = 16
    GROUP = 32


class SettingSource(IntEnum):
    """Where a value comes from: Kafka's DescribeConfigsResponse.ConfigSource."""

    UNKNOWN = 0
    TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    CLIENT_METRICS_CONFIG = 7
    GROUP_CONFIG = 8

    @property
    def is_set(self) -> bool:
        """Whether the value was set for the resource itself."""
        return self in {
            SettingSource.TOPIC_CONFIG,
            SettingSource.GROUP_CONFIG,
            SettingSource.DYNAMIC_BROKER_CONFIG,
            SettingSource.CLIENT_METRICS_CONFIG,
        }


class Operation(IntEnum):
    """What IncrementalAlterConfigs does with a setting: Kafka's AlterConfigOp.OpType."""

    SET = 0
    DELETE = 1


@dataclass(frozen=True)
class Setting:
    """A setting. ``value`` is None if the server does not show it, or has none."""

    name: str
    value: str | None
    source: SettingSource
    is_sensitive: bool
    is_read_only: bool
    documentation: str | None


async def describe_settings(cluster: Cluster, kind: ResourceType, name: str) -> list[Setting]:
    """Return the settings of a resource, by name. Raises ClientError."""
    request = DescribeConfigsRequest([DescribeConfigsResource(kind, name, None)], include_documentation=True)
    answer = await _ask(cluster, kind, name, request, DescribeConfigsResponse)
    [found] = answer.results
    check(f"settings of {kind.name.lower()} {name}", found.error_code, found.error_message)
    return [
        Setting(
            each.name,
            each.value,
            SettingSource(each.config_source) if each.config_source in list(SettingSource) else SettingSource.UNKNOWN,
            each.is_sensitive,
            each.read_only,
            each.documentation or None,
        )
        for each in sorted(found.configs, key=lambda each: each.name)
    ]


async def alter_settings(
    cluster: Cluster, kind: ResourceType, name: str, values: Mapping[str, str | None], *, is_trial: bool
) -> ClientError | None:
    """Set settings, or take those back whose value is None; or only ask whether that is refused.

    Return why it is. Raises ClientError.
    """
    configs = [AlterableConfig(key, Operation.DELETE if value is None else Operation.SET, value) for key, value in values.items()]
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(kind, name, configs)], is_trial)
    answer = await _ask(cluster, kind, name, request, IncrementalAlterConfigsResponse)
    [altered] = answer.responses
    return error_of(f"change of {kind.name.lower()} {name}", altered.error_code, altered.error_message)


async def list_resources(cluster: Cluster) -> list[tuple[ResourceType, str]]:
    """Return the resources that have settings of their own, or may have. Raises ClientError."""
    answer = await cluster.ask(ListConfigResourcesRequest(), ListConfigResourcesResponse)
    check("ListConfigResources", answer.error_code)
    found = [(each.resource_type, each.resource_name) for each in answer.config_resources]
    return sorted((ResourceType(kind), name) for kind, name in found if kind in list(ResourceType))


async def _ask(cluster: Cluster, kind: ResourceType, name: str, message: Message, response: type[R]) -> R:
    """Ask the server itself for its settings, and the controller for all others."""
    if kind is ResourceType.BROKER and name.isdecimal():
        return await cluster.ask_server(int(name), message, response)
    return await cluster.ask_controller(message, response)
