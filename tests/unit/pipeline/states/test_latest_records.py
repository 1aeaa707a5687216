"""The state of a kind without a state machine: the last record of every key, as bytes."""

from __future__ import annotations

import pytest

from coordinator_server.pipeline.states.latest_records import LatestRecords
from coordinator_server.pipeline.states.state import replay_into
from protocol.batch_builder import BatchBuilder
from protocol.coordinator_records import TRANSACTION_SERDE, CoordinatorRecord
from protocol.errors import Malformed
from protocol.messages.transaction_records import TransactionLogKey, TransactionLogValue
from protocol.record_batch import TRANSACTIONAL


def batch(base: int, *rows: tuple[bytes | None, bytes | None], **of_producer: int) -> bytes:
    builder = BatchBuilder(base, 0, **of_producer)
    for key, value in rows:
        builder.append(key, value)
    return builder.finish()


def state_of(*batches: bytes, upto: int | None = None) -> LatestRecords:
    return replay_into(LatestRecords(TRANSACTION_SERDE), batches, *([] if upto is None else [upto]))


def test_the_last_record_of_a_key_counts() -> None:
    """Neither what was before it nor the order of the keys shows; a deleted key leaves nothing."""
    log = batch(0, (b"\0\1a", b"1"), (b"\0\1b", b"1"), (b"\0\1a", b"2"), (b"\0\1b", None))

    assert state_of(log).digest() == state_of(batch(9, (b"\0\1a", b"2"))).digest()
    assert len(state_of(log)) == 1
    assert len(state_of(log, upto=3)) == 2


def test_records_of_types_that_are_not_known_are_part_of_it() -> None:
    """Keys and values in hexadecimal are what can be told of them."""
    state = state_of(batch(0, (b"\0\x63key", b"value")))

    assert state.contents() == {"key 00636b6579": {"value": b"value".hex()}}
    assert state.digest().digest != state_of(batch(0, (b"\0\x63key", b"other"))).digest().digest


def test_records_that_are_known_are_told_with_their_fields() -> None:
    record = CoordinatorRecord(TransactionLogKey("transfers"), TransactionLogValue(producer_id=7), 1)
    row = TRANSACTION_SERDE.encode_key(record), TRANSACTION_SERDE.encode_value(record)

    [(part, fields)] = state_of(batch(0, row)).contents().items()

    assert (part, fields["producer_id"]) == ("TransactionLogKey transactional_id transfers", 7)


@pytest.mark.parametrize(
    "strange",
    [batch(0, (None, b"value")), batch(0, (b"key", b"value"), attributes=TRANSACTIONAL, producer_id=7)],
    ids=["no key", "a transaction"],
)
def test_what_such_a_log_does_not_have_is_refused(strange: bytes) -> None:
    """It would be part of no state."""
    with pytest.raises(Malformed):
        state_of(strange)
