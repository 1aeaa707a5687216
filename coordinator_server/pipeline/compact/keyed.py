"""What compaction keeps of a keyed log: the last record of each key, with the outcomes of transactions applied.

    plain record       It counts at its own offset. The last one of each key is kept.
    in a transaction   A record counts from the commit marker on, at its own offset, as in the server's replay
                       (``offsets/pending.py``); it is a plain record then. An abort marker drops it. Tombstones, and records of
                       types that do not wait for their transaction, count at once.
    open transaction   Its batches are kept unchanged, with producer and sequence. Tombstones that follow its records are kept, too.
    marker             It is kept unchanged until the cutoff for tombstones: a reader that has read records of the transaction may
                       not know its outcome yet.

The rule of the kind (``rules.Keyed``) says which record types wait for their transaction, and which keys name the same thing: a
legacy OffsetCommit key, from before Kafka 0.9, names the same position as a present one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from coordinator_server.pipeline.compact.supported import Unsupported, check_header
from coordinator_server.pipeline.input.files import records_of
from coordinator_server.pipeline.layer.batches import LayerBatch, LayerRecord
from coordinator_server.pipeline.rules import Keyed
from protocol.control_records import ABORT, COMMIT, control_type
from protocol.record_batch import NO_PRODUCER_ID, BatchHeader, Record

_TYPE_BYTES: Final = 2


class _OpenTransaction(Struct):
    """What a producer has written since its last marker.

    ``batches`` are whole. ``waiting`` has the records that wait for the outcome, by key; ``at_once`` the offsets of the others.
    ``keys`` are the keys of all its records, and ``tombstones`` the last tombstone that follows one of them, by key.
    """

    batches: list[LayerBatch] = []
    waiting: dict[bytes, LayerRecord] = {}
    at_once: set[int] = set()
    keys: set[bytes] = set()
    tombstones: dict[bytes, LayerRecord] = {}


class KeyedCompaction:
    """Collects the records to keep. Batches are added in the order of the log."""

    def __init__(self, keyed: Keyed) -> None:
        self._aliases = keyed.aliases
        self._pending_types = keyed.pending_types
        self._latest: dict[bytes, LayerRecord] = {}
        self._open: dict[int, _OpenTransaction] = {}
        self._markers: list[tuple[LayerBatch, int]] = []

    def add(self, data: bytes, position: int, header: BatchHeader, from_offset: int = 0) -> int:
        """Add the records of a verified batch from ``from_offset`` on, and return their number. Raises Unsupported, DecodeError."""
        if header.next_offset <= from_offset:
            return 0
        check_header(header, has_transactions=bool(self._pending_types))
        if header.producer_id != NO_PRODUCER_ID and header.base_offset < from_offset:
            raise Unsupported("transactional batches in the middle of which a layer ends")
        records = records_of(data, position, header)
        if header.producer_id == NO_PRODUCER_ID:
            return self._add_plain(records, header, from_offset)
        batch = LayerBatch(header.base_offset, data[position : position + header.size])
        if header.is_control:
            self._markers.append((batch, header.max_timestamp))
            for record in records:
                self._end(header.producer_id, control_type(record.key))
        elif header.count:
            transaction = self._open.setdefault(header.producer_id, _OpenTransaction())
            transaction.batches.append(batch)
            self._add_to(transaction, records, header)
        return header.count

    def records(self, cutoff_ms: int | None) -> list[LayerRecord]:
        """Return the plain records to keep, in offset order.

        Tombstones from before the cutoff are dropped unless an open transaction needs them.
        """
        found = {kept.record.offset: kept for kept in self._latest.values() if is_kept(kept.record, cutoff_ms)}
        for transaction in self._open.values():
            found |= {kept.record.offset: kept for kept in transaction.tombstones.values()}
        for transaction in self._open.values():
            for offset in transaction.at_once:
                found.pop(offset, None)
        return [found[offset] for offset in sorted(found)]

    def unchanged_batches(self, cutoff_ms: int | None) -> list[LayerBatch]:
        """Return the batches to keep as they are, in offset order: markers, and those of open transactions."""
        markers = [batch for batch, at_ms in self._markers if cutoff_ms is None or at_ms >= cutoff_ms]
        return sorted([*markers, *(batch for transaction in self._open.values() for batch in transaction.batches)])

    def _add_plain(self, records: Iterator[Record], header: BatchHeader, from_offset: int) -> int:
        count = 0
        for record in records:
            if record.offset >= from_offset:
                self._put(LayerRecord(record, header.leader_epoch))
                count += 1
        return count

    def _add_to(self, transaction: _OpenTransaction, records: Iterator[Record], header: BatchHeader) -> None:
        for record in records:
            kept = LayerRecord(record, header.leader_epoch)
            if record.value is not None and record.key is not None and record.key[:_TYPE_BYTES] in self._pending_types:
                transaction.waiting[record.key] = kept
            else:
                self._put(kept)
                transaction.at_once.add(record.offset)
            transaction.keys.add(self._key(record))

    def _put(self, kept: LayerRecord) -> None:
        key = self._key(kept.record)
        self._latest[key] = kept
        if kept.record.value is None:
            for transaction in self._open.values():
                if key in transaction.keys:
                    transaction.tombstones[key] = kept

    def _end(self, producer_id: int, kind: int) -> None:
        """Apply a marker. Control records that are no transaction markers are ignored."""
        if kind not in (ABORT, COMMIT):
            return
        transaction = self._open.pop(producer_id, None)
        for key, kept in transaction.waiting.items() if transaction is not None and kind == COMMIT else ():
            known = self._latest.get(key)
            if known is None or known.record.offset < kept.record.offset:
                self._latest[key] = kept

    def _key(self, record: Record) -> bytes:
        """Return the key to compact by: an alias is replaced by the key that it stands for."""
        key = record.key
        if key is None:
            raise Unsupported("records without a key")
        alias = self._aliases.get(key[:_TYPE_BYTES])
        return key if alias is None else alias + key[_TYPE_BYTES:]


def is_kept(record: Record, cutoff_ms: int | None) -> bool:
    """Return whether compaction keeps a record: all but tombstones from before the cutoff."""
    return record.value is not None or cutoff_ms is None or record.timestamp >= cutoff_ms
