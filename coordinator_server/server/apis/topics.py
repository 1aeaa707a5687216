"""CreateTopics (19), DeleteTopics (20), CreatePartitions (37): changes of the catalog, which is the controller for clients."""

from __future__ import annotations

from collections import Counter
from typing import Final

from coordinator_server.catalog.delete import NO_SUCH_ID, NO_SUCH_NAME
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.server.apis import topic_access
from coordinator_server.server.apis.refusals import each_refused
from coordinator_server.server.cluster.operations import CREATE_PARTITIONS, CREATE_TOPICS, DELETE_TOPICS
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work, in_portions
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
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


CREATE_TOPICS_API = ApiRow(
    CreateTopicsRequest,
    CreateTopicsResponse,
    create_topics,
    each_refused(CreateTopicsResponse, "topics", CreatableTopicResult, of="topics", by=("name",), errors=CONTROLLER_ERRORS),
    Order.ALONE,
    access=topic_access.CREATE_TOPICS,
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
        if topic_id == ZERO_UUID or node.topic_by_id(topic_id) is not None:
            return None
        result = DeletableTopicResult(None, topic_id, ErrorCode.UNKNOWN_TOPIC_ID, NO_SUCH_ID)
    else:
        if topic_id != ZERO_UUID or name in node.internal or node.topic(name) is not None:
            return None
        result = DeletableTopicResult(name, ZERO_UUID, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, NO_SUCH_NAME)
    node.check_current()
    return result


def refuse_delete_topics(
    context: RequestContext, request: DeleteTopicsRequest, error: ErrorCode, message: str | None
) -> DeleteTopicsResponse:
    code = CONTROLLER_ERRORS.get(error, error)
    if code == ErrorCode.TOPIC_DELETION_DISABLED and context.api_version < FIRST_WITH_DELETION_DISABLED:
        code = ErrorCode.INVALID_REQUEST
    topics = request.topics or [DeleteTopicState(name) for name in request.topic_names]
    return DeleteTopicsResponse(responses=[DeletableTopicResult(topic.name, topic.topic_id, code, message) for topic in topics])


DELETE_TOPICS_API = ApiRow(
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    delete_topics,
    refuse_delete_topics,
    Order.ALONE,
    access=topic_access.DELETE_TOPICS,
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
    access=topic_access.CREATE_PARTITIONS,
)
