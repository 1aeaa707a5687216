"""One transactional id's state as a value, and the transitions from one value to the next (Kafka's ``TransactionMetadata``).

Epochs: a producer id has epochs 0 to LAST_EPOCH for clients. The epoch above is used by the coordinator alone, to fence the last
one; then the id is replaced. In version 2 of transactions (KIP-890) each end of a transaction takes an epoch.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import TransactionResult
from coordinator_server.transaction.state import AT_REST, PREPARED, PREVIOUS, TransactionState
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.transaction_records import PartitionsSchema, TransactionLogKey, TransactionLogValue

NO_PRODUCER_ID: Final = -1
NO_EPOCH: Final = -1
MAX_EPOCH: Final = 2**15 - 1
LAST_EPOCH: Final = MAX_EPOCH - 1
"""The last epoch of a producer id that clients get."""
NO_TIME: Final = -1

FIRST_WITH_EPOCH_BUMP: Final = 2
"""The version of transactions in which each end bumps the epoch."""
RECORD_VERSION: Final = 1

TopicPartition = tuple[str, int]


class Transaction(Struct, frozen=True):
    """What the log says of a transactional id. Times are milliseconds since the Unix epoch."""

    producer_id: int
    producer_epoch: int
    timeout_ms: int
    state: TransactionState
    update_ms: int
    # The id before the last change. It differs only right after an id has been replaced.
    previous_producer_id: int = NO_PRODUCER_ID
    # While an end that uses up the last epoch is prepared: the id that the producer gets.
    next_producer_id: int = NO_PRODUCER_ID
    partitions: frozenset[TopicPartition] = frozenset()
    start_ms: int = NO_TIME
    # Of the client's requests, as the client sent them.
    client_version: int = 0

    @property
    def is_exhausted(self) -> bool:
        """Whether clients have had all epochs of the producer id."""
        return is_exhausted(self.producer_epoch)


class Transition(NamedTuple):
    """The next value.

    ``last_epoch`` is the epoch that the producer had before, for requests that are sent again; NO_EPOCH if no such request is
    valid. As in Kafka it is not in the log.
    """

    after: Transaction
    last_epoch: int


def is_exhausted(epoch: int) -> bool:
    """Return whether no client may get an epoch after this one."""
    return epoch >= LAST_EPOCH


def created(producer_id: int, timeout_ms: int, now_ms: int) -> Transaction:
    """Return an id's state before its first record."""
    return Transaction(producer_id, NO_EPOCH, timeout_ms, TransactionState.EMPTY, now_ms)


def with_next_epoch(before: Transaction, last_epoch: int, expected: int | None, timeout_ms: int, now_ms: int) -> Transition:
    """Return the state after InitProducerId. ``expected`` is the producer's own epoch, if it goes on with its id (KIP-360).

    A repeated request gets the epoch of the first. Raises CoordinatorError.
    """
    if before.is_exhausted:
        # As in Kafka. A producer that names the last epoch gets a new id instead.
        raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
    epoch, last = before.producer_epoch + 1, NO_EPOCH
    if expected is not None and before.producer_epoch not in (NO_EPOCH, expected):
        if expected != last_epoch:
            raise CoordinatorError(ErrorCode.PRODUCER_FENCED)
        epoch, last = before.producer_epoch, last_epoch
    elif expected is not None:
        last = before.producer_epoch
    after = _next(before, TransactionState.EMPTY, producer_epoch=epoch, timeout_ms=timeout_ms, update_ms=now_ms)
    return Transition(replace(after, partitions=frozenset(), start_ms=NO_TIME), last)


def with_new_producer_id(
    before: Transaction, producer_id: int, timeout_ms: int, now_ms: int, *, is_continued: bool
) -> Transition:
    """Return the state after InitProducerId with all epochs used up. ``is_continued``: the producer named its id and epoch."""
    after = _next(before, TransactionState.EMPTY, producer_id=producer_id, producer_epoch=0, timeout_ms=timeout_ms)
    after = replace(after, partitions=frozenset(), start_ms=NO_TIME, update_ms=now_ms)
    return Transition(after, before.producer_epoch if is_continued else NO_EPOCH)


def with_partitions(
    before: Transaction, last_epoch: int, partitions: frozenset[TopicPartition], client_version: int, now_ms: int
) -> Transition:
    """Return the state with more partitions in the transaction, which begins if none is open."""
    after = _next(
        before,
        TransactionState.ONGOING,
        partitions=before.partitions | partitions,
        start_ms=now_ms if before.state in AT_REST else before.start_ms,
        update_ms=now_ms,
        client_version=client_version,
    )
    return Transition(after, last_epoch)


