"""What a 4.3.1 broker wrote to its ``__transaction_state``: our transitions make the same records, byte by byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator_server.transaction import transaction as transitions
from coordinator_server.transaction.state import AT_REST, TransactionState
from coordinator_server.transaction.transaction import NO_EPOCH, Transaction, record_of, transaction_of
from protocol.coordinator_records import TRANSACTION_SERDE, CoordinatorRecord
from protocol.messages.transaction_records import TransactionLogKey, TransactionLogValue
from protocol.record_batch import iter_batches, iter_records
from tests.support.kafka_log import kept_log


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[bytes, bytes, CoordinatorRecord]]:
    """Keys, values and what they say, in the order of the log."""
    log = kept_log(tmp_path_factory.mktemp("kafka"))
    found = []
    for path in sorted(Path(log.log_dir).glob("__transaction_state-*/*.log")):
        data = path.read_bytes()
        for position, header in iter_batches(data):
            for raw in iter_records(data, position, header):
                assert raw.key is not None
                assert raw.value is not None
                record = TRANSACTION_SERDE.decode(raw.key, raw.value)
                assert record is not None
                found.append((bytes(raw.key), bytes(raw.value), record))
    return found


def test_the_broker_wrote_all_states(written: list[tuple[bytes, bytes, CoordinatorRecord]]) -> None:
    """So that the tests below say something."""
    states = {state_of(record)[1].state for _, _, record in written}

    assert states == set(TransactionState) - {TransactionState.DEAD, TransactionState.PREPARE_EPOCH_FENCE}


def test_records_are_the_same_bytes(written: list[tuple[bytes, bytes, CoordinatorRecord]]) -> None:
    for key, value, record in written:
        ours = record_of(*state_of(record))

        assert (TRANSACTION_SERDE.encode_key(ours), TRANSACTION_SERDE.encode_value(ours)) == (key, value)


def test_transitions_equal_those_of_a_broker(written: list[tuple[bytes, bytes, CoordinatorRecord]]) -> None:
    """Each state of the broker's is what we make of the one before."""
    known: dict[str, Transaction] = {}
    for _, _, record in written:
        transactional_id, after = state_of(record)
        before = known.get(transactional_id)
        known[transactional_id] = after

        assert next_state(before, after) == after


def state_of(record: CoordinatorRecord) -> tuple[str, Transaction]:
    assert isinstance(record.key, TransactionLogKey)
    assert isinstance(record.value, TransactionLogValue)
    return record.key.transactional_id, transaction_of(record.value)


def next_state(before: Transaction | None, after: Transaction) -> Transaction:
    """Make the transition to ``after``, with its times and what the client sent."""
    if before is None:
        before = transitions.created(after.producer_id, after.timeout_ms, after.update_ms)
    match after.state:
        case TransactionState.EMPTY:
            return transitions.with_next_epoch(before, NO_EPOCH, None, after.timeout_ms, after.update_ms).after
        case TransactionState.ONGOING:
            added = after.partitions - (frozenset() if before.state in AT_REST else before.partitions)
            return transitions.with_partitions(before, NO_EPOCH, added, after.client_version, after.update_ms).after
        case TransactionState.PREPARE_COMMIT | TransactionState.PREPARE_ABORT:
            result = transitions.result_of(after.state)
            version, next_id = after.client_version, after.next_producer_id
            return transitions.prepared(before, NO_EPOCH, result, version, next_id, after.update_ms).after
        case _:
            return transitions.completed(before, NO_EPOCH, after.update_ms).after
