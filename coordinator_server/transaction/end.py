"""EndTxn: whether a request ends the transaction, repeats the request that did, or is refused (KIP-890).

Version 1 compares states. In version 2 each end bumps the epoch, so that the epoch says which transaction is meant:

    state             commit, epoch before   abort, epoch before   commit, present epoch   abort, present epoch
    EMPTY             PRODUCER_FENCED        PRODUCER_FENCED       INVALID_TXN_STATE       next epoch
    ONGOING           PRODUCER_FENCED        PRODUCER_FENCED       ends                    ends
    COMPLETE_COMMIT   repeated               INVALID_TXN_STATE     INVALID_TXN_STATE       next epoch
    COMPLETE_ABORT    INVALID_TXN_STATE      repeated              INVALID_TXN_STATE       next epoch
"""

from __future__ import annotations

from typing import Final, NamedTuple

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import TransactionResult
from coordinator_server.transaction.state import TransactionState
from coordinator_server.transaction.transaction import FIRST_WITH_EPOCH_BUMP, LAST_EPOCH, Transaction
from protocol.error_codes import ErrorCode
from protocol.messages.end_txn import EndTxnResponse

_COMPLETE: Final = {
    TransactionResult.COMMIT: TransactionState.COMPLETE_COMMIT,
    TransactionResult.ABORT: TransactionState.COMPLETE_ABORT,
}


class EndRequest(NamedTuple):
    """A client's request. ``version`` is that of its transactions."""

    producer_id: int
    producer_epoch: int
    result: TransactionResult
    version: int


def is_end(known: Transaction, request: EndRequest, *, is_pending: bool) -> bool:
    """Return True if the request ends the transaction, False if it repeats the one that did. Raises CoordinatorError.

    ``is_pending``: a transition is not durable yet, or markers are being written.
    """
    if request.version >= FIRST_WITH_EPOCH_BUMP:
        return _is_end_by_epoch(known, request, is_pending=is_pending)
    if known.producer_id != request.producer_id:
        raise CoordinatorError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if known.producer_epoch != request.producer_epoch:
        raise CoordinatorError(ErrorCode.PRODUCER_FENCED)
    if is_pending:
        raise CoordinatorError(ErrorCode.CONCURRENT_TRANSACTIONS)
    if known.state is TransactionState.ONGOING:
        return True
    if known.state is _COMPLETE[request.result]:
        return False
    raise CoordinatorError(ErrorCode.INVALID_TXN_STATE)


def _is_end_by_epoch(known: Transaction, request: EndRequest, *, is_pending: bool) -> bool:
    if is_pending:
        # First: the producer may use an id that it gets only with this transition.
        raise CoordinatorError(ErrorCode.CONCURRENT_TRANSACTIONS)
    epoch = request.producer_epoch
    is_of_old_id = known.previous_producer_id == request.producer_id and epoch == LAST_EPOCH and known.producer_epoch == 0
    if known.producer_id != request.producer_id and not is_of_old_id:
        raise CoordinatorError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    is_repeated = known.state in _COMPLETE.values() and (is_of_old_id or known.producer_epoch == epoch + 1)
    if not is_repeated and known.producer_epoch != epoch:
        raise CoordinatorError(ErrorCode.PRODUCER_FENCED)
    if is_repeated and known.state is _COMPLETE[request.result]:
        return False
    if known.state is TransactionState.ONGOING or (request.result is TransactionResult.ABORT and not is_repeated):
        return True
    raise CoordinatorError(ErrorCode.INVALID_TXN_STATE)


def end_response(transaction: Transaction, *, bumps: bool) -> EndTxnResponse:
    """Return the answer with the producer's id and epoch. ``bumps`` is whether the request's version has them."""
    if not bumps:
        return EndTxnResponse()
    return EndTxnResponse(producer_id=transaction.producer_id, producer_epoch=transaction.producer_epoch)
