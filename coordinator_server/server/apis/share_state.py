"""The APIs of the share coordinator: Initialize (83), Read (84), Write (85) and DeleteShareGroupState (86), and
ReadShareGroupStateSummary (87). Partition leaders and group coordinators use them (``ShareCoordinatorService``).

A request is about any number of share partitions of one group. Each is an operation of the shard that owns it. The request is
answered once, when all are durable or have failed, with a result for each. A shard of a different loop answers NOT_COORDINATOR, as a
different broker does: clients find the coordinator of each share partition (FindCoordinator, key type 2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from coordinator_server.machine.errors import OPERATION_ERRORS
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.access import cluster
from coordinator_server.server.api_row import ApiRow, ShortWay
from coordinator_server.server.apis.lists import at_once
from coordinator_server.server.apis.plain_share_state import read_encoder, read_reader, write_encoder, write_reader
from coordinator_server.server.node import Node
from coordinator_server.server.order import Order
from coordinator_server.server.reply import PendingReply
from coordinator_server.server.steps import Work
from coordinator_server.share.requests import Found, Initialization, Read, Summary, Write
from coordinator_server.share.shard import ShareShard
from coordinator_server.share.share_partition import SharePartitionKey
from coordinator_server.share.state_rows import rows_of, unpacked
from protocol.acl_codes import Operation
from protocol.error_codes import ErrorCode
from protocol.messages import delete_share_group_state as delete
from protocol.messages import initialize_share_group_state as initialize
from protocol.messages import read_share_group_state as read
from protocol.messages import read_share_group_state_summary as summary
from protocol.messages import write_share_group_state as write

UNITS_PER_BYTE: Final = 64
"""The smallest share partition of a request takes 9 bytes, and about 15 us."""
BATCHES_PER_STEP: Final = 1_000
"""A step handles share partitions with this many batches; a share partition counts as BATCHES_PER_PARTITION more."""
BATCHES_PER_PARTITION: Final = 10

# Made once: isinstance would make the same of ``Write | Read`` for each request.
_PLAIN: Final = (Write, Read)

# A share partition's own refusal is answered as it is; the table has no answer of the log with this code.
STATE_ERRORS: Final[Mapping[ErrorCode, ErrorCode]] = {
    error: answer for error, answer in OPERATION_ERRORS.items() if error is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
}


class StateApi(NamedTuple):
    """What one of the APIs does with a share partition.

    ``request_of`` makes the operation's request from a key and the partition's data; ``result_of`` makes the partition's result from the
    partition and what the operation has returned. ``needs_partitions``: a topic without partitions empties the whole answer.
    """

    operation: WriteOperation[ShareShard, Any, Any]
    request_of: Callable[[SharePartitionKey, Any], Any]
    result_of: Callable[[int, Any], Any]
    response: type[Any]
    topic_result: Callable[[bytes, list[Any]], Any]
    partition_result: Callable[..., Any]
    needs_partitions: bool = True


class _PartitionReply:
    """The Reply for one share partition."""

    __slots__ = ("_answer", "_partition", "_results")

    def __init__(self, answer: _Answer, results: dict[int, Any], partition: int) -> None:
        self._answer = answer
        self._results = results
        self._partition = partition

    def complete(self, response: Any, /) -> None:
        self._results[self._partition] = self._answer.api.result_of(self._partition, response)
        self._answer.count()

    def fail(self, error: ErrorCode, message: str | None = None, /) -> None:
        self._results[self._partition] = _refused(self._answer.api, self._partition, error, message)
        self._answer.count()


class _Answer:
    """The results of a request, by topic and partition. One that is named twice is handled twice, and has the result of the last."""

    __slots__ = ("_missing", "_reply", "api", "topics")

    def __init__(self, api: StateApi, reply: PendingReply[Any]) -> None:
        self.api = api
        self._reply = reply
        self.topics: dict[bytes, dict[int, Any]] = {}
        # One for each operation without a result, and one until all have begun.
        self._missing = 1

    def expect(self, topic_id: bytes, partition: int) -> _PartitionReply:
        """Return the reply of one more operation."""
        self._missing += 1
        return _PartitionReply(self, self.topics.setdefault(topic_id, {}), partition)

    def count(self) -> None:
        """Count a result, or that all operations have begun. Answer the request after the last."""
        self._missing -= 1
        if self._missing == 0:
            topic_result = self.api.topic_result
            topics = [topic_result(topic_id, list(results.values())) for topic_id, results in self.topics.items()]
            self._reply.complete(self.api.response(results=topics))


def _refused(api: StateApi, partition: int, error: ErrorCode, message: str | None) -> Any:
    code = STATE_ERRORS.get(error, error)
    return api.partition_result(partition, error_code=code, error_message=message or code.name)


def _row(request: type[Any], api: StateApi, short_way: ShortWay[Any, Any] | None = None) -> ApiRow[Any, Any]:
    """Return the row of an API. ``short_way`` reads plain requests, which are an operation's own, and encodes its response to one."""

    def handle(node: Node, context: RequestContext, request: Any, reply: PendingReply[Any]) -> None:
        if isinstance(request, _PLAIN):
            node.share_states.write(node.share_shard(*request.key), api.operation, context, request, reply)
            return
        topics, group_id = request.topics, request.group_id
        if not group_id or not topics or (api.needs_partitions and not all(topic.partitions for topic in topics)):
            reply.complete(api.response())
            return
        work = _run(node, context, request, _Answer(api, reply))
        if reply.is_large:
            node.steps.run_on(reply, work)
        else:
            at_once(work)

    def refuse(context: RequestContext, request: Any, error: ErrorCode, message: str | None) -> Any:
        if isinstance(request, _PLAIN):
            key = request.key
            return api.response([api.topic_result(key.topic_id, [_refused(api, key.partition, error, message)])])
        results = [
            api.topic_result(topic.topic_id, [_refused(api, each.partition, error, message) for each in topic.partitions])
            for topic in request.topics
        ]
        return api.response(results=results)

    access = cluster(Operation.CLUSTER_ACTION)
    return ApiRow(request, api.response, handle, refuse, Order.WRITE, short_way, units_per_byte=UNITS_PER_BYTE, access=access)


