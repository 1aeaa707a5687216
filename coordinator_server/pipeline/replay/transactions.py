"""The transactions of a transactional id, one by one: when each began, was decided and ended, and what it moved.

A log of Kafka's may lack records that its cleaner has removed. A transaction of which the end is not there has ended when the next
one begins, and how is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from coordinator_server.pipeline.transactions.transitions import Transition, end_reason, partition_names
from coordinator_server.transaction.state import AT_REST, PREPARED, TransactionState
from coordinator_server.transaction.transaction import Transaction

COMMITTED: Final = "committed"
ABORTED: Final = "aborted"
UNKNOWN: Final = "unknown"
"""How transactions end. Rows of the index have these values."""
_DECISIONS: Final = {
    TransactionState.PREPARE_COMMIT: COMMITTED,
    TransactionState.COMPLETE_COMMIT: COMMITTED,
    TransactionState.PREPARE_ABORT: ABORTED,
    TransactionState.COMPLETE_ABORT: ABORTED,
}


class OneTransaction(Struct, frozen=True):
    """A transaction. Times are in ms, and None if that has not happened; offsets are those of records in the log of its id.

    ``outcome`` is known when it is decided, and empty before; ``reason`` is an ``EndReason``, or empty if the log does not say.
    The client is the one that began it.
    """

    begun_offset: int
    begun_ms: int
    decided_ms: int | None
    ended_offset: int | None
    ended_ms: int | None
    outcome: str
    reason: str
    producer_id: int
    producer_epoch: int
    partitions: list[str]
    client_id: str = ""
    client_host: str = ""


class Transactions:
    """Follows one transactional id: ``open`` is the transaction that goes on, if any; ``last`` the id's state, None if unknown."""

    def __init__(self, last: Transaction | None = None, going_on: OneTransaction | None = None) -> None:
        self.last = last
        self.open = going_on

    def add(self, each: Transition) -> Iterator[OneTransaction]:
        """Take the next record of the id, and return the transactions that have ended with it."""
        after, self.last = each.after, each.after
        if after is None or after.state is TransactionState.EMPTY:
            yield from self._ended(each, UNKNOWN)
        elif after.state in AT_REST:
            yield from self._ended(each, _DECISIONS[after.state])
        else:
            if self.open is not None and self.open.begun_ms != after.start_ms:
                yield from self._ended(each, UNKNOWN)
            self.open = _going_on(self.open or _begun(each, after), each, after)

    def _ended(self, each: Transition, outcome: str) -> Iterator[OneTransaction]:
        if self.open is not None:
            yield replace(self.open, ended_offset=each.offset, ended_ms=each.at_ms, outcome=outcome)
            self.open = None


def _begun(each: Transition, after: Transaction) -> OneTransaction:
    who = ("", "") if each.by is None else (each.by.client_id, each.by.client_host)
    moved = partition_names(after)
    return OneTransaction(
        each.offset, after.start_ms, None, None, None, "", "", after.producer_id, after.producer_epoch, moved, *who
    )


def _going_on(before: OneTransaction, each: Transition, after: Transaction) -> OneTransaction:
    # An end may give the producer another id, or its next epoch (KIP-890): the transaction's are those that it began with.
    found = replace(before, partitions=partition_names(after))
    if after.state in PREPARED and before.decided_ms is None:
        reason = end_reason(each.by) or ""
        found = replace(found, decided_ms=each.at_ms, outcome=_DECISIONS[after.state], reason=str(reason))
    return found
