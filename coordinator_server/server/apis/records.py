"""ListOffsets (2), Fetch (1).

Internal topics are this server's log. A virtual topic is always empty, so a fetch of it returns after its maximum wait time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec.structs import replace

from coordinator_server.catalog.topics import Topic
from coordinator_server.log.shards import ShardId
from coordinator_server.log.store import TimedOffset
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.lists import StepBudget
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work, in_portions
from coordinator_server.server.guard.access import ApiAccess, Asked
from coordinator_server.server.guard.parts import Each, put_back
from coordinator_server.server.hosting.fetching import Job, Search, Wanted
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.first_versions import RECORDS_BY_TOPIC_ID
from protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

LATEST_TIMESTAMP = -1
EARLIEST_TIMESTAMP = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL_TIMESTAMP = -4
LATEST_TIERED_TIMESTAMP = -5
EARLIEST_PENDING_UPLOAD_TIMESTAMP = -6
# The first version that knows each of them.
KNOWN_TIMESTAMPS = {
    LATEST_TIMESTAMP: 1,
    EARLIEST_TIMESTAMP: 1,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL_TIMESTAMP: 8,
    LATEST_TIERED_TIMESTAMP: 9,
    EARLIEST_PENDING_UPLOAD_TIMESTAMP: 11,
}
LEADER_EPOCH = 0
NO_LEADER_EPOCH = -1
READ_COMMITTED = 1
FIRST_WITH_LEADER_EPOCHS = 4
FIRST_FETCH_WITH_ENDPOINTS = 16
PARTITIONS_PER_STEP = 300
UNITS_PER_PARTITION = 3


def list_offsets(node: Node, context: RequestContext, request: ListOffsetsRequest, reply: Exchange[ListOffsetsResponse]) -> None:
    """Answer at once, or after looking up timestamps in the log."""
    # Older responses have no field for the leader epoch.
    has_epochs = context.api_version >= FIRST_WITH_LEADER_EPOCHS
    sought: list[tuple[ShardId, int | None]] = []
    to_fill: list[tuple[ListOffsetsPartitionResponse, int]] = []
    topics = []
    for name, asked in _asked_partitions(request).items():
        topic = node.image.topic(name)
        partitions = []
        for partition, times in asked.values():
            answer = ListOffsetsPartitionResponse(partition.partition_index)
            partitions.append(answer)
            answer.error_code = ErrorCode.INVALID_REQUEST if times > 1 else _refusal(context, topic, partition)
            if answer.error_code or topic is None:
                continue
            if topic.name not in node.internal:
                _virtual_offset(partition.timestamp, LEADER_EPOCH if has_epochs else NO_LEADER_EPOCH, answer)
                continue
            try:
                shard = _shard(node, topic, partition.partition_index, partition.current_leader_epoch)
            except CoordinatorError as refused:
                answer.error_code = refused.error
                continue
            epoch = node.nodes.view.owner_of(shard).leader_epoch if has_epochs else NO_LEADER_EPOCH
            if partition.timestamp < 0 and partition.timestamp != MAX_TIMESTAMP:
                end = partial(_end, node, shard, request.isolation_level)
                _known_offset(partition.timestamp, end, epoch, answer)
            else:
                sought.append((shard, partition.timestamp if partition.timestamp >= 0 else None))
                to_fill.append((answer, epoch))
        topics.append(ListOffsetsTopicResponse(name, partitions))
    response = ListOffsetsResponse(topics=topics)
    if sought:
        node.fetches.serve(Search(reply, sought, partial(_fill, to_fill, response, reply)))
    else:
        reply.complete(response)


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


LIST_OFFSETS_API = ApiRow(
    ListOffsetsRequest,
    ListOffsetsResponse,
    list_offsets,
    refuse_list_offsets,
    Order.READ,
    access=ApiAccess(parts=Each("topics", Operation.DESCRIBE, ResourceType.TOPIC, lambda _, topic: topic.name, "topics")),
)


def _asked_partitions(request: ListOffsetsRequest) -> dict[str, dict[int, tuple[ListOffsetsPartition, int]]]:
    """Return the partitions of each topic, and how often each is in the request. One answer is sent for each, as in Kafka."""
    found: dict[str, dict[int, tuple[ListOffsetsPartition, int]]] = {}
    for topic in request.topics:
        partitions = found.setdefault(topic.name, {})
        for partition in topic.partitions:
            _, times = partitions.get(partition.partition_index, (partition, 0))
            partitions[partition.partition_index] = partition, times + 1
    return found


def _refusal(context: RequestContext, topic: Topic | None, asked: ListOffsetsPartition) -> ErrorCode:
    if asked.timestamp < 0 and KNOWN_TIMESTAMPS.get(asked.timestamp, context.api_version + 1) > context.api_version:
        return ErrorCode.UNSUPPORTED_VERSION
    if topic is None or not 0 <= asked.partition_index < topic.partitions:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.NONE


def _virtual_offset(timestamp: int, epoch: int, answer: ListOffsetsPartitionResponse) -> None:
    """Fill in the answer for a virtual topic. It has no records, so no timestamp is found."""
    if timestamp in (LATEST_TIMESTAMP, EARLIEST_TIMESTAMP, EARLIEST_LOCAL_TIMESTAMP):
        answer.offset, answer.leader_epoch = 0, epoch


def _known_offset(timestamp: int, end: Callable[[], int], epoch: int, answer: ListOffsetsPartitionResponse) -> None:
    """Fill in an answer that needs no reading of the log. There is no tiered storage."""
    if timestamp in (EARLIEST_TIMESTAMP, EARLIEST_LOCAL_TIMESTAMP):
        answer.offset, answer.leader_epoch = 0, epoch
    elif timestamp == LATEST_TIMESTAMP:
        answer.offset, answer.leader_epoch = end(), epoch


def _fill(
    partitions: list[tuple[ListOffsetsPartitionResponse, int]],
    response: ListOffsetsResponse,
    reply: Exchange[ListOffsetsResponse],
    found: list[TimedOffset | ErrorCode | None],
) -> None:
    for (partition, epoch), each in zip(partitions, found, strict=True):
        if isinstance(each, ErrorCode):
            partition.error_code = each
        elif each is not None:
            partition.offset, partition.timestamp, partition.leader_epoch = each.offset, each.timestamp_ms, epoch
    reply.complete(response)


def fetch(node: Node, context: RequestContext, request: FetchRequest, reply: Exchange[FetchResponse]) -> None:
    """Answer with records, or after the client's ``max_wait_ms`` without records. Fetch sessions are not supported."""
    if request.session_id != 0:
        raise CoordinatorError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    if reply.is_large:
        reply.connection.use_up()
        node.steps.run_on(reply, _fetch_in_steps(node, context, request, reply))
        return
    wanted: list[Wanted] = []
    topics = [_fetch_topic(node, context, request, asked, wanted) for asked in request.topics]
    _begin_fetch(node, context, request, reply, topics, wanted)


