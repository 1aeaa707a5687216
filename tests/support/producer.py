"""A producer that speaks to the transaction coordinator over a socket:
it finds the loop of its transactional id, and asks again where clients do.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

from protocol.error_codes import ErrorCode
from protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from protocol.messages.describe_transactions import DescribeTransactionsRequest, DescribeTransactionsResponse, TransactionState
from protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from tests.support.client import Client
from tests.support.simple_requests import OF_GROUPS, OF_TRANSACTIONS, coordinator

Partitions = Mapping[str, Sequence[int]]
Errors = dict[tuple[str, int], ErrorCode]

FIRST_OF_BROKERS = 4
LATER = {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.CONCURRENT_TRANSACTIONS}
PATIENCE_S = 20


class Answer(NamedTuple):
    """An error, or the producer id and epoch to go on with."""

    error: ErrorCode
    producer_id: int = -1
    epoch: int = -1


class Producer:
    """One transactional id. ``producer_id`` and ``epoch`` are those of the last successful answer; tests may change them."""

    def __init__(self, address: tuple[str, int], transactional_id: str) -> None:
        self.id = transactional_id
        self.producer_id = self.epoch = -1
        self._address = address
        self.client = Client(home_of(address, transactional_id, OF_TRANSACTIONS))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def init(self, timeout_ms: int = 60_000, *, version: int = 5, own: tuple[int, int] = (-1, -1), waits: bool = True) -> Answer:
        """Ask for an epoch, and, if it ``waits``, ask again until the last transaction has ended."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            request = InitProducerIdRequest(self.id, timeout_ms, *own)
            found = self.client.ask(request, version, InitProducerIdResponse)
            error = ErrorCode(found.error_code)
            if error in LATER and time.monotonic() < deadline and (waits or error != ErrorCode.CONCURRENT_TRANSACTIONS):
                time.sleep(0.005)
                continue
            return self._taken(Answer(error, found.producer_id, found.producer_epoch))

    def add(self, partitions: Partitions, *, version: int = 3, is_check: bool = False) -> Errors:
        """Add partitions, or look for them; in the form of clients, or of brokers."""
        topics = [AddPartitionsToTxnTopic(name, list(indexes)) for name, indexes in partitions.items()]
        if version < FIRST_OF_BROKERS:
            asked = AddPartitionsToTxnRequest([], self.id, self.producer_id, self.epoch, topics)
            return errors_of(self.client.ask(asked, version, AddPartitionsToTxnResponse).results_by_topic_v3_and_below)
        one = AddPartitionsToTxnTransaction(self.id, self.producer_id, self.epoch, is_check, topics)
        [result] = self.client.ask(AddPartitionsToTxnRequest([one]), version, AddPartitionsToTxnResponse).results_by_transaction
        return errors_of(result.topic_results)

    def add_offsets(self, group_id: str, *, version: int = 4) -> ErrorCode:
        request = AddOffsetsToTxnRequest(self.id, self.producer_id, self.epoch, group_id)
        return ErrorCode(self.client.ask(request, version, AddOffsetsToTxnResponse).error_code)

    def commit(self, group_id: str, topic: str, offsets: Mapping[int, int], *, version: int = 5) -> set[ErrorCode]:
        """Commit offsets of a group in the transaction. Return the errors of the partitions."""
        partitions = [TxnOffsetCommitRequestPartition(index, offset) for index, offset in offsets.items()]
        topics = [TxnOffsetCommitRequestTopic(topic, partitions)]
        request = TxnOffsetCommitRequest(self.id, group_id, self.producer_id, self.epoch, topics=topics)
        deadline = time.monotonic() + PATIENCE_S
        with Client(home_of(self._address, group_id, OF_GROUPS)) as client:
            while True:
                answer = client.ask(request, version, TxnOffsetCommitResponse)
                errors = {ErrorCode(each.error_code) for found in answer.topics for each in found.partitions}
                if not errors & LATER or time.monotonic() > deadline:
                    return errors
                time.sleep(0.005)

    def end(self, *, is_commit: bool = True, version: int = 5) -> Answer:
        request = EndTxnRequest(self.id, self.producer_id, self.epoch, is_commit)
        found = self.client.ask(request, version, EndTxnResponse)
        return self._taken(Answer(ErrorCode(found.error_code), found.producer_id, found.producer_epoch))

    def described(self) -> TransactionState:
        [found] = self.client.ask(DescribeTransactionsRequest([self.id]), 0, DescribeTransactionsResponse).transaction_states
        return found

    def until(self, state: str) -> TransactionState:
        """Wait for a state, and return its description."""
        deadline = time.monotonic() + PATIENCE_S
        while (found := self.described()).transaction_state != state:
            assert time.monotonic() < deadline, f"{self.id} is {found.transaction_state}, not {state}"
            time.sleep(0.005)
        return found

    def _taken(self, answer: Answer) -> Answer:
        if answer.error == ErrorCode.NONE and answer.producer_id >= 0:
            self.producer_id, self.epoch = answer.producer_id, answer.epoch
        return answer


def home_of(address: tuple[str, int], key: str, key_type: int) -> tuple[str, int]:
    """Return the address of the loop that owns a transactional id, or a group."""
    with Client(address) as client:
        return coordinator(client, key, key_type)


def errors_of(topics: Sequence[AddPartitionsToTxnTopicResult]) -> Errors:
    """Return the error of each partition."""
    return {
        (topic.name, each.partition_index): ErrorCode(each.partition_error_code)
        for topic in topics
        for each in topic.results_by_partition
    }
