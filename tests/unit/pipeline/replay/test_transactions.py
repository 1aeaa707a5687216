"""The transactions of a transactional id, one by one."""

from __future__ import annotations

from coordinator_server.machine.provenance import TIMER, Provenance
from coordinator_server.pipeline.replay.transactions import OneTransaction, Transactions
from coordinator_server.pipeline.transactions.transitions import Transition
from coordinator_server.transaction.state import TransactionState
from coordinator_server.transaction.transaction import Transaction

ONGOING, COMMIT, ABORT = TransactionState.ONGOING, TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT
COMMITTED, ABORTED = TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT
BY = Provenance("", 24, 3, client_id="payer", client_host="10.0.0.7")


def followed(*records: tuple[TransactionState | None, int, Provenance | None]) -> list[OneTransaction]:
    """Those that have ended, and the open one. A record is a state, the start of its transaction, and who caused it."""
    found = Transactions()
    ended: list[OneTransaction] = []
    for number, (state, start_ms, by) in enumerate(records):
        moved = frozenset({("orders", 1)} if state in (ONGOING, COMMIT, ABORT) else ())
        after = None if state is None else Transaction(7, 2, 60_000, state, 0, partitions=moved, start_ms=start_ms)
        ended += found.add(Transition("id", number, 100 + number, after, by))
    return ended if found.open is None else [*ended, found.open]


def test_a_transaction_has_its_times_its_outcome_and_who_began_it() -> None:
    [found] = followed((ONGOING, 100, BY), (ONGOING, 100, None), (COMMIT, 100, None), (COMMITTED, 100, None))

    assert found == OneTransaction(0, 100, 102, 3, 103, "committed", "", 7, 2, ["orders-1"], "payer", "10.0.0.7")


def test_an_abort_by_the_timer_says_so() -> None:
    [found] = followed((ONGOING, 100, BY), (ABORT, 100, Provenance(TIMER)), (ABORTED, 100, None))

    assert (found.outcome, found.reason, found.decided_ms, found.ended_ms) == ("aborted", "timeout", 101, 102)


def test_one_that_goes_on_has_no_end() -> None:
    [found] = followed((COMMITTED, 50, None), (ONGOING, 101, BY))

    assert (found.begun_ms, found.decided_ms, found.ended_ms, found.outcome) == (101, None, None, "")


def test_an_end_that_was_cleaned_away_is_unknown() -> None:
    """The next transaction has begun, or the id was forgotten."""
    first, second = followed((ONGOING, 100, BY), (ONGOING, 101, BY), (None, 0, None))

    assert [(each.begun_ms, each.ended_ms, each.outcome) for each in (first, second)] == [
        (100, 101, "unknown"),
        (101, 102, "unknown"),
    ]
