"""What requests about topics and their partitions need, and those that look for coordinators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from coordinator_server.kinds import GROUPS, SHARE_STATE, TRANSACTIONS
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work, in_portions
from coordinator_server.server.guard.access import MESSAGES, ApiAccess, Asked, Need, on_cluster
from coordinator_server.server.guard.authorized_operations import NOT_REQUESTED, OF_CLUSTER, OF_TOPICS
from coordinator_server.server.guard.parts import (
    CHECKED_PER_STEP,
    EMPTY_MESSAGES,
    NO_MESSAGES,
    Both,
    Each,
    Filtered,
    Visible,
    divided,
    put_back,
)
from coordinator_server.server.hosting.node import Node
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.fields import ZERO_UUID
from protocol.first_versions import (
    COORDINATOR_KEYS,
    COORDINATORS_OF_SHARE_PARTITIONS,
    DELETION_BY_TOPIC_ID,
    RECORDS_BY_TOPIC_ID,
)
from protocol.messages.delete_topics import DeletableTopicResult
from protocol.messages.metadata import MetadataRequest, MetadataResponse, MetadataResponseTopic

_DENIED: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED
# The versions of Metadata that have the field for topic ids, and refuse requests that use it.
_WITHOUT_IDS: Final = (10, 11)

# In a record batch: the position of the last byte of its attributes, and the bit in it.
_ATTRIBUTES, _TRANSACTIONAL = 22, 0x10
_NOT_CREATED: Final = "Authorization failed."


# Metadata and DescribeTopicPartitions


class _Described:
    """The topics of a Metadata request: those that it names, by name or by id, or all. ``respond`` makes a response of topics."""

    def __init__(self, respond: Callable[[Node, MetadataRequest, Exchange[Any], list[Any]], MetadataResponse]) -> None:
        self._respond = respond
        self._all = Visible("topics", ResourceType.TOPIC, lambda topic: topic.name)

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return whether everything is named and allowed, and exists."""
        version, verdicts = asked.context.api_version, asked.access.verdicts(Operation.DESCRIBE, ResourceType.TOPIC)
        if request.topics is None or (version == 0 and not request.topics) or request.include_topic_authorized_operations:
            return False
        if request.include_cluster_authorized_operations:
            return False
        for topic in request.topics:
            if topic.topic_id != ZERO_UUID or asked.node.topic(topic.name or "") is None or not verdicts[topic.name or ""]:
                return False
        return True

    def divide(self, asked: Asked, request: MetadataRequest, reply: Exchange[Any]) -> Work[Any]:
        """Take denied topics out of the request, and those that it would create without the right to."""
        reply.amend(lambda response: _with_operations(asked, response))
        if request.topics is None or (asked.context.api_version == 0 and not request.topics):
            return (yield from self._all.divide(asked, request, reply))
        if asked.context.api_version in _WITHOUT_IDS and any(
            topic.name is None or topic.topic_id != ZERO_UUID for topic in request.topics
        ):
            return request
        has_ids = any(topic.topic_id != ZERO_UUID for topic in request.topics)
        allowed, denied = yield from divided(
            asked,
            request.topics,
            Operation.DESCRIBE,
            ResourceType.TOPIC,
            (lambda topic: _name_of_id(asked, topic.topic_id)) if has_ids else (lambda topic: topic.name or ""),
        )
        if not has_ids:
            allowed, uncreated = yield from _without_uncreated(asked, request, allowed)
            denied = [*denied, *uncreated]
        if not denied:
            return request
        if has_ids:
            answers = {topic.topic_id: MetadataResponseTopic(_DENIED, None, topic.topic_id) for topic in denied}
        else:
            answers = {topic.name or "": MetadataResponseTopic(_DENIED, topic.name or "") for topic in denied}
        if not allowed:
            reply.complete(self._respond(asked.node, request, reply, list(answers.values())))
            return None
        return put_back(reply, replace(request, topics=allowed), "topics", list(answers.values()))


def _without_uncreated(asked: Asked, request: MetadataRequest, topics: list[Any]) -> Work[tuple[list[Any], list[Any]]]:
    """Return the topics that exist or may be created, and the others."""
    node = asked.node
    if not (node.config.live.auto_create_topics_enable and request.allow_auto_topic_creation):
        return topics, []
    if asked.access.allows(Operation.CREATE, ResourceType.CLUSTER):
        return topics, []

    def missing(topic: Any) -> str | None:
        return topic.name if node.topic(topic.name or "") is None else None

    return (yield from divided(asked, topics, Operation.CREATE, ResourceType.TOPIC, missing))


def _name_of_id(asked: Asked, topic_id: bytes) -> str | None:
    known = asked.node.topic_by_id(topic_id)
    return known.name if known is not None else None


