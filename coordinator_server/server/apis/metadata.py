"""Metadata (3): the nodes, and the topics that a request names or creates, or all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from msgspec.structs import replace

from coordinator_server.catalog.topics import Topic
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.server.apis.lists import UNITS_PER_STEP, answer_list
from coordinator_server.server.cluster.operations import AUTO_CREATE_TOPICS
from coordinator_server.server.cluster.view import NO_NODE
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work
from coordinator_server.server.guard.access import ApiAccess, Asked
from coordinator_server.server.guard.audit import resources_of
from coordinator_server.server.guard.audited_apis import error_codes
from coordinator_server.server.guard.authorized_operations import CLUSTER_OPERATIONS, TOPIC_OPERATIONS, with_topic_operations
from coordinator_server.server.guard.parts import Visible, divided, put_back
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from coordinator_server.topic_names import name_problem
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.fields import ZERO_UUID
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

# The versions that have the field for topic ids, and refuse requests that use it.
_WITHOUT_IDS: Final = (10, 11)
_DENIED: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED
# The work of a topic, besides its partitions.
UNITS_PER_TOPIC = 2


def metadata(node: Node, context: RequestContext, request: MetadataRequest, reply: Exchange[MetadataResponse]) -> None:
    """Answer at once, or, if the request creates topics, when they are durable."""
    _check_topic_ids(context, request)
    missing = _missing_topics(node, context, request)
    if not missing:
        _describe_topics(node, context, request, reply)
        return
    creation = CreateTopicsRequest(topics=[CreatableTopic(name, -1, -1) for name in missing])

    # Whether the creation succeeds or not, the answer describes the topics that exist afterwards.
    def answer(codes: Iterable[int]) -> None:
        if node.audit is not None:
            node.audit.administered(context, resources_of(missing, lambda name: f"Topic:{name}"), codes)
        _describe_topics(node, context, request, reply)

    done = CallbackReply(lambda created: answer(error_codes(created)), lambda error, _message: answer([error]))
    node.catalog.write(AUTO_CREATE_TOPICS, context, creation, done)


def refuse_metadata(context: RequestContext, request: MetadataRequest, error: ErrorCode, message: str | None) -> MetadataResponse:
    topics = [
        MetadataResponseTopic(error, _name_for(context, topic.name), topic.topic_id, topic_authorized_operations=-(1 << 31))
        for topic in request.topics or []
    ]
    return MetadataResponse(topics=topics, error_code=error)


def _check_topic_ids(context: RequestContext, request: MetadataRequest) -> None:
    """Raise CoordinatorError for topic ids in versions 10 and 11, which have the field but do not support it."""
    if context.api_version in _WITHOUT_IDS:
        for topic in request.topics or []:
            if topic.name is None or topic.topic_id != ZERO_UUID:
                raise CoordinatorError(ErrorCode.INVALID_REQUEST, "topics can be asked for by id from version 12 on")


def _wants_all(context: RequestContext, request: MetadataRequest) -> bool:
    return request.topics is None or (context.api_version == 0 and not request.topics)


def _asked_ids(request: MetadataRequest) -> list[bytes]:
    """Return the requested topic ids, each once. If there are any, the requested names are ignored, as in Kafka."""
    return list(dict.fromkeys(topic.topic_id for topic in request.topics or [] if topic.topic_id != ZERO_UUID))


def _asked_names(request: MetadataRequest) -> list[str]:
    """Return the requested names, each once."""
    return list(dict.fromkeys(topic.name or "" for topic in request.topics or []))


def _missing_topics(node: Node, context: RequestContext, request: MetadataRequest) -> list[str]:
    if not (node.config.live.auto_create_topics_enable and request.allow_auto_topic_creation) or _wants_all(context, request):
        return []
    if _asked_ids(request):
        return []
    return sorted(
        name for name in _asked_names(request) if name and name_problem(name) is None and node.image.topic(name) is None
    )


def _describe_topics(node: Node, context: RequestContext, request: MetadataRequest, reply: Exchange[MetadataResponse]) -> None:
    def respond(topics: list[MetadataResponseTopic]) -> MetadataResponse:
        return _metadata(node, request, reply, topics)

    def describe(topic: Topic) -> tuple[MetadataResponseTopic, int]:
        return _sized(_describe(node, topic))

    def describe_id(topic_id: bytes) -> tuple[MetadataResponseTopic, int]:
        known = node.image.topic_by_id(topic_id)
        return _sized(_describe(node, known) if known else MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_ID, None, topic_id))

    def describe_name(name: str) -> tuple[MetadataResponseTopic, int]:
        known = node.image.topic(name)
        return _sized(_describe(node, known) if known else MetadataResponseTopic(_absent(node, name), name))

    def large(topic: Topic | None) -> Work[MetadataResponseTopic] | None:
        return _describe_in_steps(node, topic) if topic is not None and topic.partitions > UNITS_PER_STEP else None

    image = node.image
    if _wants_all(context, request):
        answer_list(node.steps, reply, image.all_topics(), describe, respond, large)
    elif ids := _asked_ids(request):
        answer_list(node.steps, reply, ids, describe_id, respond, lambda topic_id: large(image.topic_by_id(topic_id)))
    else:
        answer_list(node.steps, reply, _asked_names(request), describe_name, respond, lambda name: large(image.topic(name)))


def _sized(topic: MetadataResponseTopic) -> tuple[MetadataResponseTopic, int]:
    return topic, UNITS_PER_TOPIC + len(topic.partitions)


def _metadata(
    node: Node, request: MetadataRequest, reply: Exchange[Any], topics: list[MetadataResponseTopic]
) -> MetadataResponse:
    response = MetadataResponse(
        brokers=[MetadataResponseBroker(node_id, *there) for node_id, there in node.endpoints(reply)],
        cluster_id=node.cluster_id,
        controller_id=node.nodes.controller_id,
        topics=topics,
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = CLUSTER_OPERATIONS
    if request.include_topic_authorized_operations:
        for topic in topics:
            topic.topic_authorized_operations = TOPIC_OPERATIONS
    return response


class _Described:
    """The topics of a request: those that it names, by name or by id, or all."""

    _all: Final = Visible("topics", ResourceType.TOPIC, lambda topic: topic.name)

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return whether everything is named and allowed, and exists."""
        verdicts = asked.access.verdicts(Operation.DESCRIBE, ResourceType.TOPIC)
        if request.include_topic_authorized_operations or request.include_cluster_authorized_operations:
            return False
        if _wants_all(asked.context, request):
            return False
        for topic in request.topics:
            if topic.topic_id != ZERO_UUID or asked.node.image.topic(topic.name or "") is None or not verdicts[topic.name or ""]:
                return False
        return True

    def divide(self, asked: Asked, request: MetadataRequest, reply: Exchange[Any]) -> Work[Any]:
        """Take denied topics out of the request, and those that it would create without the right to."""
        reply.amend(lambda response: with_topic_operations(asked, request, response))
        if request.topics is None or _wants_all(asked.context, request):
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
            (lambda topic: asked.topic_name(topic.topic_id)) if has_ids else (lambda topic: topic.name or ""),
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
            reply.complete(_metadata(asked.node, request, reply, list(answers.values())))
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
        return topic.name if node.image.topic(topic.name or "") is None else None

    return (yield from divided(asked, topics, Operation.CREATE, ResourceType.TOPIC, missing))


