"""The entries of DescribeTransactions and ListTransactions for an id."""

from __future__ import annotations

from coordinator_server.transaction.describe import described, listed
from protocol.messages import describe_transactions, list_transactions
from tests.support.transactions import FIRST_PRODUCER_ID, TransactionLog


def test_an_id_has_its_producer_and_its_state() -> None:
    """The epoch is that of the producer that asked last."""
    log = TransactionLog()
    log.init("t")
    log.init("t", timeout_ms=5_000)
    known = log.state("t")
    assert known is not None

    assert described("t", known) == describe_transactions.TransactionState(0, "t", "Empty", 5_000, -1, FIRST_PRODUCER_ID, 1, [])
    assert listed("t", known) == list_transactions.TransactionState("t", FIRST_PRODUCER_ID, "Empty")
