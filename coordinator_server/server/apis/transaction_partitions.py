"""AddPartitionsToTxn (24), of clients (before version 4) and in the form of brokers: several transactions, or only a check.

A transaction gets none of a request's partitions if one of them is unknown, or internal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Final

from coordinator_server.kinds import KINDS
from coordinator_server.machine.errors import CoordinatorError, operation_error
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.server.apis.lists import UNITS_PER_STEP, StepBudget
from coordinator_server.server.apis.transactions import shard_of, transaction_error
from coordinator_server.server.exchange.api_row import ApiRow, Touched
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work, at_once
from coordinator_server.server.guard.access import ApiAccess, Asked, Need, on_cluster, verdicts_for
from coordinator_server.server.guard.parts import Conditional
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.hosting.transaction_messages import ADD_PARTITIONS, MISSING_PARTITIONS
from coordinator_server.server.wire.order import Order
from coordinator_server.transaction.shard import SERVED_VERSION, PartitionsRequest
from coordinator_server.transaction.transaction import TopicPartition
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.first_versions import PARTITIONS_OF_BROKERS
from protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)

UNITS_PER_TRANSACTION: Final = 25

_INTERNAL: Final = frozenset(kind.topic for kind in KINDS.values() if kind.key_type is not None)
_NOT_ATTEMPTED: Final = ErrorCode.OPERATION_NOT_ATTEMPTED


def add_partitions_to_txn(
    node: Node, context: RequestContext, request: AddPartitionsToTxnRequest, reply: Exchange[AddPartitionsToTxnResponse]
) -> None:
    """Run one operation per transaction; answer when each is durable or has failed. Large requests go in steps."""
    transactions = _transactions(context, request)
    work = _Additions(node, context, reply, transactions).run()
    if reply.is_large or UNITS_PER_TRANSACTION * len(transactions) > UNITS_PER_STEP:
        node.steps.run_on(reply, work)
    else:
        at_once(work)


def _transactions(context: RequestContext, request: AddPartitionsToTxnRequest) -> Sequence[AddPartitionsToTxnTransaction]:
    if context.api_version >= PARTITIONS_OF_BROKERS:
        return request.transactions
    return [
        AddPartitionsToTxnTransaction(
            request.v3_and_below_transactional_id,
            request.v3_and_below_producer_id,
            request.v3_and_below_producer_epoch,
            False,
            request.v3_and_below_topics,
        )
    ]


def _touched(request: AddPartitionsToTxnRequest) -> Touched:
    if not request.transactions:
        return frozenset((request.v3_and_below_transactional_id, request.v3_and_below_producer_id))
    return frozenset(chain.from_iterable((each.transactional_id, each.producer_id) for each in request.transactions))


class _Additions:
    """The operations of a request, and their results in the order of its transactions."""

    def __init__(
        self,
        node: Node,
        context: RequestContext,
        reply: Exchange[AddPartitionsToTxnResponse],
        transactions: Sequence[AddPartitionsToTxnTransaction],
    ) -> None:
        self._node = node
        self._context = context
        self._reply = reply
        self._transactions = transactions
        self._results = [AddPartitionsToTxnResult(each.transactional_id) for each in transactions]
        # One for each transaction without a result, and one until all have begun.
        self._missing = len(transactions) + 1

    def run(self) -> Work[None]:
        """Check the partitions of each transaction, and add them or look for them, in steps."""
        self._check_size()
        yield
        budget = StepBudget()
        for asked, result in zip(self._transactions, self._results, strict=True):
            checked = _checked(self._node, self._context, asked.topics)
            if any(error != ErrorCode.NONE for error in checked.values()):
                self._answered(result, _results({each: error or _NOT_ATTEMPTED for each, error in checked.items()}))
            else:
                self._begin(asked, frozenset(checked), result)
            if budget.spend(UNITS_PER_TRANSACTION + len(checked)):
                yield
        self._count()

    def _check_size(self) -> None:
        """Raise CoordinatorError if the request has more elements than a transaction may have partitions."""
        most = self._node.config.transactions.transaction_max_partitions
        left = most - len(self._transactions)
        for asked in self._transactions:
            left -= len(asked.topics)
            if left < 0:
                break
            left -= sum([len(topic.partitions) for topic in asked.topics])
        if left < 0:
            raise CoordinatorError(ErrorCode.POLICY_VIOLATION, f"more than transaction.max.partitions={most} elements")

    def _begin(
        self, asked: AddPartitionsToTxnTransaction, partitions: frozenset[TopicPartition], result: AddPartitionsToTxnResult
    ) -> None:
        version = self._context.api_version
        is_of_broker = version >= PARTITIONS_OF_BROKERS
        request = PartitionsRequest(
            asked.transactional_id,
            asked.producer_id,
            asked.producer_epoch,
            partitions,
            SERVED_VERSION if is_of_broker else 0,
        )

        def added(_: None) -> None:
            self._answered(result, _all(asked.topics, ErrorCode.NONE))

        def not_added(error: ErrorCode, _message: str | None) -> None:
            self._answered(result, _all(asked.topics, transaction_error(error, version)))

        def checked(missing: frozenset[TopicPartition]) -> None:
            errors = {each: ErrorCode.TRANSACTION_ABORTABLE if each in missing else ErrorCode.NONE for each in partitions}
            self._answered(result, _results(errors))

        def not_checked(error: ErrorCode, _message: str | None) -> None:
            self._answered(result, _results(dict.fromkeys(partitions, operation_error(error))))

        failed = not_checked if asked.verify_only else not_added
        try:
            shard = shard_of(self._node, asked.transactional_id)
        except CoordinatorError as refused:
            failed(refused.error, refused.message)
            return
        if asked.verify_only:
            self._node.transactions.write(shard, MISSING_PARTITIONS, self._context, request, CallbackReply(checked, failed))
        else:
            self._node.transactions.write(shard, ADD_PARTITIONS, self._context, request, CallbackReply(added, failed))

    def _answered(self, result: AddPartitionsToTxnResult, topics: list[AddPartitionsToTxnTopicResult]) -> None:
        result.topic_results = topics
        self._count()

    def _count(self) -> None:
        """Count a result, or the end of the operations. Answer the request after the last."""
        self._missing -= 1
        if self._missing:
            return
        if self._context.api_version >= PARTITIONS_OF_BROKERS:
            self._reply.complete(AddPartitionsToTxnResponse(results_by_transaction=self._results))
        else:
            self._reply.complete(AddPartitionsToTxnResponse(results_by_topic_v3_and_below=self._results[0].topic_results))


def _checked(node: Node, context: RequestContext, topics: Iterable[AddPartitionsToTxnTopic]) -> dict[TopicPartition, ErrorCode]:
    """Return each partition, with an error if it cannot be added. As in Kafka, clients name no partitions of internal topics."""
    is_of_client = context.api_version < PARTITIONS_OF_BROKERS
    writable = verdicts_for(node, context, Operation.WRITE, ResourceType.TOPIC) if is_of_client else None
    found: dict[TopicPartition, ErrorCode] = {}
    for asked in topics:
        if is_of_client and (asked.name in _INTERNAL or (writable is not None and not writable[asked.name])):
            found |= dict.fromkeys(((asked.name, index) for index in asked.partitions), ErrorCode.TOPIC_AUTHORIZATION_FAILED)
            continue
        topic = node.image.topic(asked.name)
        if topic is None:
            node.image.check_current()
        count = topic.partitions if topic is not None else 0
        for index in asked.partitions:
            found[asked.name, index] = ErrorCode.NONE if 0 <= index < count else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return found


def _all(topics: Iterable[AddPartitionsToTxnTopic], error: ErrorCode) -> list[AddPartitionsToTxnTopicResult]:
    """Return the same result for all partitions of a request, as it names them."""
    return [
        AddPartitionsToTxnTopicResult(topic.name, [AddPartitionsToTxnPartitionResult(index, error) for index in topic.partitions])
        for topic in topics
    ]


def _results(errors: Mapping[TopicPartition, ErrorCode]) -> list[AddPartitionsToTxnTopicResult]:
    """Return a result for each partition, and one entry for each topic."""
    by_topic: dict[str, AddPartitionsToTxnTopicResult] = {}
    for (name, index), error in errors.items():
        topic = by_topic.setdefault(name, AddPartitionsToTxnTopicResult(name, []))
        topic.results_by_partition.append(AddPartitionsToTxnPartitionResult(index, error))
    return list(by_topic.values())


def refuse_add_partitions_to_txn(
    context: RequestContext, request: AddPartitionsToTxnRequest, error: ErrorCode, message: str | None
) -> AddPartitionsToTxnResponse:
    code = transaction_error(error, context.api_version)
    if context.api_version >= PARTITIONS_OF_BROKERS:
        return AddPartitionsToTxnResponse(error_code=code)
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_all(request.v3_and_below_topics, code))


def _denial(asked: Asked, request: AddPartitionsToTxnRequest) -> ErrorCode | None:
    """Brokers have a form of their own. The handler checks the topics of a client's request: one that is denied refuses all."""
    if asked.context.api_version >= PARTITIONS_OF_BROKERS:
        need = on_cluster(Operation.CLUSTER_ACTION)
    else:
        need = Need(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, attrgetter("v3_and_below_transactional_id"))
    return None if need.is_met(asked, request) else need.error


ADD_PARTITIONS_TO_TXN_API = ApiRow(
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    add_partitions_to_txn,
    refuse_add_partitions_to_txn,
    Order.ALONE,
    touches=_touched,
    access=ApiAccess(parts=Conditional(_denial), in_handler=((Operation.WRITE, ResourceType.TOPIC),)),
)