def _run(node: Node, context: RequestContext, request: Any, answer: _Answer) -> Work[None]:
    """Run the operations of a request, in steps."""
    operation, request_of = answer.api.operation, answer.api.request_of
    group_id, share_shard, runtime = request.group_id, node.share_shard, node.share_states
    left = BATCHES_PER_STEP
    for topic in request.topics:
        topic_id = topic.topic_id
        for data in topic.partitions:
            partition = data.partition
            key = SharePartitionKey(group_id, topic_id, partition)
            reply = answer.expect(topic_id, partition)
            runtime.write(share_shard(group_id, topic_id, partition), operation, context, request_of(key, data), reply)
            left -= BATCHES_PER_PARTITION + len(getattr(data, "state_batches", ()))
            if left <= 0:
                yield
                left = BATCHES_PER_STEP
    answer.count()


def _initialization(key: SharePartitionKey, data: initialize.PartitionData) -> Initialization:
    return Initialization(key, data.state_epoch, data.start_offset)


def _write(key: SharePartitionKey, data: write.PartitionData) -> Write:
    rows = rows_of(data.state_batches)
    return Write(key, data.state_epoch, data.leader_epoch, data.start_offset, data.delivery_complete_count, rows)


def _read(key: SharePartitionKey, data: read.PartitionData) -> Read:
    return Read(key, data.leader_epoch)


def _key(key: SharePartitionKey, data: object) -> SharePartitionKey:
    return key


def _read_result(partition: int, found: Found) -> read.PartitionResult:
    state = found.state
    batches = [read.StateBatch(*each) for each in unpacked(state.rows)]
    return read.PartitionResult(partition, state_epoch=state.state_epoch, start_offset=state.start_offset, state_batches=batches)


def _summary_result(partition: int, found: Summary) -> summary.PartitionResult:
    return summary.PartitionResult(
        partition,
        state_epoch=found.state_epoch,
        leader_epoch=found.leader_epoch,
        start_offset=found.start_offset,
        delivery_complete_count=found.delivery_complete_count,
    )


INITIALIZE_SHARE_GROUP_STATE_API: Final = _row(
    initialize.InitializeShareGroupStateRequest,
    StateApi(
        WriteOperation("initialize-share-group-state", ShareShard.initialize_state),
        _initialization,
        lambda partition, _: initialize.PartitionResult(partition),
        initialize.InitializeShareGroupStateResponse,
        initialize.InitializeStateResult,
        initialize.PartitionResult,
        needs_partitions=False,
    ),
)
READ_SHARE_GROUP_STATE_API: Final = _row(
    read.ReadShareGroupStateRequest,
    StateApi(
        WriteOperation("read-share-group-state", ShareShard.read_state),
        _read,
        _read_result,
        read.ReadShareGroupStateResponse,
        read.ReadStateResult,
        read.PartitionResult,
    ),
    ShortWay(read_reader, read_encoder),
)
WRITE_SHARE_GROUP_STATE_API: Final = _row(
    write.WriteShareGroupStateRequest,
    StateApi(
        WriteOperation("write-share-group-state", ShareShard.write_state),
        _write,
        lambda partition, _: write.PartitionResult(partition),
        write.WriteShareGroupStateResponse,
        write.WriteStateResult,
        write.PartitionResult,
    ),
    ShortWay(write_reader, write_encoder),
)
DELETE_SHARE_GROUP_STATE_API: Final = _row(
    delete.DeleteShareGroupStateRequest,
    StateApi(
        WriteOperation("delete-share-group-state", ShareShard.delete_state),
        _key,
        lambda partition, _: delete.PartitionResult(partition),
        delete.DeleteShareGroupStateResponse,
        delete.DeleteStateResult,
        delete.PartitionResult,
    ),
)
READ_SHARE_GROUP_STATE_SUMMARY_API: Final = _row(
    summary.ReadShareGroupStateSummaryRequest,
    StateApi(
        WriteOperation("read-share-group-state-summary", ShareShard.read_summary),
        _key,
        _summary_result,
        summary.ReadShareGroupStateSummaryResponse,
        summary.ReadStateSummaryResult,
        summary.PartitionResult,
    ),
)
