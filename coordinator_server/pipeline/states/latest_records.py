"""The state of a kind that has no state machine of its own here: the last record of every key."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from coordinator_server.machine.digest import StateDigest, digest_text, item_digest
from coordinator_server.machine.timeline import LATEST
from coordinator_server.pipeline.states.changes import LastChanges
from protocol.coordinator_records import RecordSerde
from protocol.errors import DecodeError, Malformed
from protocol.record_batch import NO_PRODUCER_ID, iter_records, read_header


class LatestRecords:
    """Values by key, as bytes of any record type. A tombstone removes its key. The serde is used only to display keys and values."""

    noun: Final = "keys"

    def __init__(self, serde: RecordSerde) -> None:
        self._serde = serde
        self._values: dict[bytes, bytes] = {}

    def __len__(self) -> int:
        return len(self._values)

    def replay(self, batch: bytes, upto: int = LATEST, /) -> int:
        """Replay a batch. Raises Malformed for transactional records, which such a log does not have, and for records without a key."""
        header = read_header(batch)
        if header.producer_id != NO_PRODUCER_ID:
            raise Malformed("a record of a transaction, in a log that has none", message="RecordBatch")
        for record in iter_records(batch, 0, header, with_headers=False):
            if record.key is None:
                raise Malformed("a record without a key", message="RecordBatch")
            if record.offset >= upto:
                continue
            if record.value is None:
                self._values.pop(record.key, None)
            else:
                self._values[record.key] = record.value
        return header.count

    def digest(self) -> StateDigest:
        """Return the sum of one item per key: the hash of its bytes and those of its value."""
        items = {key: item_digest(key, value) for key, value in self._values.items()}
        parts = {self._name(key): digest_text(digest) for key, digest in items.items()}
        return StateDigest(LATEST, digest_text(sum(items.values())), parts)

    def label(self, part: str, /) -> str:
        return part

    def contents(self) -> dict[str, dict[str, Any]]:
        return {self._name(key): self._fields(key, self._values[key]) for key in sorted(self._values)}

    def shown(self, changes: LastChanges | None, /) -> dict[str, Any]:
        return {"contents": self.contents()}

    def _name(self, key: bytes) -> str:
        try:
            decoded = self._serde.decode(key, None)
        except DecodeError:
            decoded = None
        if decoded is None:
            return f"key {key.hex()}"
        fields = ", ".join(f"{name} {value}" for name, value in _plain(decoded.key).items())
        return f"{type(decoded.key).__name__} {fields}"

    def _fields(self, key: bytes, value: bytes) -> dict[str, Any]:
        try:
            decoded = self._serde.decode(key, value)
        except DecodeError:
            decoded = None
        return {"value": value.hex()} if decoded is None or decoded.value is None else _plain(decoded.value)


def _plain(message: msgspec.Struct) -> dict[str, Any]:
    """Return fields by name; bytes are in base64."""
    plain: dict[str, Any] = msgspec.to_builtins(message)
    return plain
