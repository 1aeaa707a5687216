"""The digest of transactional ids: each is an item, with the key and the value of its record."""

from __future__ import annotations

from coordinator_server.machine.digest import item_digest
from coordinator_server.transaction.transaction import Transaction, record_of
from protocol.coordinator_records import TRANSACTION_SERDE


def transaction_digest(transactional_id: str, transaction: Transaction) -> int:
    """Return the hash of one id."""
    record = record_of(transactional_id, transaction)
    return item_digest(TRANSACTION_SERDE.encode_key(record), TRANSACTION_SERDE.encode_value(record) or b"")
