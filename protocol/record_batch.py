"""RecordBatch v2 (magic 2): the format of records in the log, Fetch and Produce. Message sets (magic 0 and 1) are refused.

A batch is a header of 61 bytes followed by its records. The checksum covers everything from the attributes on, so that a broker can
set the base offset and the leader epoch without computing it again. Offsets and timestamps of records are deltas to those of the
batch. All numbers inside a record are zig-zag varints. After compaction offsets may have gaps, and ``last_offset`` may be greater
than the offset of the last record.

    baseOffset int64 | length int32 | leaderEpoch int32 | magic int8 | crc uint32
    attributes int16 | lastOffsetDelta int32 | baseTimestamp int64 | maxTimestamp int64
    producerId int64 | producerEpoch int16 | baseSequence int32 | count int32 | records

Errors: Truncated if more bytes could complete the batch, Malformed if none could.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from struct import Struct as Layout
from typing import Final, NoReturn

from crc32c import crc32c
from msgspec import Struct

from protocol.errors import DecodeError, Malformed, Truncated

HEADER_SIZE: Final = 61
LENGTH_END: Final = 12
"""The end of the length field. The length counts the bytes after it, so the size of a batch is its length plus this."""
HEADER_OFFSETS: Final = Layout(">qi11xi")
"""The base offset, length and last offset delta of a header."""
HEADER_TIMES: Final = Layout(">8xi15xqq")
"""The length, base timestamp and largest timestamp of a header."""
MAGIC: Final = 2
MAX_EXPANSION: Final = 100
"""Default limit of decompression: this factor times the size of the batch, plus 64 KiB."""
CHECKED_FROM: Final = 21
"""The start of the bytes that the checksum covers."""
MIN_RECORD: Final = 7
"""The size of the smallest record."""
COMPRESSION_MASK: Final = 0x07
LOG_APPEND_TIME: Final = 0x08
"""The attribute of a batch whose records all have its largest timestamp, which the broker has set."""
TRANSACTIONAL: Final = 0x10
CONTROL: Final = 0x20
DELETE_HORIZON: Final = 0x40
"""The attribute of a batch that a cleaner has been at: its base timestamp says until when tombstones stay (KIP-534)."""
NO_PRODUCER_ID: Final = -1

Headers = Sequence[tuple[str, bytes | None]]

_HEADER = Layout(">qiibIhiqqqhii")
_MAX_INT64 = 2**63 - 1


class Record(Struct, gc=False):
    """One record with its absolute offset and timestamp (ms)."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


class BatchHeader(Struct, gc=False):
    """The header of a batch. ``size`` is the size of the whole batch in bytes, including the offset and length fields."""

    base_offset: int
    size: int
    leader_epoch: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int

    @property
    def last_sequence(self) -> int:
        """The producer's sequence number of the last record; -1 if the batch has none."""
        return -1 if self.base_sequence < 0 else (self.base_sequence + self.last_offset_delta) & 0x7FFF_FFFF

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def is_lost(self) -> bool:
        """Whether salvage has put the batch where it found nothing.

        No cleaner leaves an empty batch that has neither its mark nor a producer.
        """
        return not self.count and not self.attributes & (CONTROL | DELETE_HORIZON) and self.producer_id == NO_PRODUCER_ID

    @property
    def is_cleaned(self) -> bool:
        """Whether a cleaner has removed some of the batch's records, or all."""
        return self.count <= self.last_offset_delta and not self.is_lost

    @property
    def is_control(self) -> bool:
        """Whether the records are control records of the transaction coordinator, not data."""
        return bool(self.attributes & CONTROL)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL)

    @property
    def compression(self) -> int:
        """The compression: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd."""
        return self.attributes & COMPRESSION_MASK


