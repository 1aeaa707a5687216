"""ListOffsets (2), Fetch (1): enough for clients of topics in which no records live."""

from __future__ import annotations

from coordinator_server.catalog.topics import Topic
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.connection import PendingReply
from coordinator_server.server.node import Node
from protocol.error_codes import ErrorCode
from protocol.messages.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, FetchTopic, PartitionData
from protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

LATEST_TIMESTAMP = -1
EARLIEST_TIMESTAMP = -2
LEADER_EPOCH = 0
FIRST_FETCH_WITH_TOPIC_IDS = 13


def list_offsets(node: Node, context: RequestContext, request: ListOffsetsRequest, reply: PendingReply) -> None:
    topics = []
    for asked in request.topics:
        topic = node.topic(asked.name)
        partitions = []
        for partition in asked.partitions:
            if topic is None or not 0 <= partition.partition_index < topic.partitions:
                error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                partitions.append(ListOffsetsPartitionResponse(partition.partition_index, error))
            elif partition.timestamp in (LATEST_TIMESTAMP, EARLIEST_TIMESTAMP):
                epoch = LEADER_EPOCH if context.api_version >= 4 else -1
                partitions.append(ListOffsetsPartitionResponse(partition.partition_index, offset=0, leader_epoch=epoch))
            else:
                # No record has a timestamp, so none is at or after the one asked for.
                partitions.append(ListOffsetsPartitionResponse(partition.partition_index))
        topics.append(ListOffsetsTopicResponse(asked.name, partitions))
    reply.complete(ListOffsetsResponse(topics=topics))


def refuse_list_offsets(
    context: RequestContext, request: ListOffsetsRequest, error: ErrorCode, message: str | None
) -> ListOffsetsResponse:
    topics = [
        ListOffsetsTopicResponse(
            topic.name, [ListOffsetsPartitionResponse(partition.partition_index, error) for partition in topic.partitions]
        )
        for topic in request.topics
    ]
    return ListOffsetsResponse(topics=topics)


def fetch(node: Node, context: RequestContext, request: FetchRequest, reply: PendingReply) -> None:
    """Nothing to read, ever: the answer is held back as long as the client would wait for records. No fetch session is opened."""
    if request.session_id != 0:
        raise CoordinatorError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    topics = [_fetch_topic(node, context, asked) for asked in request.topics]
    response = FetchResponse(responses=topics)
    is_urgent = any(partition.error_code for topic in topics for partition in topic.partitions)
    if is_urgent or not topics or request.max_wait_ms <= 0 or request.min_bytes <= 0:
        reply.complete(response)
    else:
        node.answer_after(request.max_wait_ms, reply, response)


def refuse_fetch(context: RequestContext, request: FetchRequest, error: ErrorCode, message: str | None) -> FetchResponse:
    if error == ErrorCode.FETCH_SESSION_ID_NOT_FOUND:
        return FetchResponse(error_code=error)
    topics = []
    for topic in request.topics:
        partitions = [_partition(partition.partition, error) for partition in topic.partitions]
        topics.append(FetchableTopicResponse(topic.topic, topic.topic_id, partitions))
    return FetchResponse(error_code=error, responses=topics)


def _fetch_topic(node: Node, context: RequestContext, asked: FetchTopic) -> FetchableTopicResponse:
    topic: Topic | None
    if context.api_version >= FIRST_FETCH_WITH_TOPIC_IDS:
        topic, unknown = node.topic_by_id(asked.topic_id), ErrorCode.UNKNOWN_TOPIC_ID
    else:
        topic, unknown = node.topic(asked.topic), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    partitions = []
    for partition in asked.partitions:
        if topic is None:
            partitions.append(_partition(partition.partition, unknown))
        elif not 0 <= partition.partition < topic.partitions:
            partitions.append(_partition(partition.partition, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        else:
            # Wherever a group stopped reading is the end of the partition: no lag, and no reset for want of records.
            end = max(0, partition.fetch_offset)
            partitions.append(PartitionData(partition.partition, 0, end, end, 0, aborted_transactions=None))
    return FetchableTopicResponse(asked.topic, asked.topic_id, partitions)


def _partition(index: int, error: ErrorCode) -> PartitionData:
    return PartitionData(index, error, high_watermark=-1, aborted_transactions=None)
