"""The records of control batches: markers of the ends of transactions.

    key    version int16 | type int16          0 abort, 1 commit; a coordinator ignores other types
    value  version int16 | EndTxnMarker        the epoch of the transaction coordinator that ended the transaction

After Kafka's ``ControlRecordType`` and ``EndTransactionMarker``.
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Final

from protocol.codec import decoder, encoder
from protocol.errors import Malformed, Truncated
from protocol.messages.control_records import EndTxnMarker

ABORT: Final = 0
COMMIT: Final = 1

_INT16 = Layout(">h")
_KEY = Layout(">hh")
_VERSION = 0


def end_transaction_marker(is_commit: bool, coordinator_epoch: int) -> tuple[bytes, bytes]:
    """Return key and value of the record that ends a transaction."""
    value = bytearray(_INT16.pack(_VERSION))
    encoder(EndTxnMarker, _VERSION)(EndTxnMarker(coordinator_epoch), value)
    return _KEY.pack(_VERSION, COMMIT if is_commit else ABORT), bytes(value)


def control_type(key: bytes | None) -> int:
    """Return the type in a control record's key. Newer versions of the key start with the same fields. Raises DecodeError."""
    if key is None or len(key) < _KEY.size:
        raise Truncated("a control record's key has a version and a type", message="ControlRecordTypeSchema", position=0)
    version, kind = _KEY.unpack_from(key)
    if version < 0:
        raise Malformed(f"version {version}", message="ControlRecordTypeSchema", position=0)
    return int(kind)


def coordinator_epoch(value: bytes | None) -> int:
    """Return the coordinator epoch in a marker's value. Newer versions start with the same field. Raises DecodeError."""
    if value is None or len(value) < _INT16.size:
        raise Truncated("a marker's value has a version", message="EndTxnMarker", position=0)
    marker, _ = decoder(EndTxnMarker, _VERSION)(value, _INT16.size)
    return marker.coordinator_epoch