def _fetch_in_steps(node: Node, context: RequestContext, request: FetchRequest, reply: Exchange[FetchResponse]) -> Work[None]:
    wanted: list[Wanted] = []
    topics = []
    budget = StepBudget()
    for asked in request.topics:
        partitions: list[PartitionData] = []
        for portion in in_portions(asked.partitions, PARTITIONS_PER_STEP):
            part = FetchTopic(asked.topic, asked.topic_id, portion)
            partitions += _fetch_topic(node, context, request, part, wanted).partitions
            if budget.spend(len(portion) * UNITS_PER_PARTITION + 1):
                yield
        topics.append(FetchableTopicResponse(asked.topic, asked.topic_id, partitions))
    if not reply.connection.is_closed:
        _begin_fetch(node, context, request, reply, topics, wanted)


def _begin_fetch(
    node: Node,
    context: RequestContext,
    request: FetchRequest,
    reply: Exchange[FetchResponse],
    topics: list[FetchableTopicResponse],
    wanted: list[Wanted],
) -> None:
    response = FetchResponse(responses=topics)
    partitions = [partition for topic in topics for partition in topic.partitions]
    is_urgent = not topics or request.max_wait_ms <= 0 or request.min_bytes <= 0
    is_urgent = is_urgent or any(partition.error_code for partition in partitions)
    if context.api_version >= FIRST_FETCH_WITH_ENDPOINTS:
        leaders = sorted({each.current_leader.leader_id for each in partitions if each.current_leader.leader_id >= 0})
        response.node_endpoints = [_endpoint(node, reply, leader) for leader in leaders]
    if wanted:
        max_bytes = min(request.max_bytes, node.config.fetch_max_bytes)
        job = Job(reply, response, wanted, request.max_wait_ms, request.min_bytes, max_bytes, is_urgent=is_urgent)
        node.fetches.serve(job)
    elif is_urgent:
        reply.complete(response)
    else:
        # It waits for time alone: no other request has to wait for it, unless it takes much memory.
        reply.is_free = not reply.is_large
        node.answer_after(request.max_wait_ms, reply, response)


def refuse_fetch(context: RequestContext, request: FetchRequest, error: ErrorCode, message: str | None) -> FetchResponse:
    if error == ErrorCode.FETCH_SESSION_ID_NOT_FOUND:
        return FetchResponse(error_code=error)
    topics = []
    for topic in request.topics:
        partitions = [_partition(partition.partition, error) for partition in topic.partitions]
        topics.append(FetchableTopicResponse(topic.topic, topic.topic_id, partitions))
    return FetchResponse(error_code=error, responses=topics)


