"""WriteTxnMarkers (27), DescribeProducers (61): the transactional producers of partitions, for administrators.

Only ``__consumer_offsets`` has records of producers. A partition of a virtual topic has none:
a marker for it counts as written, and it has no producers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from coordinator_server.kinds import GROUPS
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import Producer, RequestContext, TransactionResult
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.producers import EndOfTransaction
from coordinator_server.server.apis.lists import answer_list
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work, in_portions
from coordinator_server.server.guard.access import ApiAccess, Asked, on_cluster
from coordinator_server.server.guard.parts import Conditional, Each
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from coordinator_server.server.wire.quantum import UNITS_PER_US
from coordinator_server.topic_names import name_problem
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicRequest,
    TopicResponse,
)
from protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

US_PER_MARKER: Final = 25
MARKERS_PER_STEP: Final = 100
UNITS_PER_PRODUCER: Final = 4
# What the sender of a marker does not expect of a coordinator that is not ready.
NOT_READY: Final = frozenset(
    {ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR}
)


class _Marker(NamedTuple):
    """One marker for one partition."""

    topic: str
    partition: int
    end: EndOfTransaction

    @property
    def producer_id(self) -> int:
        """The producer whose transaction ends."""
        return self.end.producer.id


_Found = dict[int, dict[str, dict[int, WritableTxnMarkerPartitionResult]]]
"""Outcomes by producer id, topic and partition."""


class _Results:
    """The outcomes of all markers of a request. ``reply`` is answered after the last one."""

    def __init__(self, count: int, reply: Exchange[WriteTxnMarkersResponse]) -> None:
        self._missing = count
        self._reply = reply
        self._found: _Found = {}
        if not count:
            reply.complete(WriteTxnMarkersResponse())

    def put(self, marker: _Marker, error: ErrorCode) -> None:
        """Note the outcome of one marker."""
        _note(self._found, marker, error)
        self._missing -= 1
        if not self._missing:
            self._reply.complete(_response(self._found))

    def reply(self, marker: _Marker) -> CallbackReply:
        """Return the reply for the shard's answer to a marker."""
        return CallbackReply(lambda _: self.put(marker, ErrorCode.NONE), lambda error, _: self.put(marker, _marker_error(error)))


def write_txn_markers(
    node: Node, context: RequestContext, request: WriteTxnMarkersRequest, reply: Exchange[WriteTxnMarkersResponse]
) -> None:
    """End transactions in partitions, whatever their coordinator thinks of it: so an administrator ends one that hangs."""
    count = sum(len(topic.partition_indexes) for marker in request.markers for topic in marker.topics)
    results = _Results(count, reply)
    if count > MARKERS_PER_STEP:
        node.steps.run_on(reply, _write_in_steps(node, request, results))
        return
    reply.connection.use_up(US_PER_MARKER * UNITS_PER_US * count)
    for marker in _markers(request):
        _write(node, marker, results)


def refuse_write_txn_markers(
    context: RequestContext, request: WriteTxnMarkersRequest, error: ErrorCode, message: str | None
) -> WriteTxnMarkersResponse:
    found: _Found = {}
    for marker in _markers(request):
        _note(found, marker, error)
    return _response(found)


def _marker_denial(asked: Asked, request: WriteTxnMarkersRequest) -> ErrorCode | None:
    """Administrators end transactions that hang; brokers send markers."""
    if asked.access.allows(Operation.ALTER, ResourceType.CLUSTER):
        return None
    need = on_cluster(Operation.CLUSTER_ACTION)
    return None if need.is_met(asked, request) else need.error


WRITE_TXN_MARKERS_API = ApiRow(
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
    write_txn_markers,
    refuse_write_txn_markers,
    Order.ALONE,
    access=ApiAccess(parts=Conditional(_marker_denial)),
)


def _markers(request: WriteTxnMarkersRequest) -> Iterator[_Marker]:
    for marker in request.markers:
        end = _end_of(marker)
        for topic in marker.topics:
            for index in topic.partition_indexes:
                yield _Marker(topic.name, index, end)


def _end_of(marker: WritableTxnMarker) -> EndOfTransaction:
    result = TransactionResult.COMMIT if marker.transaction_result else TransactionResult.ABORT
    producer = Producer(marker.producer_id, marker.producer_epoch)
    return EndOfTransaction(producer, result, marker.transaction_version, marker.coordinator_epoch)


def _write_in_steps(node: Node, request: WriteTxnMarkersRequest, results: _Results) -> Work[None]:
    for portion in in_portions(_markers(request), MARKERS_PER_STEP):
        for marker in portion:
            _write(node, marker, results)
        yield


