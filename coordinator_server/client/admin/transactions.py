"""Transactional ids: their states, and the end of an open transaction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from coordinator_server.client.admin.cluster import Cluster, check
from coordinator_server.client.errors import Refused
from coordinator_server.client.finding import KeyType
from coordinator_server.client.offsets import TopicPartition
from protocol.error_codes import ErrorCode
from protocol.messages.describe_transactions import DescribeTransactionsRequest, DescribeTransactionsResponse
from protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse

OPEN: Final = ("Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence")
"""The states in which a transaction is open. In others, servers may say when the last one began."""
FENCING_TIMEOUT_MS = 60_000
"""The transaction timeout of the producer that fences the others."""


@dataclass(frozen=True)
class ListedTransaction:
    """A transactional id as ListTransactions names it."""

    transactional_id: str
    state: str
    producer_id: int
    node_id: int


@dataclass(frozen=True)
class DescribedTransaction:
    """A transactional id. ``start_ms`` is None unless a transaction is open; ``partitions`` are those that it writes to."""

    transactional_id: str
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    start_ms: int | None
    partitions: list[TopicPartition] = field(default_factory=list)


async def list_transactions(cluster: Cluster, states: Iterable[str] = ()) -> list[ListedTransaction]:
    """Return the transactional ids of all servers, by id; those in ``states``, if there are any. Raises ClientError."""
    answers = await cluster.ask_all(ListTransactionsRequest(list(states)), ListTransactionsResponse)
    found = []
    for node_id, answer in answers.items():
        check("ListTransactions", answer.error_code)
        if answer.unknown_state_filters:
            raise Refused(f"the server knows no state {', '.join(answer.unknown_state_filters)}")
        found += [
            ListedTransaction(each.transactional_id, each.transaction_state, each.producer_id, node_id)
            for each in answer.transaction_states
        ]
    return sorted(found, key=lambda each: each.transactional_id)


async def describe_transactions(cluster: Cluster, ids: Iterable[str]) -> dict[str, DescribedTransaction]:
    """Return those transactional ids that exist. Raises ClientError."""
    answers = await cluster.ask_coordinators(
        ids,
        DescribeTransactionsRequest,
        DescribeTransactionsResponse,
        lambda answer: [each.error_code for each in answer.transaction_states],
        KeyType.TRANSACTION,
    )
    found = {}
    for _, answer in answers:
        for each in answer.transaction_states:
            if each.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                continue
            check(f"description of {each.transactional_id}", each.error_code)
            found[each.transactional_id] = DescribedTransaction(
                each.transactional_id,
                each.transaction_state,
                each.producer_id,
                each.producer_epoch,
                each.transaction_timeout_ms,
                each.transaction_start_time_ms if each.transaction_state in OPEN else None,
                sorted(TopicPartition(topic.topic, number) for topic in each.topics for number in topic.partitions),
            )
    return dict(sorted(found.items()))


async def fence_producers(cluster: Cluster, transactional_id: str) -> tuple[int, int]:
    """Abort the open transaction of an id and fence its producers.

    Return the producer id and epoch after that. Raises ClientError.
    """

    async def attempt() -> tuple[int, int]:
        answer = await cluster.ask_coordinator(
            transactional_id,
            InitProducerIdRequest(transactional_id, FENCING_TIMEOUT_MS),
            InitProducerIdResponse,
            lambda answer: [answer.error_code],
            KeyType.TRANSACTION,
        )
        # CONCURRENT_TRANSACTIONS, until the transaction has ended.
        check(f"fencing of {transactional_id}", answer.error_code)
        return answer.producer_id, answer.producer_epoch

    return await cluster.retried(attempt)