def prepared(
    before: Transaction, last_epoch: int, result: TransactionResult, version: int, next_producer_id: int, now_ms: int
) -> Transition:
    """Return the state with the outcome decided. In version 2 an abort needs no open transaction.

    ``next_producer_id`` is given if and only if the epochs are used up.
    """
    state = TransactionState.PREPARE_COMMIT if result is TransactionResult.COMMIT else TransactionState.PREPARE_ABORT
    epoch, last = before.producer_epoch, last_epoch
    if version >= FIRST_WITH_EPOCH_BUMP:
        epoch, last = min(before.producer_epoch + 1, MAX_EPOCH), before.producer_epoch
    after = _next(
        before,
        state,
        producer_epoch=epoch,
        next_producer_id=next_producer_id,
        start_ms=now_ms if before.state in AT_REST else before.start_ms,
        update_ms=now_ms,
        client_version=version,
    )
    return Transition(after, last)


def completed(before: Transaction, last_epoch: int, now_ms: int) -> Transition:
    """Return the state after all markers are durable."""
    is_commit = before.state is TransactionState.PREPARE_COMMIT
    after = _next(
        before,
        TransactionState.COMPLETE_COMMIT if is_commit else TransactionState.COMPLETE_ABORT,
        next_producer_id=NO_PRODUCER_ID,
        partitions=frozenset(),
        update_ms=now_ms,
    )
    if before.client_version >= FIRST_WITH_EPOCH_BUMP and before.next_producer_id != NO_PRODUCER_ID:
        after = replace(after, producer_id=before.next_producer_id, producer_epoch=0)
    return Transition(after, last_epoch)


def result_of(prepared_state: TransactionState) -> TransactionResult:
    """Return the outcome that a prepared state has decided."""
    assert prepared_state in PREPARED
    return TransactionResult.COMMIT if prepared_state is TransactionState.PREPARE_COMMIT else TransactionResult.ABORT


def record_of(transactional_id: str, transaction: Transaction) -> CoordinatorRecord:
    """Return the record that holds the whole state of an id."""
    value = TransactionLogValue(
        producer_id=transaction.producer_id,
        previous_producer_id=transaction.previous_producer_id,
        next_producer_id=transaction.next_producer_id,
        producer_epoch=transaction.producer_epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=transaction.state,
        transaction_partitions=None if transaction.state is TransactionState.EMPTY else _schemas(transaction.partitions),
        transaction_last_update_timestamp_ms=transaction.update_ms,
        transaction_start_timestamp_ms=transaction.start_ms,
        client_transaction_version=transaction.client_version,
    )
    return CoordinatorRecord(TransactionLogKey(transactional_id), value, RECORD_VERSION)


def transaction_of(value: TransactionLogValue) -> Transaction:
    """Return the state that a record holds. Raises ValueError for a state that Kafka does not have."""
    state = TransactionState(value.transaction_status)
    partitions = () if state is TransactionState.EMPTY else value.transaction_partitions or ()
    return Transaction(
        producer_id=value.producer_id,
        producer_epoch=value.producer_epoch,
        timeout_ms=value.transaction_timeout_ms,
        state=state,
        update_ms=value.transaction_last_update_timestamp_ms,
        previous_producer_id=value.previous_producer_id,
        next_producer_id=value.next_producer_id,
        partitions=frozenset((each.topic, index) for each in partitions for index in each.partition_ids),
        start_ms=value.transaction_start_timestamp_ms,
        client_version=value.client_transaction_version,
    )


def _next(before: Transaction, state: TransactionState, **changes: object) -> Transaction:
    assert before.state in PREVIOUS[state], f"{before.state.label} → {state.label}"
    return replace(before, state=state, previous_producer_id=before.producer_id, **changes)


def by_topic(partitions: frozenset[TopicPartition]) -> dict[str, list[int]]:
    """Return the partitions of each topic, in order."""
    found: dict[str, list[int]] = {}
    for topic, index in sorted(partitions):
        found.setdefault(topic, []).append(index)
    return found


def _schemas(partitions: frozenset[TopicPartition]) -> list[PartitionsSchema]:
    return [PartitionsSchema(topic, indexes) for topic, indexes in by_topic(partitions).items()]
