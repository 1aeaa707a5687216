"""Encoding of RecordBatch v2: records, and a header with their checksum. ``record_batch.py`` documents the format."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout
from typing import Final

from crc32c import crc32c

from protocol.errors import EncodeError
from protocol.record_batch import COMPRESSION_MASK, HEADER_SIZE, LENGTH_END, MAGIC, BatchHeader, Headers, Record

_PREFIX = Layout(">qiibI")  # the fields up to the checksum, which the checksum does not cover
_BODY = Layout(">hiqqqhii")


def varint(value: int) -> bytes:
    """Return a number as a zig-zag varint."""
    bits = (value << 1) ^ (value >> 63)
    if 0x80 <= bits < 0x4000:
        return bytes((bits & 0x7F | 0x80, bits >> 7))
    out = bytearray()
    while bits >= 0x80:
        out.append(bits & 0x7F | 0x80)
        bits >>= 7
    out.append(bits)
    return bytes(out)


# Sizes and offset deltas of a coordinator's records are small, so their varints are precomputed.
VARINTS: Final = tuple(varint(value) for value in range(2048))
"""The varints of small numbers."""
_NULL: Final = varint(-1)
_ROOM: Final = len(VARINTS) - 16
"""Less than this many bytes of key, value and headers make a record whose lengths are in VARINTS."""


def _short(value: int) -> bytes:
    """Return the varint of a number that is usually small."""
    return VARINTS[value] if 0 <= value < len(VARINTS) else varint(value)


NO_HEADERS: Final = b"\0"
"""The encoded headers of a record without headers."""


def encode_header(name: str, content: bytes | None) -> bytes:
    """Return one header, encoded as in a record."""
    raw = name.encode()
    size, value = (_NULL, b"") if content is None else (varint(len(content)), content)
    return b"%b%b%b%b" % (varint(len(raw)), raw, size, value)


def joined_headers(count: int, encoded: bytes) -> bytes:
    """Return the headers of a record from ``count`` concatenated encoded headers."""
    return varint(count) + encoded


def encode_headers(headers: Headers) -> bytes:
    """Return headers, encoded as in a record."""
    return joined_headers(len(headers), b"".join(encode_header(name, content) for name, content in headers))


class BatchBuilder:
    """Collects the records of one batch. They are joined once at the end, because a growing buffer is copied repeatedly."""

    __slots__ = (
        "_attributes",
        "_base_sequence",
        "_base_timestamp",
        "_leader_epoch",
        "_max_timestamp",
        "_parts",
        "_producer_epoch",
        "_producer_id",
        "base_offset",
        "count",
        "next_offset",
        "size",
    )

    def __init__(  # noqa: PLR0913 - the header's own fields
        self,
        base_offset: int,
        timestamp_ms: int,
        leader_epoch: int = 0,
        *,
        attributes: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
        base_sequence: int = -1,
    ) -> None:
        self.base_offset = base_offset
        self._base_timestamp = self._max_timestamp = timestamp_ms
        self._leader_epoch = leader_epoch
        self._attributes = attributes
        self._producer_id = producer_id
        self._producer_epoch = producer_epoch
        self._base_sequence = base_sequence
        self._parts: list[bytes] = []
        # Size of the batch so far in bytes, header included.
        self.size = HEADER_SIZE
        self.count = 0
        self.next_offset = base_offset

    @property
    def next_delta(self) -> int:
        """The offset delta of the next record."""
        return self.next_offset - self.base_offset

    def append(self, key: bytes | None, value: bytes | None, headers: bytes = NO_HEADERS) -> int:
        """Add a record with the next offset and the batch's timestamp. Return its offset. ``headers`` are encoded."""
        offset = self.next_offset
        if key is None or value is None:
            self._write(offset, self._base_timestamp, key, value, headers)
        else:
            try:
                sizes = VARINTS
                # attributes 0, timestamp delta 0 …
                body = b"\0\0%b%b%b%b%b%b" % (
                    sizes[offset - self.base_offset],
                    sizes[len(key)],
                    key,
                    sizes[len(value)],
                    value,
                    headers,
                )
                size = sizes[len(body)]
                self._parts += (size, body)
                self.size += len(size) + len(body)
            except IndexError:
                self._write(offset, self._base_timestamp, key, value, headers)
        self.count += 1
        self.next_offset = offset + 1
        return offset

    def append_all(self, records: Sequence[tuple[bytes | None, bytes | None]], headers: bytes = NO_HEADERS) -> None:
        """Add records as ``append`` does, by key and value, in less time. The first one gets ``headers``."""
        parts, sizes, few = self._parts, VARINTS, len(VARINTS)
        delta, size = self.next_delta, self.size
        for key, value in records:
            place = sizes[delta] if delta < few else varint(delta)
            if key is None or value is None or len(key) + len(value) + len(headers) >= _ROOM:
                length, body = _encoded(0, place, key, value, headers)
            else:
                body = b"\0\0%b%b%b%b%b%b" % (place, sizes[len(key)], key, sizes[len(value)], value, headers)
                length = sizes[len(body)]
            parts += (length, body)
            size += len(length) + len(body)
            headers = NO_HEADERS
            delta += 1
        self.size = size
        self.count += len(records)
        self.next_offset += len(records)

    def extend(self, records: bytes, count: int) -> None:
        """Add already encoded records with the next offsets."""
        self._parts.append(records)
        self.size += len(records)
        self.count += count
        self.next_offset += count

    def parts(self) -> int:
        """Return the number of parts that hold the records, which is also the index of the next part."""
        return len(self._parts)

    def beside(self, offset: int) -> BatchBuilder:
        """Return a builder for records that replace those of this batch from ``offset`` on; see ``rewrite``."""
        other = BatchBuilder(self.base_offset, self._base_timestamp)
        other.next_offset = offset
        return other

    def rewrite(self, first: int, last: int, other: BatchBuilder) -> None:
        """Replace the records in the parts from ``first`` to ``last`` (excluded) by as many records of another builder."""
        records = b"".join(other._parts)
        old = self._parts[first:last]
        self.size += len(records) - sum([len(piece) for piece in old])
        self._parts[first:last] = [records] + [b""] * (len(old) - 1)

    def append_record(self, record: Record) -> None:
        """Add a record with its own offset, which may leave a gap, and its own timestamp. Raises EncodeError."""
        if record.offset < self.next_offset:
            raise EncodeError(f"offset {record.offset} is behind {self.next_offset}, the next of the batch")
        headers = encode_headers(record.headers) if record.headers else NO_HEADERS
        self._write(record.offset, record.timestamp, record.key, record.value, headers)
        self._max_timestamp = max(self._max_timestamp, record.timestamp)
        self.count += 1
        self.next_offset = record.offset + 1

    def finish(self) -> bytes:
        """Return the encoded batch, header and checksum included. Raises EncodeError without records."""
        if self.count == 0:
            raise EncodeError("a batch has at least one record")
        last_delta = self.next_offset - 1 - self.base_offset
        producer = (self._producer_id, self._producer_epoch, self._base_sequence)
        times = (self._base_timestamp, self._max_timestamp)
        body = _BODY.pack(self._attributes, last_delta, *times, *producer, self.count)
        records = b"".join(self._parts)
        crc = crc32c(records, crc32c(body))
        prefix = _PREFIX.pack(self.base_offset, self.size - LENGTH_END, self._leader_epoch, MAGIC, crc)
        return b"".join((prefix, body, records))

    def _write(self, offset: int, timestamp: int, key: bytes | None, value: bytes | None, headers: bytes) -> None:
        length, body = _encoded(timestamp - self._base_timestamp, _short(offset - self.base_offset), key, value, headers)
        self._parts += (length, body)
        self.size += len(length) + len(body)


