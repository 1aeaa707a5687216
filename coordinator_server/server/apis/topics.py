"""CreateTopics (19), DeleteTopics (20), CreatePartitions (37): changes of the catalog, which is the controller for clients."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from msgspec.structs import replace

from coordinator_server.catalog.delete import NO_SUCH_ID, NO_SUCH_NAME
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.server.apis.refusals import each_refused
from coordinator_server.server.cluster.operations import CREATE_PARTITIONS, CREATE_TOPICS, DELETE_TOPICS
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work, in_portions
from coordinator_server.server.guard.access import MESSAGES, ApiAccess, Asked
from coordinator_server.server.guard.parts import CHECKED_PER_STEP, NO_MESSAGES, Each, put_back
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.fields import ZERO_UUID
from protocol.first_versions import DELETION_BY_TOPIC_ID
from protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from protocol.messages.create_topics import CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse
from protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)

# The first version of DeleteTopics with the error TOPIC_DELETION_DISABLED.
FIRST_WITH_DELETION_DISABLED = 3

# The work of a step of DeleteTopics.
TOPICS_PER_STEP: Final = 1_000

_DENIED: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_NOT_CREATED: Final = "Authorization failed."

# Admin clients know these errors and retry those that are retriable.
CONTROLLER_ERRORS = {
    ErrorCode.NOT_COORDINATOR: ErrorCode.NOT_CONTROLLER,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: ErrorCode.NOT_CONTROLLER,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_CONTROLLER,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_CONTROLLER,
    # Kafka's controller gives this error for a batch with more records than it can write at once.
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.POLICY_VIOLATION,
}


def create_topics(
    node: Node, context: RequestContext, request: CreateTopicsRequest, reply: Exchange[CreateTopicsResponse]
) -> None:
    reply.connection.use_up()
    node.catalog.write(CREATE_TOPICS, context, request, reply)


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


CREATE_TOPICS_API = ApiRow(
    CreateTopicsRequest,
    CreateTopicsResponse,
    create_topics,
    each_refused(CreateTopicsResponse, "topics", CreatableTopicResult, of="topics", by=("name",), errors=CONTROLLER_ERRORS),
    Order.ALONE,
    access=ApiAccess(parts=_Created()),
)


def delete_topics(
    node: Node, context: RequestContext, request: DeleteTopicsRequest, reply: Exchange[DeleteTopicsResponse]
) -> None:
    if context.api_version < DELETION_BY_TOPIC_ID:
        request.topics = [DeleteTopicState(name) for name in request.topic_names]
    reply.connection.use_up()
    if len(request.topics) > TOPICS_PER_STEP:
        node.steps.run_on(reply, _delete_in_steps(node, context, request, reply))
    else:
        node.catalog.write(DELETE_TOPICS, context, request, reply)


def _delete_in_steps(
    node: Node, context: RequestContext, request: DeleteTopicsRequest, reply: Exchange[DeleteTopicsResponse]
) -> Work[None]:
    """Refuse unknown topics in steps. The catalog decides about the others, which are not many, in one operation."""
    times = Counter((topic.name, topic.topic_id) for topic in request.topics)
    yield
    refused: list[DeletableTopicResult] = []
    others: list[DeleteTopicState] = []
    for topics in in_portions(request.topics, TOPICS_PER_STEP):
        for topic in topics:
            result = _refusal_of_unknown(node, topic) if times[topic.name, topic.topic_id] == 1 else None
            if result is None:
                others.append(topic)
            else:
                refused.append(result)
        yield

    def answered(response: DeleteTopicsResponse) -> None:
        reply.complete(DeleteTopicsResponse(responses=[*refused, *response.responses]))

    rest = DeleteTopicsRequest(topics=others, timeout_ms=request.timeout_ms)
    node.catalog.write(DELETE_TOPICS, context, rest, CallbackReply(answered, reply.fail))


def _refusal_of_unknown(node: Node, topic: DeleteTopicState) -> DeletableTopicResult | None:
    """Return the answer for a name or an id that no topic has, or None."""
    name, topic_id = topic.name, topic.topic_id
    if name is None:
        if topic_id == ZERO_UUID or node.image.topic_by_id(topic_id) is not None:
            return None
        result = DeletableTopicResult(None, topic_id, ErrorCode.UNKNOWN_TOPIC_ID, NO_SUCH_ID)
    else:
        if topic_id != ZERO_UUID or name in node.internal or node.image.topic(name) is not None:
            return None
        result = DeletableTopicResult(name, ZERO_UUID, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, NO_SUCH_NAME)
    node.image.check_current()
    return result


def refuse_delete_topics(
    context: RequestContext, request: DeleteTopicsRequest, error: ErrorCode, message: str | None
) -> DeleteTopicsResponse:
    code = CONTROLLER_ERRORS.get(error, error)
    if code == ErrorCode.TOPIC_DELETION_DISABLED and context.api_version < FIRST_WITH_DELETION_DISABLED:
        code = ErrorCode.INVALID_REQUEST
    topics = request.topics or [DeleteTopicState(name) for name in request.topic_names]
    return DeleteTopicsResponse(responses=[DeletableTopicResult(topic.name, topic.topic_id, code, message) for topic in topics])


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
                refused = _denial(asked, name, topic_id)
                if refused is None:
                    allowed.append(each)
                else:
                    denied.append(refused)
                    names[name or asked.topic_name(topic_id) or ""] = None
            yield
        if not denied:
            return request
        asked.report(asked.context, Operation.DELETE, ResourceType.TOPIC, list(names))
        return put_back(reply, replace(request, **{field: allowed}), "responses", denied)


def _denial(asked: Asked, name: str | None, topic_id: bytes) -> DeletableTopicResult | None:
    """Return the refusal of a topic, or None. Of one that may not be described, no answer says whether it exists, or its name."""
    describable = asked.access.verdicts(Operation.DESCRIBE, ResourceType.TOPIC)
    deletable = asked.access.verdicts(Operation.DELETE, ResourceType.TOPIC)
    if name is None:
        found = asked.topic_name(topic_id)
        is_denied = found is not None and not deletable[found]
        name = found if found is not None and describable[found] else None
    elif topic_id != ZERO_UUID:
        return None
    else:
        is_denied = not describable[name] or (asked.node.image.topic(name) is not None and not deletable[name])
    return DeletableTopicResult(name, topic_id, _DENIED, MESSAGES[_DENIED]) if is_denied else None


DELETE_TOPICS_API = ApiRow(
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    delete_topics,
    refuse_delete_topics,
    Order.ALONE,
    access=ApiAccess(parts=_Deleted()),
)


def create_partitions(
    node: Node, context: RequestContext, request: CreatePartitionsRequest, reply: Exchange[CreatePartitionsResponse]
) -> None:
    reply.connection.use_up()
    node.catalog.write(CREATE_PARTITIONS, context, request, reply)


CREATE_PARTITIONS_API = ApiRow(
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    create_partitions,
    each_refused(
        CreatePartitionsResponse, "results", CreatePartitionsTopicResult, of="topics", by=("name",), errors=CONTROLLER_ERRORS
    ),
    Order.ALONE,
    access=ApiAccess(
        parts=Each("topics", Operation.ALTER, ResourceType.TOPIC, lambda _, topic: topic.name, "results", NO_MESSAGES)
    ),
)
