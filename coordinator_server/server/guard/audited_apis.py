"""The administrative APIs: each request to one has a line in the audit log when it is answered, with what it names and the outcome.

``NAMED`` has a row for each, which returns what a request names. No value of a setting or a credential is in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntEnum
from itertools import islice
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

from coordinator_server.catalog.alter_configs import ResourceType
from coordinator_server.catalog.scram_users import ScramMechanism
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.repeat import Repeat
from coordinator_server.server.exchange.exchange import Exchange, Handle
from coordinator_server.server.guard.audit import RESOURCES_PER_LINE, Resources, resources_of
from coordinator_server.server.hosting.node import AuditLog
from protocol.acl_codes import Operation, PatternType, Permission
from protocol.acl_codes import ResourceType as AclResourceType
from protocol.error_codes import ErrorCode
from protocol.fields import Item, Message

ANSWERS_READ: Final = 10_000
"""The most answers of a response that are looked at, which takes some milliseconds."""

# By the codes of IncrementalAlterConfigs (Kafka's AlterConfigOp).
_SETTING_VERBS: Final = {0: "set", 1: "unset", 2: "appended to", 3: "subtracted from"}
_RESOURCE_TYPES: Final = {int(kind): kind.name.title().replace("_", "") for kind in ResourceType}


def _topics(request: Any) -> Resources:
    return resources_of(request.topics, lambda topic: f"Topic:{topic.name}")


def _deleted_topics(request: Any) -> Resources:
    if request.topic_names:
        return resources_of(request.topic_names, lambda name: f"Topic:{name}")
    return resources_of(request.topics, lambda topic: f"Topic:{topic.name or _topic_id(topic)}")


def _configured(request: Any) -> Resources:
    return resources_of(request.resources, _with_settings)


def _with_settings(resource: Any) -> str:
    kind = _RESOURCE_TYPES.get(resource.resource_type, str(resource.resource_type))
    names = ",".join(_setting_text(config) for config in islice(resource.configs, RESOURCES_PER_LINE))
    return f"{kind}:{resource.resource_name} {names}"


def _setting_text(config: Any) -> str:
    """Return a setting with what is done to it. AlterConfigs replaces all settings of a resource, and says nothing of each."""
    operation = getattr(config, "config_operation", None)
    return config.name if operation is None else f"{config.name} {_SETTING_VERBS.get(operation, operation)}"


def _deleted_groups(request: Any) -> Resources:
    return resources_of(request.groups_names, lambda name: f"Group:{name}")


def _of_group(topic_text: Callable[[Any], object]) -> Callable[[Any], Resources]:
    """Return the row of an API about topics of one group, given what a topic is called."""

    def named(request: Any) -> Resources:
        topics = resources_of(request.topics, lambda topic: f"Topic:{topic_text(topic)}")
        return Resources([f"Group:{request.group_id}", *topics.texts], topics.total + 1)

    return named


def _topic_id(topic: Any) -> UUID:
    return UUID(bytes=topic.topic_id)


def _quotas(request: Any) -> Resources:
    return resources_of(request.entries, _quota_text)


def _quota_text(entry: Any) -> str:
    entity = ",".join(
        f"{part.entity_type}={_name_or_default(part.entity_name)}" for part in islice(entry.entity, RESOURCES_PER_LINE)
    )
    changes = ",".join(
        f"{op.key} removed" if op.remove else f"{op.key}={op.value}" for op in islice(entry.ops, RESOURCES_PER_LINE)
    )
    return f"ClientQuota:{entity} {changes}"


def _name_or_default(name: str | None) -> str:
    return "<default>" if name is None else name


def _users(request: Any) -> Resources:
    deleted = resources_of(request.deletions, lambda each: f"User:{each.name} {_mechanism(each)} deleted")
    set_ = resources_of(request.upsertions, lambda each: f"User:{each.name} {_mechanism(each)} set")
    return Resources([*deleted.texts, *set_.texts], deleted.total + set_.total)


def _created_acls(request: Any) -> Resources:
    return resources_of(request.creations, _acl_text)


def _acl_text(acl: Any) -> str:
    """Return a binding in Kafka's words."""
    return (
        f"Acl:{acl.principal} host={acl.host} operation={_name(Operation, acl.operation)} "
        f"permission={_name(Permission, acl.permission_type)} type={_name(AclResourceType, acl.resource_type)} "
        f"pattern={_name(PatternType, acl.resource_pattern_type)} {acl.resource_name}"
    )


def _mechanism(change: Any) -> str:
    return _name(ScramMechanism, change.mechanism).replace("_", "-")


