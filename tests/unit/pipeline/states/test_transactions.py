"""The state of transactional ids, replayed by the server's own state machine."""

from __future__ import annotations

import pytest

from coordinator_server.machine.timeline import LATEST
from coordinator_server.pipeline.states.state import replay_into
from coordinator_server.pipeline.states.transactions import TransactionalIdsState
from protocol.batch_builder import BatchBuilder
from protocol.coordinator_records import TRANSACTION_SERDE, CoordinatorRecord
from protocol.errors import Malformed
from protocol.messages.transaction_records import TransactionLogKey, TransactionLogValue
from protocol.record_batch import TRANSACTIONAL
from tests.support.transactions import OFFSETS, TransactionLog


def batch(base: int, *records: CoordinatorRecord, **of_producer: int) -> bytes:
    builder = BatchBuilder(base, 0, **of_producer)
    for record in records:
        builder.append(TRANSACTION_SERDE.encode_key(record), TRANSACTION_SERDE.encode_value(record))
    return builder.finish()


def test_it_has_the_digest_of_the_shard_that_wrote_the_log() -> None:
    """In whole and by transactional id."""
    log = TransactionLog()
    for number in range(3):
        producer = log.init(f"t-{number}")
        log.add(f"t-{number}", producer, (OFFSETS, number), ("orders", 1), version=2)
        log.end(f"t-{number}", producer, is_commit=number == 1, version=5)
    log.deliver()
    log.add("t-0", log.init("t-0"), (OFFSETS, 3), version=2)
    state = replay_into(TransactionalIdsState(), (batch(offset, record) for offset, record in enumerate(log.records)))

    assert state.digest() == log.shard.digest(LATEST, with_parts=True)
    assert (len(state), set(state.digest().parts)) == (3, {"t-0", "t-1", "t-2"})


def test_an_id_is_shown_with_all_that_its_record_says() -> None:
    log = TransactionLog()
    producer = log.init("t")
    log.add("t", producer, ("orders", 10), ("orders", 9), (OFFSETS, 1), version=2)
    state = replay_into(TransactionalIdsState(), [batch(0, *log.records)])

    [(label, fields)] = state.contents().items()

    assert label == "transactional id t"
    assert ((fields["producer_id"], fields["producer_epoch"]), fields["state"]) == (producer, "Ongoing")
    assert fields["partitions"] == [f"{OFFSETS}-1", "orders-9", "orders-10"]
    assert state.shown(None, {}) == {"contents": state.contents()}


@pytest.mark.parametrize(
    "strange",
    [
        batch(0, CoordinatorRecord(TransactionLogKey("t"), TransactionLogValue(transaction_status=99), 1)),
        batch(0, CoordinatorRecord(TransactionLogKey("t"), None), attributes=TRANSACTIONAL, producer_id=7),
    ],
    ids=["a state", "a transaction"],
)
def test_what_such_a_log_does_not_have_is_refused(strange: bytes) -> None:
    """It would be part of no state."""
    with pytest.raises(Malformed):
        TransactionalIdsState().replay(strange)
