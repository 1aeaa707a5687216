"""IncrementalAlterConfigs (44) and AlterConfigs (33): settings of topics and groups (``ConfigurationControlManager``)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import IntEnum
from functools import partial
from typing import Final, NamedTuple

from coordinator_server.catalog.setting_tables import (
    GROUP_SETTINGS,
    TOPIC_SETTINGS,
    check_group_settings,
    check_topic_settings,
)
from coordinator_server.catalog.settings import Setting, SettingType, invalid
from coordinator_server.config import Config
from coordinator_server.kinds import KINDS
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.topic_names import name_problem
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from protocol.messages.alter_configs import AlterConfigsResource as ReplacingResource
from protocol.messages.alter_configs import AlterConfigsResourceResponse as ReplacedResource
from protocol.messages.cluster_metadata import ConfigRecord
from protocol.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from protocol.wire import MAX_STRING


class ResourceType(IntEnum):
    """Kafka's ``ConfigResource.Type``."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class Operation(IntEnum):
    """Kafka's ``AlterConfigOp.OpType``."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


SETTINGS: Final[Mapping[int, Mapping[str, Setting]]] = {ResourceType.TOPIC: TOPIC_SETTINGS, ResourceType.GROUP: GROUP_SETTINGS}
_CHECKS: Final[Mapping[int, Callable[[Mapping[str, str], Config], None]]] = {
    ResourceType.TOPIC: lambda given, _config: check_topic_settings(given),
    ResourceType.GROUP: check_group_settings,
}

Resource = tuple[int, str]
Own = Mapping[str, str]
Current = Callable[[Resource], Own]


class Limits(NamedTuple):
    """What decides about changes besides the settings: the existing topics, and the server's properties.

    ``groups_left`` is the number of groups without settings that may get some.
    """

    topics: Collection[str]
    config: Config
    groups_left: int


def plan_alteration(
    request: IncrementalAlterConfigsRequest, current: Current, limits: Limits
) -> tuple[IncrementalAlterConfigsResponse, list[CoordinatorRecord]]:
    """Return the answer for each resource, and the records of the changes. Each resource occurs once in the request."""
    responses, records, left = [], [], _GroupsLeft(limits.groups_left)
    for asked in request.resources:
        resource = (asked.resource_type, asked.resource_name)
        answer = AlterConfigsResourceResponse(0, None, *resource)
        responses.append(answer)
        records += _planned(answer, partial(_altered, asked), current(resource), limits, left)
    return IncrementalAlterConfigsResponse(responses=responses), records


def plan_replacement(
    request: AlterConfigsRequest, current: Current, limits: Limits
) -> tuple[AlterConfigsResponse, list[CoordinatorRecord]]:
    """Return answers and records for AlterConfigs, which deletes all settings that the request does not have."""
    responses, records, left = [], [], _GroupsLeft(limits.groups_left)
    for asked in request.resources:
        resource = (asked.resource_type, asked.resource_name)
        answer = ReplacedResource(0, None, *resource)
        responses.append(answer)
        records += _planned(answer, partial(_replaced, asked), current(resource), limits, left)
    return AlterConfigsResponse(responses=responses), records


def config_records(resource: Resource, own: Mapping[str, str | None]) -> list[CoordinatorRecord]:
    """Return the records of these settings. A value of None deletes a setting."""
    return [CoordinatorRecord(ConfigRecord(*resource, name, value), None) for name, value in own.items()]


class _GroupsLeft:
    """Counts the groups that get settings: their names need not be those of groups that exist."""

    def __init__(self, left: int) -> None:
        self._left = left

    def check(self, resource: Resource, before: Own, after: Own) -> None:
        """Raise CoordinatorError if a group gets its first setting, and too many have some."""
        if resource[0] == ResourceType.GROUP and after and not before:
            if self._left <= 0:
                raise CoordinatorError(ErrorCode.POLICY_VIOLATION, "as many groups have settings as group.configs.max allows")
            self._left -= 1


def _planned(
    answer: AlterConfigsResourceResponse | ReplacedResource,
    afterwards: Callable[[Own], Own],
    own: Own,
    limits: Limits,
    left: _GroupsLeft,
) -> list[CoordinatorRecord]:
    """Return the records of the changes. If the resource is refused, set the error of its answer and return none."""
    try:
        resource, wanted = (answer.resource_type, answer.resource_name), afterwards(own)
        changes = _changes(resource, wanted, own, limits)
        left.check(resource, own, wanted)
        return changes
    except CoordinatorError as refused:
        answer.error_code, answer.error_message = refused.error, refused.message
        return []


def _replaced(asked: ReplacingResource, own: Own) -> Own:
    """Return the resource's new settings: those of the request."""
    return {config.name: config.value or "" for config in asked.configs}


def _altered(asked: AlterConfigsResource, own: Own) -> Own:
    """Return the resource's new settings: its present ones with the changes of the request."""
    wanted = dict(own)
    for config in asked.configs:
        name, given = config.name, config.value or ""
        match config.config_operation:
            case Operation.SET:
                wanted[name] = given
            case Operation.DELETE:
                wanted.pop(name, None)
            case Operation.APPEND | Operation.SUBTRACT:
                wanted[name] = _edited(asked.resource_type, name, Operation(config.config_operation), given, wanted.get(name))
            case unknown:
                raise CoordinatorError(ErrorCode.INVALID_REQUEST, f"Unknown operations type {unknown}")
    return wanted


def _edited(resource_type: int, name: str, operation: Operation, given: str, own: str | None) -> str:
    """Return the text of a list setting with elements added or removed."""
    setting = SETTINGS.get(resource_type, {}).get(name)
    if setting is None or setting.type is not SettingType.LIST:
        raise invalid(f"Can't {operation.name} to key {name} because its type is not LIST.")
    parts = [part for part in (setting.default if own is None else own).split(",") if part]
    for each in given.split(","):
        if operation is Operation.APPEND and each not in parts:
            parts.append(each)
        elif operation is Operation.SUBTRACT and each in parts:
            parts.remove(each)
    return ",".join(parts)


def _changes(resource: Resource, wanted: Own, own: Own, limits: Limits) -> list[CoordinatorRecord]:
    """Return the records that change the present settings to the wanted ones. Raises CoordinatorError."""
    for name, value in wanted.items():
        if len(value.encode()) > MAX_STRING and value != own.get(name):
            too_large = f"it exceeds the maximum value size of {MAX_STRING} bytes."
            raise invalid(f"The configuration value cannot be added because {too_large}")
    kind, name = resource
    _check_name(kind, name)
    _CHECKS[kind](wanted, limits.config)
    if kind == ResourceType.TOPIC and name not in limits.topics:
        raise CoordinatorError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
    changed: dict[str, str | None] = {key: value for key, value in wanted.items() if own.get(key) != value}
    changed.update(dict.fromkeys(key for key in own if key not in wanted))
    return config_records(resource, changed)


def _check_name(kind: int, name: str) -> None:
    if kind not in SETTINGS:
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {kind}")
    if not name:
        what = "topic" if kind == ResourceType.TOPIC else "group"
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, f"Default {what} resources are not allowed.")
    if kind == ResourceType.TOPIC:
        problem = name_problem(name)
        if problem is not None:
            raise CoordinatorError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
        if name in KINDS:
            raise CoordinatorError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{name} is this server's own log")
