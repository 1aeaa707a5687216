"""The APIs of the share coordinator: Initialize (83), Read (84), Write (85) and DeleteShareGroupState (86), and
ReadShareGroupStateSummary (87). Partition leaders and group coordinators use them (``ShareCoordinatorService``).

A request is about any number of share partitions of one group. Each is an operation of the shard that owns it. The request is
answered once, when all are durable or have failed, with a result for each. A shard of a different loop answers NOT_COORDINATOR,
as a different broker does: clients find the coordinator of each share partition (FindCoordinator, key type 2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from coordinator_server.machine.errors import OPERATION_ERRORS
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.repeat import Repeat
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.apis.lists import StepBudget
from coordinator_server.server.exchange.api_row import ApiRow, ShortWay
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work, at_once
from coordinator_server.server.guard.access import cluster
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from coordinator_server.share.requests import Initialization, Summary
from coordinator_server.share.shard import ShareShard
from protocol.acl_codes import Operation
from protocol.error_codes import ErrorCode
from protocol.messages import delete_share_group_state as delete
from protocol.messages import initialize_share_group_state as initialize
from protocol.messages import read_share_group_state as read
from protocol.messages import read_share_group_state_summary as summary
from protocol.messages import write_share_group_state as write
from protocol.plain_share_states import (
    AllDone,
    Found,
    Read,
    Several,
    Write,
    read_encoder,
    read_reader,
    write_encoder,
    write_reader,
)
from protocol.share_partition_names import SharePartitionKey, name_of, topic_and_partition_of
from protocol.share_state_rows import ROW_BYTES, rows_of, unpacked

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

    ``request_of`` makes the operation's request from a name and the partition's data; ``result_of`` makes the partition's result
    from the partition and what the operation has returned. ``needs_partitions``: a topic without partitions empties the whole
    answer. ``has_short_answer``: an answer without errors is written from what the operations have returned.
    """

    operation: WriteOperation[ShareShard, Any, Any]
    request_of: Callable[[bytes, Any], Any]
    result_of: Callable[[int, Any], Any]
    response: type[Any]
    topic_result: Callable[[bytes, list[Any]], Any]
    partition_result: Callable[..., Any]
    needs_partitions: bool = True
    has_short_answer: bool = False


class _PartitionReply:
    """The Reply for one share partition."""

    __slots__ = ("_answer", "_outcomes", "_partition")

    def __init__(self, answer: _Answer, outcomes: dict[int, Any], partition: int) -> None:
        self._answer = answer
        self._outcomes = outcomes
        self._partition = partition

    def complete(self, response: Any, /) -> None:
        self._outcomes[self._partition] = self._answer.outcome_of(self._partition, response)
        self._answer.count()

    def fail(self, error: ErrorCode, message: str | None = None, /) -> None:
        self._outcomes[self._partition] = self._answer.refusal_of(self._partition, error, message)
        self._answer.count()


class _Answer:
    """The outcomes of a request, by topic and partition. One that is named twice is handled twice, and has the outcome of the last.

    They are what the operations have returned, if the answer is short, or results of the response.
    """

    __slots__ = ("_api", "_is_short", "_missing", "_reply", "_topics")

    def __init__(self, api: StateApi, reply: Exchange[Any]) -> None:
        self._api = api
        self._reply = reply
        self._topics: dict[bytes, dict[int, Any]] = {}
        # The results of a large answer are made one by one, in steps.
        self._is_short = api.has_short_answer and not reply.is_large
        # One for each operation without an outcome, and one until all have begun.
        self._missing = 1

    def expect(self, topic_id: bytes, partition: int) -> _PartitionReply:
        """Return the reply of one more operation."""
        self._missing += 1
        return _PartitionReply(self, self._topics.setdefault(topic_id, {}), partition)

    def outcome_of(self, partition: int, response: Any) -> Any:
        """Return the outcome of an operation that has returned ``response``."""
        return response if self._is_short else self._api.result_of(partition, response)

    def refusal_of(self, partition: int, error: ErrorCode, message: str | None) -> Any:
        """Return the outcome of a refused operation. The answer is not short then."""
        if self._is_short:
            self._is_short = False
            for outcomes in self._topics.values():
                for done, response in outcomes.items():
                    outcomes[done] = self._api.result_of(done, response)
        return _refused(self._api, partition, error, message)

    def count(self) -> None:
        """Count an outcome, or that all operations have begun. Answer the request after the last."""
        self._missing -= 1
        if self._missing == 0:
            self._reply.complete(AllDone(self._topics) if self._is_short else self._response())

    def _response(self) -> Any:
        topic_result = self._api.topic_result
        return self._api.response(
            results=[topic_result(topic_id, list(results.values())) for topic_id, results in self._topics.items()]
        )


