"""What the import reads from a broker's ``__transaction_state``, and changes in it.

It finds the transactions that are decided, and the producer ids that are in use. Every transactional id is imported. The server
goes on with its transaction: it writes the markers of a decided one, and ends an open one when its time is over. If the offsets
of open transactions are left out, they are decided to be aborted, so that no producer can commit one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from coordinator_server.catalog.producer_ids import LAST_ID
from coordinator_server.kinds import TRANSACTIONS
from coordinator_server.log.errors import LogError
from coordinator_server.machine.shard import TransactionResult
from coordinator_server.pipeline.files.kafka.shard import KafkaShard
from coordinator_server.transaction.state import TransactionState
from coordinator_server.transaction.transaction import (
    FIRST_WITH_EPOCH_BUMP,
    NO_EPOCH,
    NO_PRODUCER_ID,
    prepared,
    record_of,
    transaction_of,
)
from protocol.coordinator_records import TRANSACTION_SERDE
from protocol.errors import DecodeError
from protocol.messages.transaction_records import TransactionLogValue
from protocol.record_batch import Record

# States that are decided before the markers are written, and whether they commit.
_PREPARED: Final[dict[int, bool]] = {TransactionState.PREPARE_COMMIT: True, TransactionState.PREPARE_ABORT: False}
# A broker that gets the log back goes on with its own ids. In this distance it does not reach ours.
_DISTANCE: Final = 1_000_000_000


def transactions_in(shards: Iterable[KafkaShard]) -> list[TransactionLogValue]:
    """Return the last record of every transactional id. Raises LogError."""
    found = (_decoded(key, record.value) for shard in shards for key, record in shard.latest.items())
    return [each for each in found if each is not None]


def abort_ongoing(shard: KafkaShard) -> None:
    """Decide to abort each open transaction, with the transition of a timeout. Its record keeps its offset and time.

    A producer without a next epoch keeps its epoch.
    """
    for key, record in shard.latest.items():
        value = _decoded(key, record.value)
        if value is None or value.transaction_status != TransactionState.ONGOING:
            continue
        before = transaction_of(value)
        version = 0 if before.is_exhausted else FIRST_WITH_EPOCH_BUMP
        after = prepared(before, NO_EPOCH, TransactionResult.ABORT, version, NO_PRODUCER_ID, before.update_ms).after
        # The name is in the key, which stays as it is.
        encoded = TRANSACTION_SERDE.encode_value(record_of("", after))
        shard.latest[key] = Record(record.offset, record.timestamp, key, encoded, record.headers)


def outcomes_of(transactions: Iterable[TransactionLogValue]) -> dict[int, bool]:
    """Return the transactions that were decided before their markers were written: by producer id, whether to commit."""
    return {each.producer_id: _PREPARED[each.transaction_status] for each in transactions if each.transaction_status in _PREPARED}


def highest_producer_id(transactions: Iterable[TransactionLogValue]) -> int:
    """Return the highest producer id that a transactional id has, had before, or gets next; -1 if there is none."""
    ids = ((each.producer_id, each.previous_producer_id, each.next_producer_id) for each in transactions)
    return max((max(each) for each in ids), default=-1)


def first_own_producer_id(next_producer_id: int) -> int:
    """Return the first producer id to give out, from one that is above all of the broker's."""
    return min(next_producer_id + _DISTANCE, LAST_ID)


def _decoded(key: bytes, value: bytes | None) -> TransactionLogValue | None:
    """Return what a record says of a transactional id; None for a tombstone, or a type that this version does not know."""
    try:
        decoded = TRANSACTION_SERDE.decode(key, value)
        if decoded is None or not isinstance(decoded.value, TransactionLogValue):
            return None
        transaction_of(decoded.value)
    except (DecodeError, ValueError) as error:
        raise LogError(f"{TRANSACTIONS.topic}: a record cannot be read: {error}") from error
    return decoded.value