def _topic_name(asked: Asked, topic: FetchTopic) -> str | None:
    """Return the name of a topic of a request; None if no topic has its id."""
    return asked.topic_name(topic.topic_id) if asked.context.api_version >= RECORDS_BY_TOPIC_ID else topic.topic


class _Fetched:
    """The topics of a Fetch. A request of a replica is one of a broker."""

    _topics = Each("topics", Operation.READ, ResourceType.TOPIC, _topic_name, "responses", is_whole=True)

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
        refused: Any = reply.row.refuse(asked.context, request, ErrorCode.TOPIC_AUTHORIZATION_FAILED, None)
        return put_back(reply, replace(request, topics=[]), "responses", refused.responses)


FETCH_API = ApiRow(
    FetchRequest,
    FetchResponse,
    fetch,
    refuse_fetch,
    Order.READ,
    access=ApiAccess(parts=_Fetched()),
)


def _fetch_topic(
    node: Node, context: RequestContext, request: FetchRequest, asked: FetchTopic, wanted: list[Wanted]
) -> FetchableTopicResponse:
    topic: Topic | None
    if context.api_version >= RECORDS_BY_TOPIC_ID:
        topic, unknown = node.image.topic_by_id(asked.topic_id), ErrorCode.UNKNOWN_TOPIC_ID
    else:
        topic, unknown = node.image.topic(asked.topic), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    partitions = []
    for partition in asked.partitions:
        if topic is None:
            partitions.append(_partition(partition.partition, unknown))
        elif not 0 <= partition.partition < topic.partitions:
            partitions.append(_partition(partition.partition, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        elif topic.name in node.internal:
            partitions.append(_fetch_log(node, topic, partition, request.isolation_level, wanted))
        else:
            # The partition ends at the client's position, so there is no lag and no reset for an offset out of range.
            end = max(0, partition.fetch_offset)
            partitions.append(PartitionData(partition.partition, 0, end, end, 0, aborted_transactions=None))
    return FetchableTopicResponse(asked.topic, asked.topic_id, partitions)


def _fetch_log(node: Node, topic: Topic, asked: FetchPartition, isolation_level: int, wanted: list[Wanted]) -> PartitionData:
    try:
        shard = _shard(node, topic, asked.partition, asked.current_leader_epoch)
    except CoordinatorError as refused:
        data = _partition(asked.partition, refused.error)
        if refused.error in (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH):
            data.current_leader = _leader(node, ShardId(topic.name, asked.partition))
        return data
    if not 0 <= asked.fetch_offset <= node.fetches.end_offset(shard):
        return _partition(asked.partition, ErrorCode.OFFSET_OUT_OF_RANGE)
    data = PartitionData(asked.partition, 0, -1, -1, 0, aborted_transactions=None)
    upto = partial(_end, node, shard, isolation_level)
    wanted.append(Wanted(data, shard, asked.fetch_offset, asked.partition_max_bytes, upto))
    return data


def _shard(node: Node, topic: Topic, partition: int, leader_epoch: int) -> ShardId:
    """Return the shard of a partition of an internal topic.

    Raises CoordinatorError if a different node owns it, or for a wrong leader epoch.
    """
    shard = ShardId(topic.name, partition)
    owner = node.nodes.view.owner_of(shard)
    if owner.node != node.nodes.id:
        raise CoordinatorError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if leader_epoch > owner.leader_epoch:
        raise CoordinatorError(ErrorCode.UNKNOWN_LEADER_EPOCH)
    if leader_epoch not in (owner.leader_epoch, NO_LEADER_EPOCH):
        raise CoordinatorError(ErrorCode.FENCED_LEADER_EPOCH)
    return shard


def _leader(node: Node, shard: ShardId) -> LeaderIdAndEpoch:
    owner = node.nodes.view.owner_of(shard)
    return LeaderIdAndEpoch(owner.node, owner.leader_epoch)


def _end(node: Node, shard: ShardId, isolation_level: int) -> int:
    """Return the offset up to which a client may read: the durable end, or with READ_COMMITTED the last stable offset."""
    end = node.fetches.end_offset(shard)
    if isolation_level != READ_COMMITTED:
        return end
    runtime = node.runtimes.get(shard.topic)
    try:
        # The open transactions are unknown if the shard is loading or its kind is not served.
        return min(end, runtime.last_stable_offset(shard.partition)) if runtime is not None else 0
    except CoordinatorError:
        return 0


def _endpoint(node: Node, reply: Exchange[Any], node_id: int) -> NodeEndpoint:
    there = node.endpoint(reply, node_id)
    return NodeEndpoint(node_id, there.host, there.port)


def _partition(index: int, error: ErrorCode) -> PartitionData:
    return PartitionData(index, error, high_watermark=-1, aborted_transactions=None)
