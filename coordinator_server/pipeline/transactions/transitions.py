"""The records of transactional ids: each is the next state of an id, with who caused it and why."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from coordinator_server.kinds import GROUPS
from coordinator_server.machine.provenance import SERVER, TIMER, Provenance, attributed
from coordinator_server.pipeline.input.files import records_of
from coordinator_server.transaction.transaction import Transaction, transaction_of
from protocol.coordinator_records import TRANSACTION_SERDE
from protocol.errors import Malformed
from protocol.messages.transaction_records import TransactionLogKey, TransactionLogValue
from protocol.record_batch import BatchHeader

INIT_PRODUCER_ID: Final = 22
END_TXN: Final = 26


class EndReason(StrEnum):
    """Why a transaction ends. Tables of the history contain these values: never change one."""

    PRODUCER = "producer"
    TIMEOUT = "timeout"
    FENCED = "fenced"
    ADMINISTRATOR = "administrator"


class Transition(NamedTuple):
    """A record of a transactional id. ``after`` is None if the id was forgotten, ``by`` if it is unknown who caused this."""

    transactional_id: str
    offset: int
    at_ms: int
    after: Transaction | None
    by: Provenance | None


def transitions_of(data: bytes, position: int, header: BatchHeader) -> Iterator[Transition]:
    """Return the transitions in a batch. Raises DecodeError."""
    for record, by in attributed(records_of(data, position, header)):
        decoded = TRANSACTION_SERDE.decode(record.key, record.value)
        if decoded is not None and isinstance(decoded.key, TransactionLogKey):
            value = decoded.value
            after = _transaction_of(value) if isinstance(value, TransactionLogValue) else None
            yield Transition(decoded.key.transactional_id, record.offset, record.timestamp, after, by)


def end_reason(by: Provenance | None) -> EndReason | None:
    """Return why a transaction ends, derived from what decided it. None if that is unknown."""
    if by is None:
        return None
    if by.api_key < 0:
        return {TIMER: EndReason.TIMEOUT, SERVER: EndReason.ADMINISTRATOR}.get(by.operation)
    return {INIT_PRODUCER_ID: EndReason.FENCED, END_TXN: EndReason.PRODUCER}.get(by.api_key)


def partition_names(transaction: Transaction) -> list[str]:
    """Return the partitions of a transaction, in order."""
    return [f"{topic}-{index}" for topic, index in sorted(transaction.partitions)]


def group_partitions(transaction: Transaction) -> list[int]:
    """Return the partitions of the groups' log in which a transaction writes."""
    return sorted(index for topic, index in transaction.partitions if topic == GROUPS.topic)


def _transaction_of(value: TransactionLogValue) -> Transaction:
    try:
        return transaction_of(value)
    except ValueError as error:
        raise Malformed(str(error), message="TransactionLogValue") from error
