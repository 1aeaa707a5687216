"""DescribeTransactions (65) and ListTransactions (66), for administrators."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from coordinator_server.machine.errors import OPERATION_ERRORS, CoordinatorError, operation_error
from coordinator_server.machine.expressions import Expression, ExpressionError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.lists import answer_list
from coordinator_server.server.apis.refusals import error_only
from coordinator_server.server.apis.transactions import shard_of
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Beside, Exchange
from coordinator_server.server.exchange.steps import Work, at_once, in_portions
from coordinator_server.server.guard.access import ApiAccess, Asked
from coordinator_server.server.guard.parts import NO_MESSAGES, Both, Each, Filtered, Visible
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from coordinator_server.transaction.describe import TransactionFilter, described
from coordinator_server.transaction.shard import TransactionShard
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.messages.describe_transactions import DescribeTransactionsRequest, DescribeTransactionsResponse
from protocol.messages.describe_transactions import TransactionState as DescribedTransaction
from protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from protocol.messages.list_transactions import TransactionState as ListedTransaction

# Of DescribeTransactions.
UNITS_PER_ID: Final = 4
# Of ListTransactions.
IDS_PER_STEP: Final = 1_000
NAMES_PER_STEP: Final = 5_000


def describe_transactions(
    node: Node, context: RequestContext, request: DescribeTransactionsRequest, reply: Exchange[DescribeTransactionsResponse]
) -> None:
    def describe(transactional_id: str) -> tuple[DescribedTransaction, int]:
        try:
            known = node.transactions.read(shard_of(node, transactional_id), TransactionShard.transaction, transactional_id)
        except CoordinatorError as refused:
            return _undescribed(transactional_id, refused.error), UNITS_PER_ID
        if known is None:
            return _undescribed(transactional_id, ErrorCode.TRANSACTIONAL_ID_NOT_FOUND), UNITS_PER_ID
        return described(transactional_id, known), UNITS_PER_ID + len(known.partitions)

    answer_list(
        node.steps,
        reply,
        request.transactional_ids,
        describe,
        lambda found: DescribeTransactionsResponse(transaction_states=found),
    )


def refuse_describe_transactions(
    context: RequestContext, request: DescribeTransactionsRequest, error: ErrorCode, message: str | None
) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(transaction_states=[_undescribed(each, error) for each in request.transactional_ids])


def _with_visible_topics(
    asked: Asked, request: DescribeTransactionsRequest, response: DescribeTransactionsResponse
) -> DescribeTransactionsResponse:
    verdicts = asked.access.verdicts(Operation.DESCRIBE, ResourceType.TOPIC)
    return replace(
        response,
        transaction_states=[
            replace(state, topics=[topic for topic in state.topics if verdicts[topic.topic]])
            for state in response.transaction_states
        ],
    )


DESCRIBE_TRANSACTIONS_API = ApiRow(
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    describe_transactions,
    refuse_describe_transactions,
    Order.READ,
    access=ApiAccess(
        parts=Both(
            Each(
                "transactional_ids",
                Operation.DESCRIBE,
                ResourceType.TRANSACTIONAL_ID,
                lambda _, transactional_id: transactional_id,
                "transaction_states",
                NO_MESSAGES,
            ),
            Filtered(_with_visible_topics),
        )
    ),
)


def _undescribed(transactional_id: str, error: ErrorCode) -> DescribedTransaction:
    return DescribedTransaction(operation_error(error), transactional_id)


def list_transactions(
    node: Node, context: RequestContext, request: ListTransactionsRequest, reply: Exchange[ListTransactionsResponse]
) -> None:
    """List the transactions of this loop's shards. The ids are compared with a pattern beside the loop."""
    pattern = _pattern(request)
    counts = _counts(node)
    work = _listed(node, request, list(counts))
    if pattern is not None:
        node.steps.run(reply, _matching(work, pattern))
    elif reply.is_large or sum(counts.values()) > IDS_PER_STEP:
        node.steps.run(reply, work)
    else:
        reply.connection.use_up()
        reply.complete(at_once(work))


LIST_TRANSACTIONS_API = ApiRow(
    ListTransactionsRequest,
    ListTransactionsResponse,
    list_transactions,
    error_only(ListTransactionsResponse, OPERATION_ERRORS),
    Order.READ,
    access=ApiAccess(parts=Visible("transaction_states", ResourceType.TRANSACTIONAL_ID, attrgetter("transactional_id"))),
)


def _pattern(request: ListTransactionsRequest) -> Expression | None:
    """Return the pattern of ids, or None. Raises CoordinatorError."""
    try:
        return Expression(request.transactional_id_pattern) if request.transactional_id_pattern else None
    except ExpressionError as wrong:
        raise CoordinatorError(ErrorCode.INVALID_REGULAR_EXPRESSION, str(wrong)) from wrong


def _counts(node: Node) -> dict[int, int]:
    """Return the number of ids of each shard of this loop.

    Raises CoordinatorError while one is loading: the list would not be complete.
    """
    found = {}
    for partition in range(node.transaction_partitions):
        try:
            found[partition] = node.transactions.read(partition, TransactionShard.count)
        except CoordinatorError as refused:
            if refused.error != ErrorCode.NOT_COORDINATOR:
                raise
    return found


def _listed(node: Node, request: ListTransactionsRequest, partitions: Iterable[int]) -> Work[ListTransactionsResponse]:
    states: set[str] = set()
    for names in in_portions(request.state_filters, NAMES_PER_STEP):
        states.update(names)
        yield
    producer_ids: set[int] = set()
    for numbers in in_portions(request.producer_id_filters, NAMES_PER_STEP):
        producer_ids.update(numbers)
        yield
    wanted = TransactionFilter(states, producer_ids, request.duration_filter)
    found: list[ListedTransaction] = []
    for partition in partitions:
        for portion in in_portions(node.transactions.read(partition, TransactionShard.ids), IDS_PER_STEP):
            found += node.transactions.read(partition, TransactionShard.list_transactions, wanted, portion)
            yield
    return ListTransactionsResponse(unknown_state_filters=wanted.unknown_states, transaction_states=found)


def _matching(
    work: Work[ListTransactionsResponse], pattern: Expression
) -> Work[ListTransactionsResponse | Beside[ListTransactionsResponse]]:
    response = yield from work

    def match() -> ListTransactionsResponse:
        response.transaction_states = [each for each in response.transaction_states if pattern.matches(each.transactional_id)]
        return response

    return Beside(match)
