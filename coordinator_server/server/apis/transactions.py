"""InitProducerId (22), AddOffsetsToTxn (25) and EndTxn (26): what a producer asks of the transaction coordinator."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final, TypeVar

from coordinator_server.kinds import GROUPS
from coordinator_server.machine.errors import CoordinatorError, operation_error
from coordinator_server.machine.shard import Reply, RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.exchange.api_row import ApiRow, Refusal, Touched
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.guard.access import ApiAccess, Asked, Need
from coordinator_server.server.guard.needs import READ_GROUP, WRITE_TRANSACTION
from coordinator_server.server.guard.parts import Conditional
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.hosting.transaction_messages import ADD_PARTITIONS
from coordinator_server.server.wire.order import Order
from coordinator_server.transaction.shard import PartitionsRequest, TransactionShard
from protocol.acl_codes import CLUSTER_NAME, Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

R = TypeVar("R")

INIT_PRODUCER_ID: Final = WriteOperation("init-producer-id", TransactionShard.init_producer_id)
END_TRANSACTION: Final = WriteOperation("end-transaction", TransactionShard.end_transaction)

_TWO_PHASE_COMMIT: Final = Need(Operation.TWO_PHASE_COMMIT, ResourceType.TRANSACTIONAL_ID, attrgetter("transactional_id"))

NONE: Final = -1
"""In place of a producer id or an epoch."""
# The first versions whose clients know PRODUCER_FENCED. Before, INVALID_PRODUCER_EPOCH says the same.
INIT_FIRST_FENCED: Final = 4
FIRST_FENCED: Final = 2


def transaction_error(error: ErrorCode, version: int, first_fenced: int = FIRST_FENCED) -> ErrorCode:
    """Return the error code that a client of this version of the API gets."""
    if error == ErrorCode.PRODUCER_FENCED and version < first_fenced:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return operation_error(error)


def shard_of(node: Node, transactional_id: str | None) -> int:
    """Return the partition that owns a transactional id.

    Raises CoordinatorError, as Kafka does in any broker, if it has no text.
    """
    if not transactional_id:
        raise CoordinatorError(ErrorCode.INVALID_REQUEST)
    return node.transaction_partition_of(transactional_id)


def _touched_by_init(request: InitProducerIdRequest) -> Touched:
    return frozenset((request.transactional_id or "",)) if request.producer_id == NONE else touched(request)


def touched(request: InitProducerIdRequest | AddOffsetsToTxnRequest | EndTxnRequest) -> Touched:
    """Return a transactional id and its producer id, which a group's log may take without the transactional id."""
    return frozenset((request.transactional_id or "", request.producer_id))


def _refusal(make: Callable[..., R], first_fenced: int, **others: int) -> Refusal[Any, R]:
    def refuse(context: RequestContext, request: Any, error: ErrorCode, message: str | None) -> R:
        return make(error_code=transaction_error(error, context.api_version, first_fenced), **others)

    return refuse


def init_producer_id(
    node: Node, context: RequestContext, request: InitProducerIdRequest, reply: Exchange[InitProducerIdResponse]
) -> None:
    """Give a producer an id, or the next epoch of its transactional id.

    Without a transactional id, any loop gives a new id, whatever id the producer had. The first producer after a start waits for
    the loop's first block of ids: clients that must retry do so after up to half a second.
    """
    if (request.producer_id == NONE) != (request.producer_epoch == NONE):
        raise CoordinatorError(ErrorCode.INVALID_REQUEST)

    def try_it() -> None:
        _init(node, context, request, CallbackReply(reply.complete, refused))

    def refused(error: ErrorCode, message: str | None) -> None:
        if error != ErrorCode.COORDINATOR_LOAD_IN_PROGRESS or not node.producer_ids.wait(try_it):
            reply.fail(error, message)

    try_it()


def _init(node: Node, context: RequestContext, request: InitProducerIdRequest, reply: Reply[InitProducerIdResponse]) -> None:
    if request.transactional_id is not None:
        node.transactions.write(shard_of(node, request.transactional_id), INIT_PRODUCER_ID, context, request, reply)
        return
    try:
        taken = node.producer_ids.take()
    except CoordinatorError as none_left:
        reply.fail(none_left.error, none_left.message)
    else:
        reply.complete(InitProducerIdResponse(producer_id=taken, producer_epoch=0))


def _new_producer_denial(asked: Asked, request: InitProducerIdRequest) -> ErrorCode | None:
    """A transactional id needs rights of its own; an idempotent producer needs the right to write at all."""
    if request.transactional_id is not None:
        needs = (WRITE_TRANSACTION, _TWO_PHASE_COMMIT) if request.enable2_pc else (WRITE_TRANSACTION,)
        return next((need.error for need in needs if not need.is_met(asked, request)), None)
    access = asked.access
    if access.allows(Operation.IDEMPOTENT_WRITE, ResourceType.CLUSTER):
        return None
    if access.allows_any(Operation.WRITE, ResourceType.TOPIC):
        return None
    asked.report(asked.context, Operation.IDEMPOTENT_WRITE, ResourceType.CLUSTER, (CLUSTER_NAME,))
    return ErrorCode.CLUSTER_AUTHORIZATION_FAILED


INIT_PRODUCER_ID_API = ApiRow(
    InitProducerIdRequest,
    InitProducerIdResponse,
    init_producer_id,
    _refusal(InitProducerIdResponse, INIT_FIRST_FENCED, producer_id=NONE, producer_epoch=NONE),
    Order.ALONE,
    touches=_touched_by_init,
    access=ApiAccess(parts=Conditional(_new_producer_denial)),
)


def add_offsets_to_txn(
    node: Node, context: RequestContext, request: AddOffsetsToTxnRequest, reply: Exchange[AddOffsetsToTxnResponse]
) -> None:
    """Add the partition with a group's offsets to a transaction, which begins if none is open.

    Only clients of the first version of transactions ask for this.
    """
    partition = (GROUPS.topic, node.partition_of(request.group_id))
    asked = PartitionsRequest(request.transactional_id, request.producer_id, request.producer_epoch, frozenset((partition,)))
    added = CallbackReply(lambda _: reply.complete(AddOffsetsToTxnResponse()), reply.fail)
    node.transactions.write(shard_of(node, request.transactional_id), ADD_PARTITIONS, context, asked, added)


ADD_OFFSETS_TO_TXN_API = ApiRow(
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    add_offsets_to_txn,
    _refusal(AddOffsetsToTxnResponse, FIRST_FENCED),
    Order.ALONE,
    touches=touched,
    access=ApiAccess((WRITE_TRANSACTION, READ_GROUP)),
)


def end_txn(node: Node, context: RequestContext, request: EndTxnRequest, reply: Exchange[EndTxnResponse]) -> None:
    node.transactions.write(shard_of(node, request.transactional_id), END_TRANSACTION, context, request, reply)


END_TXN_API = ApiRow(
    EndTxnRequest,
    EndTxnResponse,
    end_txn,
    _refusal(EndTxnResponse, FIRST_FENCED),
    Order.ALONE,
    touches=touched,
    access=ApiAccess((WRITE_TRANSACTION,)),
)
