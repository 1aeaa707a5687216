"""CreateTopics (19), DeleteTopics (20), CreatePartitions (37): changes of the catalog, which is the controller for clients."""

from __future__ import annotations

from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.api_row import ApiRow
from coordinator_server.server.apis.refusals import each_refused
from coordinator_server.server.cluster.operations import CREATE_PARTITIONS, CREATE_TOPICS, DELETE_TOPICS
from coordinator_server.server.node import Node
from coordinator_server.server.order import Order
from coordinator_server.server.reply import PendingReply
from protocol.error_codes import ErrorCode
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

# Versions of DeleteTopics: topic ids beside names, and the error TOPIC_DELETION_DISABLED.
FIRST_DELETION_BY_ID = 6
FIRST_WITH_DELETION_DISABLED = 3

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
    node: Node, context: RequestContext, request: CreateTopicsRequest, reply: PendingReply[CreateTopicsResponse]
) -> None:
    node.catalog.write(CREATE_TOPICS, context, request, reply)


CREATE_TOPICS_API = ApiRow(
    CreateTopicsRequest,
    CreateTopicsResponse,
    create_topics,
    each_refused(CreateTopicsResponse, "topics", CreatableTopicResult, of="topics", by=("name",), errors=CONTROLLER_ERRORS),
    Order.ALONE,
)


def delete_topics(
    node: Node, context: RequestContext, request: DeleteTopicsRequest, reply: PendingReply[DeleteTopicsResponse]
) -> None:
    if context.api_version < FIRST_DELETION_BY_ID:
        request.topics = [DeleteTopicState(name) for name in request.topic_names]
    node.catalog.write(DELETE_TOPICS, context, request, reply)


def refuse_delete_topics(
    context: RequestContext, request: DeleteTopicsRequest, error: ErrorCode, message: str | None
) -> DeleteTopicsResponse:
    code = CONTROLLER_ERRORS.get(error, error)
    if code == ErrorCode.TOPIC_DELETION_DISABLED and context.api_version < FIRST_WITH_DELETION_DISABLED:
        code = ErrorCode.INVALID_REQUEST
    topics = request.topics or [DeleteTopicState(name) for name in request.topic_names]
    return DeleteTopicsResponse(responses=[DeletableTopicResult(topic.name, topic.topic_id, code, message) for topic in topics])


DELETE_TOPICS_API = ApiRow(DeleteTopicsRequest, DeleteTopicsResponse, delete_topics, refuse_delete_topics, Order.ALONE)


def create_partitions(
    node: Node, context: RequestContext, request: CreatePartitionsRequest, reply: PendingReply[CreatePartitionsResponse]
) -> None:
    node.catalog.write(CREATE_PARTITIONS, context, request, reply)


CREATE_PARTITIONS_API = ApiRow(
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    create_partitions,
    each_refused(
        CreatePartitionsResponse, "results", CreatePartitionsTopicResult, of="topics", by=("name",), errors=CONTROLLER_ERRORS
    ),
    Order.ALONE,
)