def read_header(buf: bytes, pos: int = 0) -> BatchHeader:
    """Return the header at ``pos``, after checking that its fields are consistent. The body is not checked.

    Raises DecodeError.
    """
    if len(buf) - pos < HEADER_SIZE:
        raise Truncated("less than a batch header is left", message="RecordBatch", position=pos)
    base_offset, length, epoch, magic, crc, attributes, last_delta, *rest = _HEADER.unpack_from(buf, pos)
    base_timestamp, max_timestamp, producer_id, producer_epoch, base_sequence, count = rest
    size = length + LENGTH_END
    if magic != MAGIC:
        older = "; message sets of that age have to be converted by who wrote them" if magic in (0, 1) else ""
        _refuse(f"magic {magic} is not served, only {MAGIC}{older}", pos)
    if size < HEADER_SIZE:
        _refuse(f"length {length} is too small", pos)
    if base_offset < 0 or last_delta < 0 or base_offset + last_delta >= _MAX_INT64:
        _refuse(f"offsets {base_offset} + {last_delta} are out of range", pos)
    if not 0 <= count <= last_delta + 1:
        _refuse(f"{count} records cannot have {last_delta + 1} offsets", pos)
    return BatchHeader(
        base_offset,
        size,
        epoch,
        crc,
        attributes,
        last_delta,
        base_timestamp,
        max_timestamp,
        producer_id,
        producer_epoch,
        base_sequence,
        count,
    )


def verify(buf: bytes, pos: int, header: BatchHeader) -> None:
    """Raise Truncated if the batch is not complete, or Malformed if its checksum is wrong."""
    end = pos + header.size
    if end > len(buf):
        raise Truncated(f"{end - len(buf)} of {header.size} bytes are missing", message="RecordBatch", position=pos)
    crc = crc32c(memoryview(buf)[pos + CHECKED_FROM : end])
    if crc != header.crc:
        _refuse(f"checksum is {crc:#010x}, the header says {header.crc:#010x}", pos)


def iter_batches(buf: bytes, pos: int = 0) -> Iterator[tuple[int, BatchHeader]]:
    """Yield every batch from ``pos`` to the end of ``buf`` with its position. Each is verified; raises DecodeError."""
    end = len(buf)
    while pos < end:
        header = read_header(buf, pos)
        verify(buf, pos, header)
        yield pos, header
        pos += header.size


def iter_windows(
    pread: Callable[[int, int], bytes], window: int, start: int = 0
) -> Iterator[tuple[bytes, int, BatchHeader, int]]:
    """Yield the batches of a file from ``start`` on, with little of it in memory: (bytes, position in them, header, position in
    the file).

    ``pread`` gets a number of bytes and a position, and returns fewer only at the end. The bytes are ``window``, or more if a
    batch is larger. Each batch is verified; raises DecodeError, with a position in the file.
    """
    data, base, done, is_last = b"", start, 0, False
    while not is_last:
        # Of a batch that is larger than the window, as much again as there is of it.
        wanted = max(window, len(data) - done)
        more = pread(wanted, base + len(data))
        is_last = len(more) < wanted
        data, base, done = data[done:] + more, base + done, 0
        try:
            for position, header in iter_batches(data):
                yield data, position, header, base + position
                done = position + header.size
        except DecodeError as error:
            if is_last or not isinstance(error, Truncated):
                error.position = base + (done if error.position is None else error.position)
                raise


def iter_records(
    buf: bytes, pos: int, header: BatchHeader, max_bytes: int | None = None, *, with_headers: bool = True
) -> Iterator[Record]:
    """Yield the records of the batch at ``pos``, in order. The batch should have been verified. Raises DecodeError.

    Compressed records are expanded at once and refused if they have more than ``max_bytes``. Without ``with_headers`` the
    headers of records are skipped and not decoded.
    """
    end = pos + header.size
    if end > len(buf):
        raise Truncated(f"{end - len(buf)} of {header.size} bytes are missing", message="RecordBatch", position=pos)
    pos += HEADER_SIZE
    if header.compression:
        from protocol.compression import decompress

        limit = MAX_EXPANSION * header.size + 0x10000 if max_bytes is None else max_bytes
        buf = decompress(header.compression, buf[pos:end], limit)
        pos, end = 0, len(buf)
    if header.count * MIN_RECORD > end - pos:
        _refuse(f"{header.count} records cannot be in {end - pos} bytes", pos)
    try:
        for _ in range(header.count):
            record, pos = _read_record(buf, pos, end, header, with_headers)
            yield record
    except IndexError:
        _refuse("a record runs over the end", pos)
    if pos != end:
        _refuse(f"{end - pos} bytes behind the last record", pos)


def read_record(buf: bytes, pos: int, end: int, header: BatchHeader, *, with_headers: bool = False) -> tuple[Record, int]:
    """Return the record at ``pos`` of a verified, uncompressed batch, and the position after it. Raises DecodeError."""
    try:
        return _read_record(buf, pos, end, header, with_headers)
    except IndexError:
        _refuse("a record runs over the end", pos)