def _write(node: Node, marker: _Marker, results: _Results) -> None:
    try:
        is_here = _is_here(node, marker.topic, marker.partition)
    except CoordinatorError as refused:
        results.put(marker, _marker_error(refused.error))
        return
    if not is_here:
        # As in Kafka, of a partition that another broker has.
        results.put(marker, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    elif min(marker.end.producer) < 0:
        # A log has no such batch.
        results.put(marker, ErrorCode.UNKNOWN_SERVER_ERROR)
    elif marker.topic != GROUPS.topic:
        results.put(marker, ErrorCode.NONE)
    else:
        node.groups.complete_transaction(marker.partition, marker.end, results.reply(marker), has_deadline=True)


def _marker_error(error: ErrorCode) -> ErrorCode:
    """Return what the sender of a marker gets. An error of the log itself, such as REQUEST_TIMED_OUT, is not translated."""
    return ErrorCode.NOT_LEADER_OR_FOLLOWER if error in NOT_READY else error


def _note(found: _Found, marker: _Marker, error: ErrorCode) -> None:
    """Note the outcome of a marker: the last one of a producer and a partition is answered."""
    topics = found.setdefault(marker.producer_id, {})
    topics.setdefault(marker.topic, {})[marker.partition] = WritableTxnMarkerPartitionResult(marker.partition, error)


def _response(found: _Found) -> WriteTxnMarkersResponse:
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(
                producer_id,
                [WritableTxnMarkerTopicResult(name, list(partitions.values())) for name, partitions in topics.items()],
            )
            for producer_id, topics in found.items()
        ]
    )


def describe_producers(
    node: Node, context: RequestContext, request: DescribeProducersRequest, reply: Exchange[DescribeProducersResponse]
) -> None:
    asked = [(topic.name, index) for topic in request.topics for index in topic.partition_indexes]

    def describe(one: tuple[str, int]) -> tuple[PartitionResponse, int]:
        found = _describe(node, *one)
        return found, 1 + UNITS_PER_PRODUCER * len(found.active_producers)

    def respond(found: list[PartitionResponse]) -> DescribeProducersResponse:
        left = iter(found)
        topics = [TopicResponse(topic.name, [next(left) for _ in topic.partition_indexes]) for topic in request.topics]
        return DescribeProducersResponse(topics=topics)

    answer_list(node.steps, reply, asked, describe, respond)


def refuse_describe_producers(
    context: RequestContext, request: DescribeProducersRequest, error: ErrorCode, message: str | None
) -> DescribeProducersResponse:
    return DescribeProducersResponse(topics=[_refused(topic, error, message) for topic in request.topics])


def _valid_name(_: Asked, topic: TopicRequest) -> str | None:
    return None if name_problem(topic.name) else topic.name


DESCRIBE_PRODUCERS_API = ApiRow(
    DescribeProducersRequest,
    DescribeProducersResponse,
    describe_producers,
    refuse_describe_producers,
    Order.READ,
    access=ApiAccess(parts=Each("topics", Operation.READ, ResourceType.TOPIC, _valid_name, "topics")),
)


def _refused(topic: TopicRequest, error: ErrorCode, message: str | None) -> TopicResponse:
    return TopicResponse(topic.name, [PartitionResponse(index, error, message) for index in topic.partition_indexes])


def _describe(node: Node, topic: str, index: int) -> PartitionResponse:
    problem = name_problem(topic)
    if problem is not None:
        return PartitionResponse(index, ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
    try:
        if not _is_here(node, topic, index):
            return PartitionResponse(index, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        active = node.groups.active_producers(index) if topic == GROUPS.topic else []
    except CoordinatorError as refused:
        return PartitionResponse(index, _marker_error(refused.error), refused.message)
    found = [
        ProducerState(
            each.id,
            each.state.epoch,
            each.state.last_sequence,
            each.state.last_ms,
            each.state.coordinator_epoch,
            each.first_offset,
        )
        for each in active
    ]
    return PartitionResponse(index, active_producers=found)


def _is_here(node: Node, topic: str, index: int) -> bool:
    """Return whether this loop has a partition. Raises UNKNOWN_TOPIC_OR_PARTITION if there is none."""
    known = node.image.topic(topic)
    if known is None:
        node.image.check_current()
        raise CoordinatorError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "there is no such topic")
    if not 0 <= index < known.partitions:
        raise CoordinatorError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return node.nodes.owns(ShardId(topic, index))