def _encoded(
    timestamp_delta: int, offset_delta: bytes, key: bytes | None, value: bytes | None, headers: bytes
) -> tuple[bytes, bytes]:
    """Return the length of a record, and the record. ``offset_delta`` is encoded."""
    parts = [b"\0", _short(timestamp_delta), offset_delta]
    for data in (key, value):
        parts += (_NULL,) if data is None else (_short(len(data)), data)
    parts.append(headers)
    body = b"".join(parts)
    return _short(len(body)), body


def batch_like(header: BatchHeader, records: bytes, count: int) -> bytes:
    """Return a batch with the header of a given one and some of its records, encoded and not compressed. Their offsets stay."""
    times = (header.base_timestamp, header.max_timestamp)
    producer = (header.producer_id, header.producer_epoch, header.base_sequence)
    body = _BODY.pack(header.attributes & ~COMPRESSION_MASK, header.last_offset_delta, *times, *producer, count)
    size = HEADER_SIZE - LENGTH_END + len(records)
    prefix = _PREFIX.pack(header.base_offset, size, header.leader_epoch, MAGIC, crc32c(records, crc32c(body)))
    return b"".join((prefix, body, records))


def empty_batch(base_offset: int, offsets: int, *, attributes: int = 0, time_ms: int = -1, leader_epoch: int = 0) -> bytes:
    """Return a batch without records that covers ``offsets`` offsets. Compaction leaves it if no record of a batch is kept.

    With the attribute DELETE_HORIZON it says that a cleaner has removed them.
    """
    body = _BODY.pack(attributes, offsets - 1, time_ms, time_ms, -1, -1, -1, 0)
    return _PREFIX.pack(base_offset, HEADER_SIZE - LENGTH_END, leader_epoch, MAGIC, crc32c(body)) + body
