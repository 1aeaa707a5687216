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

The batches are read twice. ``KeyedCompaction`` gets all of them and finds what is kept; ``Kept`` gets the same ones again and
returns it. A record is known by its place: its number in the input. So memory holds no record, but a bit for each place, the last
places of keys (``last_places.py``), and the keys of transactions while they are open.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from coordinator_server.pipeline.compact.last_places import MOST_BYTES, LastPlaces
from coordinator_server.pipeline.compact.supported import Unsupported, check_header
from coordinator_server.pipeline.input.files import records_of
from coordinator_server.pipeline.layer.batches import LayerBatch, LayerRecord
from coordinator_server.pipeline.rules import Keyed
from protocol.control_records import ABORT, COMMIT, control_type
from protocol.record_batch import NO_PRODUCER_ID, BatchHeader, Record

_TYPE_BYTES: Final = 2
_NEVER: Final = 2**63 - 1


class _OpenTransaction(Struct):
    """What a producer has written since its last marker, from ``first_offset`` on.

    ``waiting`` has the records that wait for the outcome: the last place of each key. ``keys`` are the keys of all its records, and
    ``tombstones`` the place of the last tombstone that follows one of them, by key.
    """

    first_offset: int
    waiting: dict[bytes, int] = {}
    keys: set[bytes] = set()
    tombstones: dict[bytes, int] = {}


class KeyedCompaction:
    """Finds what is kept. Batches are added in the order of the log.

    Keys take ``key_bytes`` of memory; what does not fit is in temporary files in ``directory``.
    """

    def __init__(self, keyed: Keyed, directory: Path | None = None, key_bytes: int = MOST_BYTES) -> None:
        self._aliases = keyed.aliases
        self._pending_types = keyed.pending_types
        self._last = LastPlaces(directory, key_bytes)
        self._open: dict[int, _OpenTransaction] = {}
        self._place = 0

    def add(self, data: bytes, position: int, header: BatchHeader, from_offset: int = 0) -> int:
        """Add the records of a verified batch from ``from_offset`` on, and return their number. Raises Unsupported, DecodeError."""
        if header.next_offset <= from_offset:
            return 0
        check_header(header, has_transactions=bool(self._pending_types))
        if header.producer_id != NO_PRODUCER_ID and header.base_offset < from_offset:
            raise Unsupported("transactional batches in the middle of which a layer ends")
        first, self._place = self._place, self._place + header.count
        records = records_of(data, position, header, with_headers=False)
        if header.producer_id == NO_PRODUCER_ID:
            return self._add_plain(records, first, from_offset)
        if header.is_control:
            for record in records:
                self._end(header.producer_id, control_type(record.key))
        elif header.count:
            transaction = self._open.setdefault(header.producer_id, _OpenTransaction(header.base_offset))
            self._add_to(transaction, records, first)
        return header.count

    def kept(self, cutoff_ms: int | None) -> Kept:
        """Return what finds the records to keep in the same batches. Nothing may be added afterwards.

        Tombstones and markers from before the cutoff are dropped, but for tombstones that an open transaction needs.
        """
        needed = {place for transaction in self._open.values() for place in transaction.tombstones.values()}
        bits = bytearray((self._place >> 3) + 1)
        for places in (self._last.places(), needed):
            for place in places:
                bits[place >> 3] |= 1 << (place & 7)
        return Kept(bits, needed, {id_: each.first_offset for id_, each in self._open.items()}, cutoff_ms)

    def _add_plain(self, records: Iterator[Record], first: int, from_offset: int) -> int:
        count = 0
        for place, record in enumerate(records, first):
            if record.offset >= from_offset:
                self._put(record, place)
                count += 1
        return count

    def _add_to(self, transaction: _OpenTransaction, records: Iterator[Record], first: int) -> None:
        for place, record in enumerate(records, first):
            if record.value is not None and record.key is not None and record.key[:_TYPE_BYTES] in self._pending_types:
                transaction.waiting[record.key] = place
            else:
                self._put(record, place)
            transaction.keys.add(self._key(record))

    def _put(self, record: Record, place: int) -> None:
        key = self._key(record)
        self._last.put(key, place)
        if record.value is None:
            for transaction in self._open.values():
                if key in transaction.keys:
                    transaction.tombstones[key] = place

    def _end(self, producer_id: int, kind: int) -> None:
        """Apply a marker. Control records that are no transaction markers are ignored."""
        if kind not in (ABORT, COMMIT):
            return
        transaction = self._open.pop(producer_id, None)
        if transaction is not None and kind == COMMIT:
            for key, place in transaction.waiting.items():
                self._last.put(key, place)

    def _key(self, record: Record) -> bytes:
        """Return the key to compact by: an alias is replaced by its key."""
        key = record.key
        if key is None:
            raise Unsupported("records without a key")
        alias = self._aliases.get(key[:_TYPE_BYTES])
        return key if alias is None else alias + key[_TYPE_BYTES:]


class Kept:
    """Finds the records to keep in the batches that were added, in the same order.

    ``bits`` has one for each place that is kept, ``needed`` the places of tombstones that stay whatever the cutoff is, and
    ``open_from`` the first offset of each open transaction, by producer id.
    """

    def __init__(self, bits: bytearray, needed: set[int], open_from: dict[int, int], cutoff_ms: int | None) -> None:
        self._bits = bits
        self._needed = needed
        self._open_from = open_from
        self._cutoff_ms = cutoff_ms
        self._place = 0

    def of_batch(self, data: bytes, position: int, header: BatchHeader, from_offset: int = 0) -> list[LayerRecord | LayerBatch]:
        """Return what is kept of the next batch: records, or the whole batch unchanged. Raises DecodeError."""
        if header.next_offset <= from_offset:
            return []
        first, self._place = self._place, self._place + header.count
        if header.is_control:
            is_kept = self._cutoff_ms is None or header.max_timestamp >= self._cutoff_ms
        else:
            is_kept = header.count > 0 and header.base_offset >= self._open_from.get(header.producer_id, _NEVER)
        if is_kept:
            return [LayerBatch(header.base_offset, data[position : position + header.size])]
        # Most batches of a log have no record that is kept: they are not decoded again.
        if header.is_control or not any(self._bits[first >> 3 : (self._place + 7) >> 3]):
            return []
        places = enumerate(records_of(data, position, header), first)
        return [LayerRecord(record, header.leader_epoch) for place, record in places if self._stays(place, record)]

    def _stays(self, place: int, record: Record) -> bool:
        if not self._bits[place >> 3] >> (place & 7) & 1:
            return False
        return place in self._needed or is_kept(record, self._cutoff_ms)


def is_kept(record: Record, cutoff_ms: int | None) -> bool:
    """Return whether compaction keeps a record: all but tombstones from before the cutoff."""
    return record.value is not None or cutoff_ms is None or record.timestamp >= cutoff_ms
