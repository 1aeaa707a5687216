"""What a shard's records come to when they are read one after the other: the records that stand, with transactions settled.

    plain               counts where it stands; of each key the last one stands
    in a transaction    counts from its commit marker on, by its own offset, as in the server's replay (``offsets/pending.py``): from then on it is a
                        plain record. An abort marker takes it back. What does not wait for it, or is a tombstone, counts where it stands
    of one that is open its batches stay as they are, producer and sequence included; so do the tombstones that take something back from it
    a marker            stays as it is until the cutoff for tombstones: who has read its transaction's records may not yet know how that ended

Which records wait for their transaction, and which keys are the same as others (a legacy OffsetCommit key, from before Kafka 0.9, names the position
that the present one names), is the kind's to say (``rules.Keyed``). Compressed batches are unpacked, and LogAppendTime becomes the time of each record.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from coordinator_server.log.errors import DamagedLog
from coordinator_server.pipeline.batches import Held, Kept
from coordinator_server.pipeline.errors import CannotCompact
from coordinator_server.pipeline.rules import Keyed
from protocol.control_records import ABORT, COMMIT, control_type
from protocol.errors import DecodeError
from protocol.record_batch import COMPRESSION_MASK, CONTROL, NO_PRODUCER_ID, TRANSACTIONAL, BatchHeader, Record, iter_records

_LOG_APPEND_TIME: Final = 0x08
_DELETE_HORIZON: Final = 0x40  # Kafka's cleaner has been there (KIP-534)
_UNDERSTOOD: Final = COMPRESSION_MASK | _LOG_APPEND_TIME | TRANSACTIONAL | CONTROL | _DELETE_HORIZON
# Of one batch, unpacked: Kafka's own have a megabyte or so, and offsets compress well.
_MAX_EXPANDED: Final = 1 << 28
_TYPE_BYTES: Final = 2


class NotUnderstood(Exception):
    """The batch is whole, and of a kind that is not rewritten; says which."""


class _Open(Struct):
    """What a producer has written since its last marker: whole batches, by key the records that wait, and the offsets of those that do not.

    ``keys`` are those of all its records, ``buried`` by key the last tombstone behind one of them.
    """

    batches: list[Held] = []
    waiting: dict[bytes, Kept] = {}
    at_once: set[int] = set()
    keys: set[bytes] = set()
    buried: dict[bytes, Kept] = {}


class Standing:
    """The records that stand after those that were added, in the order of the log."""

    def __init__(self, keyed: Keyed) -> None:
        self._aliases = keyed.aliases
        self._pending_types = keyed.pending_types
        self._latest: dict[bytes, Kept] = {}
        self._open: dict[int, _Open] = {}
        self._markers: list[tuple[Held, int]] = []

    def add(self, data: bytes, position: int, header: BatchHeader, from_offset: int = 0) -> int:
        """Add the records of a verified batch from ``from_offset`` on; how many they are. Raises NotUnderstood, DecodeError."""
        if header.next_offset <= from_offset:
            return 0
        check_header(header, has_transactions=bool(self._pending_types))
        if header.producer_id != NO_PRODUCER_ID and header.base_offset < from_offset:
            raise NotUnderstood("transactional batches in the middle of which a layer ends")
        records = records_of(data, position, header)
        if header.producer_id == NO_PRODUCER_ID:
            return self._add_plain(records, header, from_offset)
        held = Held(header.base_offset, data[position : position + header.size])
        if header.is_control:
            self._markers.append((held, header.max_timestamp))
            for record in records:
                self._end(header.producer_id, control_type(record.key))
        elif header.count:
            transaction = self._open.setdefault(header.producer_id, _Open())
            transaction.batches.append(held)
            self._add_to(transaction, records, header)
        return header.count

    def plain(self, cutoff_ms: int | None) -> list[Kept]:
        """The records that stand for themselves, in offset order; tombstones before the cutoff only where an open transaction needs them."""
        found = {kept.record.offset: kept for kept in self._latest.values() if stays(kept.record, cutoff_ms)}
        for transaction in self._open.values():
            found |= {kept.record.offset: kept for kept in transaction.buried.values()}
        for transaction in self._open.values():
            for offset in transaction.at_once:
                found.pop(offset, None)
        return [found[offset] for offset in sorted(found)]

    def held(self, cutoff_ms: int | None) -> list[Held]:
        """The batches that stay as they are, in offset order."""
        markers = [held for held, at_ms in self._markers if cutoff_ms is None or at_ms >= cutoff_ms]
        return sorted([*markers, *(held for transaction in self._open.values() for held in transaction.batches)])

    def _add_plain(self, records: Iterator[Record], header: BatchHeader, from_offset: int) -> int:
        count = 0
        for record in records:
            if record.offset >= from_offset:
                self._put(Kept(record, header.leader_epoch))
                count += 1
        return count

    def _add_to(self, transaction: _Open, records: Iterator[Record], header: BatchHeader) -> None:
        for record in records:
            kept = Kept(record, header.leader_epoch)
            if record.value is not None and record.key is not None and record.key[:_TYPE_BYTES] in self._pending_types:
                transaction.waiting[record.key] = kept
            else:
                self._put(kept)
                transaction.at_once.add(record.offset)
            transaction.keys.add(self._key(record))

    def _put(self, kept: Kept) -> None:
        key = self._key(kept.record)
        self._latest[key] = kept
        if kept.record.value is None:
            for transaction in self._open.values():
                if key in transaction.keys:
                    transaction.buried[key] = kept

    def _end(self, producer_id: int, kind: int) -> None:
        """Markers of other kinds say nothing of transactions."""
        if kind not in (ABORT, COMMIT):
            return
        transaction = self._open.pop(producer_id, None)
        for key, kept in transaction.waiting.items() if transaction is not None and kind == COMMIT else ():
            known = self._latest.get(key)
            if known is None or known.record.offset < kept.record.offset:
                self._latest[key] = kept

    def _key(self, record: Record) -> bytes:
        """What a record is the last one of."""
        key = record.key
        if key is None:
            raise NotUnderstood("records without a key")
        alias = self._aliases.get(key[:_TYPE_BYTES])
        return key if alias is None else alias + key[_TYPE_BYTES:]


def check_header(header: BatchHeader, *, has_transactions: bool) -> None:
    """Raises NotUnderstood for a batch of a kind that is not rewritten."""
    is_of_producer = header.producer_id != NO_PRODUCER_ID
    if header.attributes & ~_UNDERSTOOD:
        raise NotUnderstood(f"batches with attributes {header.attributes:#x}")
    if is_of_producer != header.is_transactional or (header.is_control and not is_of_producer):
        raise NotUnderstood("transactional records without a producer, or a producer's outside of transactions,")
    if is_of_producer and not has_transactions:
        raise NotUnderstood("transactional records in a log that has none")


def records_of(data: bytes, position: int, header: BatchHeader, *, with_headers: bool = True) -> Iterator[Record]:
    """The records of a verified batch, unpacked, with the time that Kafka would give them. Raises DecodeError."""
    try:
        for record in iter_records(data, position, header, _MAX_EXPANDED, with_headers=with_headers):
            if header.attributes & _LOG_APPEND_TIME:
                record.timestamp = header.max_timestamp
            yield record
    except DecodeError as error:
        if header.compression:
            # A place in what was unpacked is none in the file.
            error.position = None
        raise


@contextmanager
def named(path: str, position: int) -> Iterator[None]:
    """Name file and position in errors. Raises CannotCompact, DamagedLog."""
    try:
        yield
    except NotUnderstood as why:
        file = Path(path)
        raise CannotCompact(
            f"{file.parent.name}/{file.name} at byte {position}: {why} are not compacted by this version; the shard is left as it is"
        ) from why
    except DecodeError as error:
        raise DamagedLog(path, position if error.position is None else error.position, error.reason) from error


def stays(record: Record, cutoff_ms: int | None) -> bool:
    """Whether compaction keeps a record: all but tombstones from before the cutoff."""
    return record.value is not None or cutoff_ms is None or record.timestamp >= cutoff_ms