def _refused(api: StateApi, partition: int, error: ErrorCode, message: str | None) -> Any:
    code = STATE_ERRORS.get(error, error)
    return api.partition_result(partition, error_code=code, error_message=message or code.name)


def _row(request: type[Any], api: StateApi, short_way: ShortWay[Any, Any] | None = None) -> ApiRow[Any, Any]:
    """Return the row of an API. ``short_way`` reads plain requests, which have the operations' own, and encodes their responses."""

    def handle(node: Node, context: RequestContext, request: Any, reply: Exchange[Any]) -> Repeat | None:
        if isinstance(request, _PLAIN):
            return node.share_states.write(node.share_shard[request.name], api.operation, context, request, reply)
        if isinstance(request, Several):
            named: Iterator[tuple[bytes, Any]] = ((each.name, each) for each in request.requests)
        else:
            topics = request.topics
            if not request.group_id or not topics or (api.needs_partitions and not all(topic.partitions for topic in topics)):
                reply.complete(api.response())
                return None
            named = _named(request, api.request_of)
        work = _run(node, context, api.operation, named, _Answer(api, reply))
        if reply.is_large:
            node.steps.run_on(reply, work)
        else:
            at_once(work)
        return None

    def refuse(context: RequestContext, request: Any, error: ErrorCode, message: str | None) -> Any:
        if isinstance(request, (*_PLAIN, Several)):
            return _all_refused(api, request.requests if isinstance(request, Several) else [request], error, message)
        results = [
            api.topic_result(topic.topic_id, [_refused(api, each.partition, error, message) for each in topic.partitions])
            for topic in request.topics
        ]
        return api.response(results=results)

    access = cluster(Operation.CLUSTER_ACTION)
    return ApiRow(request, api.response, handle, refuse, Order.WRITE, short_way, units_per_byte=UNITS_PER_BYTE, access=access)


def _all_refused(api: StateApi, requests: Iterable[Write | Read], error: ErrorCode, message: str | None) -> Any:
    by_topic: dict[bytes, list[Any]] = {}
    for each in requests:
        topic_id, partition = topic_and_partition_of(each.name)
        by_topic.setdefault(topic_id, []).append(_refused(api, partition, error, message))
    return api.response(results=[api.topic_result(*each) for each in by_topic.items()])


def _named(request: Any, request_of: Callable[[bytes, Any], Any]) -> Iterator[tuple[bytes, Any]]:
    """Yield the names of a request's share partitions, and what it has of them as the operation takes it."""
    group_id = request.group_id
    for topic in request.topics:
        for data in topic.partitions:
            name = name_of(SharePartitionKey(group_id, topic.topic_id, data.partition))
            yield name, request_of(name, data)


def _run(
    node: Node,
    context: RequestContext,
    operation: WriteOperation[ShareShard, Any, Any],
    named: Iterable[tuple[bytes, Any]],
    answer: _Answer,
) -> Work[None]:
    """Run the operations of a request, in steps."""
    share_shard, runtime = node.share_shard, node.share_states
    budget = StepBudget(BATCHES_PER_STEP)
    for name, request in named:
        reply = answer.expect(*topic_and_partition_of(name))
        runtime.write(share_shard[name], operation, context, request, reply)
        batches = len(request.rows) // ROW_BYTES if isinstance(request, Write) else 0
        if budget.spend(BATCHES_PER_PARTITION + batches):
            yield
    answer.count()


def _initialization(name: bytes, data: initialize.PartitionData) -> Initialization:
    return Initialization(name, data.state_epoch, data.start_offset)


def _write(name: bytes, data: write.PartitionData) -> Write:
    rows = rows_of(data.state_batches)
    return Write(name, data.state_epoch, data.leader_epoch, data.start_offset, data.delivery_complete_count, rows)


def _read(name: bytes, data: read.PartitionData) -> Read:
    return Read(name, data.leader_epoch)


def _name(name: bytes, data: object) -> bytes:
    return name


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
        has_short_answer=True,
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
        has_short_answer=True,
    ),
    ShortWay(write_reader, write_encoder),
)
DELETE_SHARE_GROUP_STATE_API: Final = _row(
    delete.DeleteShareGroupStateRequest,
    StateApi(
        WriteOperation("delete-share-group-state", ShareShard.delete_state),
        _name,
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
        _name,
        _summary_result,
        summary.ReadShareGroupStateSummaryResponse,
        summary.ReadStateSummaryResult,
        summary.PartitionResult,
    ),
)
