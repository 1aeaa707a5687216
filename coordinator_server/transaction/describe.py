"""DescribeTransactions and ListTransactions."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Final, NamedTuple

from coordinator_server.transaction.state import TransactionState
from coordinator_server.transaction.transaction import Transaction, by_topic
from protocol.messages import describe_transactions, list_transactions

STATES: Final = {state.label: state for state in TransactionState}


class TransactionFilter(NamedTuple):
    """The filters of ListTransactions but the pattern of ids. An empty filter matches all."""

    states: Set[str]
    producer_ids: Set[int]
    longer_than_ms: int

    @property
    def unknown_states(self) -> list[str]:
        """The names that no state has."""
        return sorted(self.states - STATES.keys())

    def has(self, known: Transaction, now_ms: int) -> bool:
        """Return whether a transaction matches all filters.

        As in Kafka, an id without a transaction has run since the epoch of its start time, which is -1.
        """
        if self.producer_ids and known.producer_id not in self.producer_ids:
            return False
        if self.states and known.state.label not in self.states:
            return False
        return self.longer_than_ms < 0 or now_ms - known.start_ms > self.longer_than_ms


def listed(transactional_id: str, known: Transaction) -> list_transactions.TransactionState:
    """Return the entry of ListTransactions for an id."""
    return list_transactions.TransactionState(transactional_id, known.producer_id, known.state.label)


def described(transactional_id: str, known: Transaction) -> describe_transactions.TransactionState:
    """Return the entry of DescribeTransactions for an id."""
    return describe_transactions.TransactionState(
        transactional_id=transactional_id,
        transaction_state=known.state.label,
        transaction_timeout_ms=known.timeout_ms,
        transaction_start_time_ms=known.start_ms,
        producer_id=known.producer_id,
        producer_epoch=known.producer_epoch,
        topics=_topics(by_topic(known.partitions).items()),
    )


def _topics(partitions: Iterable[tuple[str, list[int]]]) -> list[describe_transactions.TopicData]:
    return [describe_transactions.TopicData(topic, indexes) for topic, indexes in partitions]