def _read_record(  # noqa: PLR0912, PLR0915
    buf: bytes, pos: int, batch_end: int, header: BatchHeader, with_headers: bool
) -> tuple[Record, int]:
    """Return one record and the position after it.

    Loading a log calls this for millions of records, so varints of one and two bytes are read in place, despite many branches.
    """
    start = pos
    size = buf[pos]
    pos += 1
    if size >= 0x80:
        if buf[pos] < 0x80:
            size = size & 0x7F | buf[pos] << 7
            pos += 1
            size = (size >> 1) ^ -(size & 1)
        else:
            size, pos = _read_varint(buf, start)
    else:
        size = (size >> 1) ^ -(size & 1)
    end = pos + size
    if size < 0 or end > batch_end:
        _refuse(f"record of {size} bytes in a batch with {batch_end - pos} left", start)
    timestamp_delta = buf[pos + 1]  # after the attributes byte, which has no defined bits
    pos += 2
    if timestamp_delta:
        timestamp_delta, pos = _read_varint(buf, pos - 1)
    offset_delta = buf[pos]
    pos += 1
    if offset_delta >= 0x80:
        if buf[pos] < 0x80:
            offset_delta = offset_delta & 0x7F | buf[pos] << 7
            pos += 1
            offset_delta = (offset_delta >> 1) ^ -(offset_delta & 1)
        else:
            offset_delta, pos = _read_varint(buf, pos - 1)
    else:
        offset_delta = (offset_delta >> 1) ^ -(offset_delta & 1)
    key: bytes | None
    size = buf[pos]
    if size < 0x80 and not size & 1 and (stop := pos + 1 + (size >> 1)) <= end:
        key = buf[pos + 1 : stop]
        pos = stop
    else:
        key, pos = _read_bytes(buf, pos, end)
    value: bytes | None
    size = buf[pos]
    if size < 0x80 and not size & 1 and (stop := pos + 1 + (size >> 1)) <= end:
        value = buf[pos + 1 : stop]
        pos = stop
    else:
        value, pos = _read_bytes(buf, pos, end)
    headers: tuple[tuple[str, bytes | None], ...] = ()
    if buf[pos]:
        headers, pos = read_headers(buf, pos, end) if with_headers else ((), end)
    else:
        pos += 1
    if pos != end:
        _refuse(f"record says {end - start} bytes and has {pos - start}", start)
    if not 0 <= offset_delta <= header.last_offset_delta:
        _refuse(f"offset delta {offset_delta} is not in the batch", start)
    return Record(header.base_offset + offset_delta, header.base_timestamp + timestamp_delta, key, value, headers), pos


def read_headers(buf: bytes, pos: int, end: int) -> tuple[tuple[tuple[str, bytes | None], ...], int]:
    """Return the headers of a record, whose count is at ``pos``, and the position after them.

    Raises DecodeError, or IndexError at the end of ``buf``.
    """
    start = pos
    count, pos = _read_varint(buf, pos)
    if not 0 <= 2 * count <= end - pos:
        _refuse(f"{count} headers in {end - pos} bytes", start)
    headers = []
    for _ in range(count):
        name, pos = _read_bytes(buf, pos, end)
        value, pos = _read_bytes(buf, pos, end)
        if name is None:
            _refuse("header without a name", start)
        try:
            headers.append((name.decode(), value))
        except UnicodeDecodeError:
            _refuse("header name is not UTF-8", start)
    return tuple(headers), pos


def _read_bytes(buf: bytes, pos: int, end: int) -> tuple[bytes | None, int]:
    size = buf[pos]
    if size < 0x80:
        pos += 1
        if size & 1:  # negative
            return None, pos
        size >>= 1
    else:
        size, pos = _read_varint(buf, pos)
        if size < 0:
            return None, pos
    stop = pos + size
    if stop > end:
        _refuse(f"{size} bytes in a record with {end - pos} left", pos)
    return buf[pos:stop], stop


def _read_varint(buf: bytes, pos: int) -> tuple[int, int]:
    byte = buf[pos]
    pos += 1
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), pos
    value = byte & 0x7F
    shift = 7
    while byte >= 0x80:
        if shift > 63:
            _refuse("varint of more than ten bytes", pos)
        byte = buf[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        shift += 7
    return (value >> 1) ^ -(value & 1), pos


def _refuse(reason: str, position: int) -> NoReturn:
    raise Malformed(reason, message="RecordBatch", position=position)
