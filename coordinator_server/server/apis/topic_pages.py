"""DescribeTopicPartitions (75): the topics of Metadata in pages, in order of their names (KIP-966)."""

from __future__ import annotations

from coordinator_server.catalog.topics import name_problem
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.api_row import ApiRow
from coordinator_server.server.apis.authorized import TOPIC_OPERATIONS
from coordinator_server.server.apis.refusals import each_refused
from coordinator_server.server.connection import PendingReply
from coordinator_server.server.node import Node
from coordinator_server.server.order import Order
from protocol.error_codes import ErrorCode
from protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)

LEADER_EPOCH = 0


def describe_topic_partitions(
    node: Node,
    context: RequestContext,
    request: DescribeTopicPartitionsRequest,
    reply: PendingReply[DescribeTopicPartitionsResponse],
) -> None:
    """Describe the requested topics, or all.

    A page has at most ``response_partition_limit`` partitions, limited by ``max.request.partition.size.limit``.
    """
    cursor = request.cursor or Cursor()
    named = {topic.name for topic in request.topics} or {topic.name for topic in node.all_topics()}
    names = sorted(name for name in named if name >= cursor.topic_name)
    _check_cursor(request, names)
    room = max(1, min(request.response_partition_limit, node.config.max_request_partition_size_limit))
    response = DescribeTopicPartitionsResponse()
    for name in names:
        if room == 0:
            response.next_cursor = Cursor(name, 0)
            break
        first = cursor.partition_index if name == cursor.topic_name else 0
        topic = _describe(node, name, first, room)
        response.topics.append(topic)
        room -= len(topic.partitions)
        known = node.topic(name)
        if known is not None and first + len(topic.partitions) < known.partitions:
            response.next_cursor = Cursor(name, first + len(topic.partitions))
            break
    reply.complete(response)


DESCRIBE_TOPIC_PARTITIONS_API = ApiRow(
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    describe_topic_partitions,
    each_refused(DescribeTopicPartitionsResponse, "topics", DescribeTopicPartitionsResponseTopic, of="topics", by=("name",)),
    Order.READ,
)


def _check_cursor(request: DescribeTopicPartitionsRequest, names: list[str]) -> None:
    cursor = request.cursor
    if cursor is None:
        return
    if request.topics and cursor.topic_name not in names:
        problem = f"DescribeTopicPartitionsRequest topic list should contain the cursor topic: {cursor.topic_name}"
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, problem)
    if cursor.partition_index < 0:
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, f"there is no partition {cursor.partition_index} to go on with")


def _describe(node: Node, name: str, first: int, room: int) -> DescribeTopicPartitionsResponseTopic:
    topic = node.topic(name)
    if topic is None:
        if not name_problem(name):
            node.check_current()
        error = ErrorCode.INVALID_TOPIC_EXCEPTION if name_problem(name) else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return DescribeTopicPartitionsResponseTopic(error, name, topic_authorized_operations=TOPIC_OPERATIONS)
    partitions = []
    for partition in range(first, min(first + room, topic.partitions)):
        leader = node.nodes.leader_of(partition)
        partitions.append(
            DescribeTopicPartitionsResponsePartition(0, partition, leader, LEADER_EPOCH, [leader], [leader], [], [])
        )
    return DescribeTopicPartitionsResponseTopic(
        0, name, topic.topic_id, name in node.internal, partitions, topic_authorized_operations=TOPIC_OPERATIONS
    )