def _name(codes: type[IntEnum], code: int) -> str:
    """Return the name of a code, such as DESCRIBE_CONFIGS; the number, if it has none."""
    try:
        return codes(code).name
    except ValueError:
        return str(code)


def _deleted_acls(request: Any) -> Resources:
    return resources_of(request.filters, _acl_filter_text)


def _acl_filter_text(acl: Any) -> str:
    return (
        f"Acls:{acl.principal_filter} host={acl.host_filter} operation={_name(Operation, acl.operation)} "
        f"permission={_name(Permission, acl.permission_type)} type={_name(AclResourceType, acl.resource_type_filter)} "
        f"pattern={_name(PatternType, acl.pattern_type_filter)} {acl.resource_name_filter}"
    )


def _markers(request: Any) -> Resources:
    return resources_of(request.markers, _marker_text)


def _marker_text(marker: Any) -> str:
    end = "commit" if marker.transaction_result else "abort"
    topics = ",".join(topic.name for topic in islice(marker.topics, RESOURCES_PER_LINE))
    return f"Producer:{marker.producer_id} epoch={marker.producer_epoch} {end} {topics}"


NAMED: Final[dict[str, Callable[[Any], Resources]]] = {
    "CreateTopics": _topics,
    "DeleteTopics": _deleted_topics,
    "CreatePartitions": _topics,
    "AlterConfigs": _configured,
    "IncrementalAlterConfigs": _configured,
    "DeleteGroups": _deleted_groups,
    "OffsetDelete": _of_group(attrgetter("name")),
    "AlterShareGroupOffsets": _of_group(attrgetter("topic_name")),
    "DeleteShareGroupOffsets": _of_group(attrgetter("topic_name")),
    "AlterClientQuotas": _quotas,
    "AlterUserScramCredentials": _users,
    "CreateAcls": _created_acls,
    "DeleteAcls": _deleted_acls,
    "WriteTxnMarkers": _markers,
    "InitializeShareGroupState": _of_group(_topic_id),
    "DeleteShareGroupState": _of_group(_topic_id),
}
NOT_AUDITED: Final = frozenset(
    {
        # What partition leaders ask for all the time: counted, as all requests are.
        "ReadShareGroupState",
        "ReadShareGroupStateSummary",
        "WriteShareGroupState",
        # Only requests of brokers need CLUSTER_ACTION here, and they are daily work of members and producers otherwise.
        "AddPartitionsToTxn",
        "Fetch",
        # Only what it creates is audited (``apis/metadata.py``).
        "Metadata",
    }
)
"""APIs that need ALTER, ALTER_CONFIGS, CREATE, DELETE or CLUSTER_ACTION for some requests, and have no line for each."""


def audited(api_name: str, handle: Handle, audit: AuditLog) -> Handle:
    """Return the handler of an API; it writes a line about each request, if the API is one of ``NAMED``."""
    named = NAMED.get(api_name)
    if named is None:
        return handle

    def handle_audited(context: RequestContext, request: Any, exchange: Exchange[Any], /) -> Repeat | None:
        # Before the handler, which may change the request.
        exchange.observe(AuditLine(audit, named(request), is_dry_run=getattr(request, "validate_only", False)))
        return handle(context, request, exchange)

    return handle_audited


class AuditLine:
    """Observes an administrative request, and writes its line when it is answered."""

    __slots__ = ("_audit", "_fields", "_resources")

    def __init__(self, audit: AuditLog, resources: Resources, *, is_dry_run: bool) -> None:
        self._audit = audit
        self._resources = resources
        self._fields = {"validate_only": True} if is_dry_run else {}

    def worked(self, exchange: Exchange[Any], ns: int, /) -> None:
        """Nothing: a line has no times."""

    def answered(self, exchange: Exchange[Any], response: Any, error: ErrorCode, /) -> None:
        """Write the line. No audited API has an answer that is made in the thread."""
        codes = [error] if response is None else list(islice(error_codes(response), ANSWERS_READ))
        self._audit.administered(exchange.context, self._resources, codes, **self._fields)

    def encoded(self, exchange: Exchange[Any], response: Any, out: bytearray, start: int, /) -> None:
        """Nothing: the line is written already, also if the client is gone."""


def error_codes(message: Message | Item) -> Iterator[int]:
    """Yield the error codes of a response and of its elements."""
    for name in message.__struct_fields__:
        value = getattr(message, name)
        if name == "error_code":
            yield value
        elif isinstance(value, list) and value and isinstance(value[0], Item):
            for each in value:
                yield from error_codes(each)
