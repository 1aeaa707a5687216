"""DescribeTopicPartitions (75): the topics of Metadata in pages, in order of their names (KIP-966)."""

from __future__ import annotations

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.security.authorizer import Verdicts
from coordinator_server.server.apis.lists import UNITS_PER_STEP, StepBudget
from coordinator_server.server.apis.refusals import each_refused
from coordinator_server.server.cluster.view import NO_NODE
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work
from coordinator_server.server.guard.access import ApiAccess, verdicts_for
from coordinator_server.server.guard.authorized_operations import TOPIC_OPERATIONS, with_topic_operations
from coordinator_server.server.guard.parts import Both, Each, Filtered
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from coordinator_server.topic_names import name_problem
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)

UNITS_PER_TOPIC = 2


def describe_topic_partitions(
    node: Node,
    context: RequestContext,
    request: DescribeTopicPartitionsRequest,
    reply: Exchange[DescribeTopicPartitionsResponse],
) -> None:
    """Describe the requested topics, or all.

    A page has at most ``response_partition_limit`` partitions, limited by ``max.request.partition.size.limit``.
    """
    cursor = request.cursor or Cursor()
    named = {topic.name for topic in request.topics} or [topic.name for topic in node.image.all_topics()]
    names = sorted(name for name in named if name >= cursor.topic_name)
    _check_cursor(request, names)
    visible = verdicts_for(node, context, Operation.DESCRIBE, ResourceType.TOPIC)
    page = _Page(
        node, cursor, visible, max(1, min(request.response_partition_limit, node.config.max_request_partition_size_limit))
    )
    if len(names) > UNITS_PER_STEP or reply.is_large:
        reply.connection.use_up()
        node.steps.run(reply, _fill_in_steps(page, names))
        return
    for name in names:
        if page.is_full(name):
            break
        page.add(name)
    reply.complete(page.response)


DESCRIBE_TOPIC_PARTITIONS_API = ApiRow(
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    describe_topic_partitions,
    each_refused(DescribeTopicPartitionsResponse, "topics", DescribeTopicPartitionsResponseTopic, of="topics", by=("name",)),
    Order.READ,
    # Where all topics are asked for, the handler leaves out those that are not visible: they take no room of a page.
    access=ApiAccess(
        parts=Both(
            Each("topics", Operation.DESCRIBE, ResourceType.TOPIC, lambda _, topic: topic.name, "topics"),
            Filtered(with_topic_operations),
        )
    ),
)


class _Page:
    """A response that is being filled."""

    def __init__(self, node: Node, cursor: Cursor, visible: Verdicts | None, room: int) -> None:
        self.response = DescribeTopicPartitionsResponse()
        self._node = node
        self._cursor = cursor
        self._room = room
        self._visible = visible

    def is_full(self, name: str) -> bool:
        """Return whether the page ends before the topic ``name``. If so, the next one begins with it."""
        if self._room == 0 and self.response.next_cursor is None and self._is_visible(name):
            self.response.next_cursor = Cursor(name, 0)
        return self.response.next_cursor is not None

    def add(self, name: str) -> int:
        """Describe a topic, or as many of its partitions as have room. Return their number."""
        if not self._is_visible(name):
            return 0
        first = self._cursor.partition_index if name == self._cursor.topic_name else 0
        topic = _describe(self._node, name, first, self._room)
        self.response.topics.append(topic)
        count = len(topic.partitions)
        self._room -= count
        known = self._node.image.topic(name)
        if known is not None and first + count < known.partitions:
            self.response.next_cursor = Cursor(name, first + count)
        return count

    def _is_visible(self, name: str) -> bool:
        """Return whether a topic is in the list of all. Of those that a request names, the denied ones are gone already."""
        return self._visible is None or self._visible[name]


def _fill_in_steps(page: _Page, names: list[str]) -> Work[DescribeTopicPartitionsResponse]:
    budget = StepBudget()
    for name in names:
        if page.is_full(name):
            break
        if budget.spend(UNITS_PER_TOPIC + page.add(name)):
            yield
    return page.response


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
    topic = node.image.topic(name)
    if topic is None:
        if not name_problem(name):
            node.image.check_current()
        error = ErrorCode.INVALID_TOPIC_EXCEPTION if name_problem(name) else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return DescribeTopicPartitionsResponseTopic(error, name, topic_authorized_operations=TOPIC_OPERATIONS)
    partitions = []
    shown = range(first, min(first + room, topic.partitions))
    for partition, (leader, epoch) in zip(shown, node.nodes.view.leaders(name, shown), strict=True):
        replicas = [] if leader == NO_NODE else [leader]
        error = ErrorCode.NONE if replicas else ErrorCode.LEADER_NOT_AVAILABLE
        partitions.append(DescribeTopicPartitionsResponsePartition(error, partition, leader, epoch, replicas, replicas, [], []))
    return DescribeTopicPartitionsResponseTopic(
        0, name, topic.topic_id, name in node.internal, partitions, topic_authorized_operations=TOPIC_OPERATIONS
    )