METADATA_API = ApiRow(
    MetadataRequest,
    MetadataResponse,
    metadata,
    refuse_metadata,
    Order.READ,
    access=ApiAccess(parts=_Described()),
)


def _absent(node: Node, name: str) -> ErrorCode:
    if name_problem(name):
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    # Clients retry LEADER_NOT_AVAILABLE; some give up on an unknown topic.
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if node.catalog.is_current else ErrorCode.LEADER_NOT_AVAILABLE


def _describe(node: Node, topic: Topic) -> MetadataResponseTopic:
    return _described(node, topic, _partitions(node, topic, range(topic.partitions)))


def _describe_in_steps(node: Node, topic: Topic) -> Work[MetadataResponseTopic]:
    partitions: list[MetadataResponsePartition] = []
    for start in range(0, topic.partitions, UNITS_PER_STEP):
        partitions += _partitions(node, topic, range(start, min(start + UNITS_PER_STEP, topic.partitions)))
        yield
    return _described(node, topic, partitions)


def _described(node: Node, topic: Topic, partitions: list[MetadataResponsePartition]) -> MetadataResponseTopic:
    return MetadataResponseTopic(0, topic.name, topic.topic_id, topic.name in node.internal, partitions)


def _partitions(node: Node, topic: Topic, indexes: range) -> list[MetadataResponsePartition]:
    partitions = []
    for partition, (leader, epoch) in zip(indexes, node.nodes.view.leaders(topic.name, indexes), strict=True):
        replicas = [] if leader == NO_NODE else [leader]
        error = ErrorCode.NONE if replicas else ErrorCode.LEADER_NOT_AVAILABLE
        partitions.append(MetadataResponsePartition(error, partition, leader, epoch, replicas, replicas))
    return partitions


def _name_for(context: RequestContext, name: str | None) -> str | None:
    return name if name is not None or context.api_version >= 12 else ""
