"""The records of a layer that a start replays after the blocks of its checkpoint.

    markers       the last one of each producer: all that a start needs for the table of producers
    transactions  the batches of open transactions, unchanged
    offsets       those that follow a record of the same position in an open transaction; the last one is in a block, too
    others        all records that are not of offsets

The markers come first, everything else follows in offset order. Blocks hold no offset of an open transaction, so the order of rest
and blocks does not matter: a commit compares record offsets (``offsets/pending.py``). Only a tombstone, or a record of an open
transaction that counts at once, could replace a later offset of the block. That is why the later offset follows it here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Final

from coordinator_server.pipeline.layer.batches import MAX_BYTES, MAX_RECORDS, LayerBatch, LayerRecord, cut, encode_batch
from protocol.control_records import ABORT, COMMIT, control_type
from protocol.coordinator_records import LEGACY_OFFSET_COMMIT_TYPE, OFFSET_COMMIT_TYPE
from protocol.record_batch import HEADER_SIZE, LENGTH_END, NO_PRODUCER_ID, BatchHeader, iter_records

_OFFSETS: Final = (LEGACY_OFFSET_COMMIT_TYPE, OFFSET_COMMIT_TYPE)
_TYPE_BYTES: Final = 2
MARKER_START: Final = b"\0\0\0\x08\0\0"
"""The bytes between the size of a marker's record and its kind: attributes, deltas of time and offset,
the key's size and version.
"""
_BEFORE_KIND: Final = slice(HEADER_SIZE + 1, HEADER_SIZE + 1 + len(MARKER_START))
KIND: Final = slice(_BEFORE_KIND.stop, _BEFORE_KIND.stop + 2)
KINDS: Final = frozenset({ABORT.to_bytes(2), COMMIT.to_bytes(2)})


def is_of_offset(key: bytes | None) -> bool:
    """Return whether a record's key is that of a committed offset."""
    return key is not None and key[:_TYPE_BYTES] in _OFFSETS


class Spool:
    """Records in a file, in the batches that ``cut`` makes of them."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._pending: list[LayerRecord] = []
        self._pending_bytes = 0

    def add(self, record: LayerRecord) -> None:
        self._pending.append(record)
        self._pending_bytes += len(record.record.key or b"") + len(record.record.value or b"")
        if len(self._pending) > 2 * MAX_RECORDS or self._pending_bytes > 2 * MAX_BYTES:
            # The last batch may get more records.
            *whole, self._pending = cut(self._pending)
            self._pending_bytes = 0
            self._file.writelines(map(encode_batch, whole))

    def add_unchanged(self, batch: bytes) -> None:
        """Add a batch as it is, after the records added before it."""
        self._flush()
        self._file.write(batch)

    def batches(self) -> Iterator[bytes]:
        """Return all batches. Nothing may be added afterwards."""
        self._flush()
        self._file.seek(0)
        while head := self._file.read(LENGTH_END):
            yield head + self._file.read(int.from_bytes(head[-4:], "big"))

    def _flush(self) -> None:
        self._file.writelines(map(encode_batch, cut(self._pending)))
        self._pending = []


class Rest:
    """Collects what a start replays. Batches and records are added in the order of the layer."""

    def __init__(self, file: IO[bytes]) -> None:
        self._spool = Spool(file)
        self._markers: dict[int, LayerBatch] = {}
        # The keys of the offsets in open transactions, without their record types.
        self._open: set[bytes] = set()

    @property
    def has_open(self) -> bool:
        """Whether an offset of an open transaction was added."""
        return bool(self._open)

    def add_of_producer(self, batch: bytes, header: BatchHeader) -> bool:
        """Add a batch if it belongs to a transaction or is a control batch. Return whether it does. Raises DecodeError."""
        if header.is_control:
            if _has_marker(batch, header):
                self._markers[header.producer_id] = LayerBatch(header.base_offset, batch)
            return True
        if header.producer_id == NO_PRODUCER_ID:
            return False
        self._spool.add_unchanged(batch)
        for record in iter_records(batch, 0, header, with_headers=False):
            if record.key is not None and is_of_offset(record.key):
                self._open.add(record.key[_TYPE_BYTES:])
        return True

    def wants(self, key: bytes | None) -> bool:
        """Return whether a plain record is to be added."""
        return key is None or not is_of_offset(key) or key[_TYPE_BYTES:] in self._open

    def add(self, record: LayerRecord) -> None:
        """Add a plain record."""
        self._spool.add(record)

    def batches(self) -> Iterator[bytes]:
        """Return all batches. Nothing may be added afterwards."""
        for marker in sorted(self._markers.values()):
            yield marker.data
        yield from self._spool.batches()


def _has_marker(batch: bytes, header: BatchHeader) -> bool:
    """Return whether a control batch ends a transaction. Raises DecodeError."""
    # As all writers that are known encode markers.
    if header.count == 1 and batch[_BEFORE_KIND] == MARKER_START and not header.compression:
        return batch[KIND] in KINDS
    return any(control_type(record.key) in (ABORT, COMMIT) for record in iter_records(batch, 0, header))