def _with_operations(asked: Asked, response: Any) -> Any:
    """Set the operations that the principal may do, on topics and on the cluster."""
    for topic in response.topics:
        if topic.topic_authorized_operations >= 0:
            name = topic.name
            is_described = name is not None and topic.error_code != _DENIED
            bits = asked.access.allowed_bits(OF_TOPICS, ResourceType.TOPIC, name or "") if is_described else NOT_REQUESTED
            topic.topic_authorized_operations = bits
    return _with_cluster_operations(asked, None, response)


def _with_cluster_operations(asked: Asked, request: Any, response: Any) -> Any:
    if getattr(response, "cluster_authorized_operations", NOT_REQUESTED) >= 0:
        may_describe = asked.access.allows(Operation.DESCRIBE, ResourceType.CLUSTER)
        bits = asked.access.allowed_bits(OF_CLUSTER, ResourceType.CLUSTER) if may_describe else 0
        response.cluster_authorized_operations = bits
    return response


def metadata(respond: Callable[[Node, MetadataRequest, Exchange[Any], list[Any]], MetadataResponse]) -> ApiAccess[Any]:
    """Return what Metadata needs. ``respond`` makes its response of topics."""
    return ApiAccess(parts=_Described(respond))


DESCRIBE_CLUSTER: Final[ApiAccess[Any]] = ApiAccess(parts=Filtered(_with_cluster_operations))
TOPIC_PAGES: Final[ApiAccess[Any]] = ApiAccess(
    # Where all topics are asked for, the handler leaves out those that are not visible: they take no room of a page.
    parts=Both(
        Each("topics", Operation.DESCRIBE, ResourceType.TOPIC, lambda _, topic: topic.name, "topics"),
        Filtered(lambda asked, request, response: _with_operations(asked, response)),
    )
)


# FindCoordinator


class _Coordinators:
    """The keys of a FindCoordinator request: groups, transactional ids, or share partitions, for which only brokers look."""

    _keys: Final = {
        key_type: Each("coordinator_keys", Operation.DESCRIBE, kind, lambda _, key: key, "coordinators", EMPTY_MESSAGES)
        for key_type, kind in (
            (GROUPS.key_type, ResourceType.GROUP),
            (TRANSACTIONS.key_type, ResourceType.TRANSACTIONAL_ID),
        )
    }

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return whether all keys are allowed."""
        keys = self._keys.get(request.key_type)
        return keys is not None and asked.context.api_version >= COORDINATOR_KEYS and keys.allows_all(asked, request)

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Take the denied keys out of a request."""
        version, keys = asked.context.api_version, self._keys.get(request.key_type)
        if keys is not None and version >= COORDINATOR_KEYS:
            return (yield from keys.divide(asked, request, reply))
        need = None
        if keys is not None:
            need = Need(Operation.DESCRIBE, keys.resource_type, lambda _: request.key)
        elif (
            request.key_type == SHARE_STATE.key_type and version >= COORDINATORS_OF_SHARE_PARTITIONS and request.coordinator_keys
        ):
            need = on_cluster(Operation.CLUSTER_ACTION)
        if need is None or need.is_met(asked, request):
            return request
        reply.fail(need.error, MESSAGES[need.error])
        return None


FIND_COORDINATOR: Final[ApiAccess[Any]] = ApiAccess(parts=_Coordinators())


# Partitions


def _topic(asked: Asked, topic: Any) -> str | None:
    """Return the name of a topic of Produce; None if no topic has its id."""
    if asked.context.api_version >= RECORDS_BY_TOPIC_ID:
        return _name_of_id(asked, topic.topic_id)
    name: str = topic.name
    return name


def _fetched_topic(asked: Asked, topic: Any) -> str | None:
    """Return the name of a topic of Fetch; None if no topic has its id."""
    if asked.context.api_version >= RECORDS_BY_TOPIC_ID:
        return _name_of_id(asked, topic.topic_id)
    name: str = topic.topic
    return name


class _FetchedPartitions:
    """The topics of a Fetch. A request of a replica is one of a broker."""

    _topics = Each("topics", Operation.READ, ResourceType.TOPIC, _fetched_topic, "responses", is_whole=True)

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return whether all topics are allowed."""
        if max(request.replica_id, request.replica_state.replica_id) >= 0:
            return asked.access.allows(Operation.CLUSTER_ACTION, ResourceType.CLUSTER)
        return self._topics.allows_all(asked, request)

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Take the denied topics out of the request."""
        if max(request.replica_id, request.replica_state.replica_id) < 0:
            return (yield from self._topics.divide(asked, request, reply))
        if asked.allows(Operation.CLUSTER_ACTION, ResourceType.CLUSTER):
            return request
        refused: Any = reply.row.refuse(asked.context, request, _DENIED, None)
        return put_back(reply, replace(request, topics=[]), "responses", refused.responses)


class _Produced:
    """The topics of a Produce, and its transaction. With acks=0 the handler closes the connection."""

    _topics = Each("topic_data", Operation.WRITE, ResourceType.TOPIC, _topic, "responses", NO_MESSAGES)

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return whether there is no answer, or everything is allowed."""
        return request.acks == 0 or (not _is_transactional(request) and self._topics.allows_all(asked, request))

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Take the denied topics out of the request."""
        if request.acks == 0:
            return request
        if _is_transactional(request) and not (
            request.transactional_id is not None
            and asked.allows(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id)
        ):
            error = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
            reply.fail(error, MESSAGES[error])
            return None
        return (yield from self._topics.divide(asked, request, reply))


def _is_transactional(request: Any) -> bool:
    """Return whether a Produce has records of a transaction: the bit is in the last byte of the attributes of each batch."""
    return any(
        records is not None and len(records) > _ATTRIBUTES and records[_ATTRIBUTES] & _TRANSACTIONAL
        for topic in request.topic_data
        for records in (partition.records for partition in topic.partition_data)
    )


FETCH: Final[ApiAccess[Any]] = ApiAccess(parts=_FetchedPartitions())
PRODUCE: Final[ApiAccess[Any]] = ApiAccess(parts=_Produced())
LIST_OFFSETS: Final[ApiAccess[Any]] = ApiAccess(
    parts=Each("topics", Operation.DESCRIBE, ResourceType.TOPIC, lambda _, topic: topic.name, "topics")
)


# Changes of topics


class _Created:
    """The topics of a CreateTopics. Who may create topics in the cluster may create all."""

    _topics = Each(
        "topics",
        Operation.CREATE,
        ResourceType.TOPIC,
        lambda _, topic: topic.name,
        "topics",
        dict.fromkeys(MESSAGES, _NOT_CREATED),
    )

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return False: these requests are rare."""
        return False

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Take the denied topics out of the request, and hide settings from who may not see them."""
        if not asked.access.allows(Operation.CREATE, ResourceType.CLUSTER):
            request = yield from self._topics.divide(asked, request, reply)
        if request is not None:
            reply.amend(lambda response: _with_hidden_configs(asked, response))
        return request


def _with_hidden_configs(asked: Asked, response: Any) -> Any:
    verdicts = asked.access.verdicts(Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC)
    hidden = {"topic_config_error_code": _DENIED, "num_partitions": -1, "replication_factor": -1, "configs": []}
    topics = [each if each.error_code or verdicts[each.name] else replace(each, **hidden) for each in response.topics]
    return replace(response, topics=topics)


class _Deleted:
    """The topics of a DeleteTopics, by name or by id. Who may delete in the cluster may delete all."""

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return whether the cluster's right is enough."""
        return asked.access.allows(Operation.DELETE, ResourceType.CLUSTER)

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Take the denied topics out of the request. What one may not describe looks as if it did not exist, or as if it did."""
        if self.allows_all(asked, request):
            return request
        by_name = asked.context.api_version < DELETION_BY_TOPIC_ID
        field = "topic_names" if by_name else "topics"
        allowed: list[Any] = []
        denied: list[DeletableTopicResult] = []
        names: dict[str, None] = {}
        for portion in in_portions(getattr(request, field), CHECKED_PER_STEP):
            for each in portion:
                name, topic_id = (each, ZERO_UUID) if by_name else (each.name, each.topic_id)
                refused = _undeleted(asked, name, topic_id)
                if refused is None:
                    allowed.append(each)
                else:
                    denied.append(refused)
                    names[name or _name_of_id(asked, topic_id) or ""] = None
            yield
        if not denied:
            return request
        asked.report(asked.context, Operation.DELETE, ResourceType.TOPIC, list(names))
        return put_back(reply, replace(request, **{field: allowed}), "responses", denied)


def _undeleted(asked: Asked, name: str | None, topic_id: bytes) -> DeletableTopicResult | None:
    """Return the refusal of a topic, or None. Of one that may not be described, no answer says whether it exists, or its name."""
    describable = asked.access.verdicts(Operation.DESCRIBE, ResourceType.TOPIC)
    deletable = asked.access.verdicts(Operation.DELETE, ResourceType.TOPIC)
    if name is None:
        found = _name_of_id(asked, topic_id)
        is_denied = found is not None and not deletable[found]
        name = found if found is not None and describable[found] else None
    elif topic_id != ZERO_UUID:
        return None
    else:
        is_denied = not describable[name] or (asked.node.topic(name) is not None and not deletable[name])
    return DeletableTopicResult(name, topic_id, _DENIED, MESSAGES[_DENIED]) if is_denied else None


CREATE_TOPICS: Final[ApiAccess[Any]] = ApiAccess(parts=_Created())
DELETE_TOPICS: Final[ApiAccess[Any]] = ApiAccess(parts=_Deleted())
CREATE_PARTITIONS: Final[ApiAccess[Any]] = ApiAccess(
    parts=Each("topics", Operation.ALTER, ResourceType.TOPIC, lambda _, topic: topic.name, "results", NO_MESSAGES)
)
