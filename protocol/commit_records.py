"""Fast encoding of the OffsetCommit records of one commit and topic, which differ only in partition, offset, epoch and metadata.

It writes the same bytes as ``KeyedSerde`` and ``BatchBuilder.append`` for single records; a test compares both. Only for commits
without an expiry time.

    record   size varint | attributes, timestamp delta 0 | offset delta varint | key size varint | key | value size varint | value | headers 0
    key      type 1 int16 | group | topic | partition int32
    value    version 4 int16 | offset int64 | epoch int32 | metadata, usually empty | timestamp int64 | topic id, optional
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from struct import Struct as Layout
from typing import Final

from protocol.batch_builder import NO_HEADERS, VARINTS, varint
from protocol.fields import ZERO_UUID
from protocol.messages.offset_commit import OffsetCommitRequestPartition

VALUE_VERSION: Final = 4
_KEY: Final = Layout(">hh")
_NAME: Final = Layout(">h")
_PARTITION_SIZE: Final = 4
_COMMITTED_SIZE: Final = 12
_VALUE_BEFORE_TAGS: Final = 23
_EMPTY: Final = 1
_TAIL: Final = Layout(">Bq")
_PARTITION: Final = Layout(">i")
_COMMITTED: Final = Layout(">hqi")
_TIMESTAMP: Final = Layout(">q")
# Bytes of the longest varint of an int32.
_LONGEST_DELTA: Final = 5
# Upper bound of the growth of the three size fields (record, value, metadata) caused by metadata.
_GROWTH: Final = 8
# Attributes, timestamp delta and offset delta, by offset delta.
_FRONTS: Final[tuple[bytes, ...]] = tuple([b"\0\0" + delta for delta in VARINTS])
# The first and second bytes of all two-byte varints of deltas.
_ONE_BYTE_DELTAS: Final = 64
_TWO_BYTE_DELTAS: Final = 8192
_LOW: Final = bytes([delta << 1 & 0x7F | 0x80 for delta in range(_ONE_BYTE_DELTAS, _TWO_BYTE_DELTAS)])
_HIGH: Final = bytes([delta >> 6 for delta in range(_ONE_BYTE_DELTAS, _TWO_BYTE_DELTAS)])
_ONE: Final = bytes(range(0, 2 * _ONE_BYTE_DELTAS, 2))
# The parts of a row (``commit_rows``): the partition; offset and epoch.
_ROW_PARTS: Final = "4s12s2x"
_ROW: Final = Layout(">" + _ROW_PARTS)
# Minimum number of rows for which encoding by columns is faster.
_MANY: Final = 48


class CommitLayout:
    """The encoding of the records of one group and topic."""

    __slots__ = ("_prefix", "_size", "_tags", "_value_start", "record_bytes")

    def __init__(self, group: str, topic: str, topic_id: bytes) -> None:
        raw_group, raw_topic = group.encode(), topic.encode()
        key = b"%b%b%b%b" % (_KEY.pack(1, len(raw_group)), raw_group, _NAME.pack(len(raw_topic)), raw_topic)
        self._prefix = varint(len(key) + _PARTITION_SIZE) + key
        self._tags = b"\0" if topic_id == ZERO_UUID else b"\1\0\x10" + topic_id
        value_size = _VALUE_BEFORE_TAGS + len(self._tags)
        self._value_start = varint(value_size) + _NAME.pack(VALUE_VERSION)
        # The size of a record without its size field, offset delta and headers.
        self._size = (
            2 + len(self._prefix) + _PARTITION_SIZE + len(self._value_start) + _COMMITTED_SIZE + _TAIL.size + len(self._tags)
        )
        most = self._size + _LONGEST_DELTA + 1
        self.record_bytes = len(varint(most)) + most
        """The maximum size of a record without headers."""

    def encode_rows(self, delta: int, rows: bytes, count: int, timestamp_ms: int, headers: bytes = NO_HEADERS) -> bytes:
        """Return one record for each of ``count`` rows. The first has the offset delta ``delta``, and ``headers``."""
        if count == 1:
            front = _FRONTS[delta] if delta < len(_FRONTS) else _front(delta)
            size = self._size - 2 + len(front) + len(headers)
            tail = _TAIL.pack(_EMPTY, timestamp_ms) + self._tags
            sized = VARINTS[size] if size < len(VARINTS) else varint(size)
            return b"".join((sized, front, self._prefix, rows[:4], self._value_start, rows[4:16], tail, headers))
        width = len(_front(delta))
        if width < len(_front(delta + count - 1)):
            # The size of the offset delta changes within these records: split them there.
            cut = next(place for place in range(count) if len(_front(delta + place)) > width)
            fewer = self.encode_rows(delta, rows[: cut * _ROW.size], cut, timestamp_ms, headers)
            return fewer + self.encode_rows(delta + cut, rows[cut * _ROW.size :], count - cut, timestamp_ms)
        tail = _TAIL.pack(_EMPTY, timestamp_ms) + self._tags
        if count >= _MANY:
            return self._encode_columns(delta, rows, count, tail, headers)
        # All records side by side. The last part of each is what is up to the next one's front.
        end = delta + count
        size = self._size - 2 + width
        columns = _rows_layout(count).unpack(rows)
        parts = [b""] * (6 * count)
        parts[::6] = _FRONTS[delta:end] if end <= len(_FRONTS) else [_front(each) for each in range(delta, end)]
        parts[1::6] = [self._prefix] * count
        parts[2::6] = columns[::2]
        parts[3::6] = [self._value_start] * count
        parts[4::6] = columns[1::2]
        between = _size(size + len(NO_HEADERS))
        parts[5::6] = [tail + NO_HEADERS + between] * count
        parts[5] = tail + headers + between
        parts[-1] = tail + NO_HEADERS
        return _size(size + len(headers)) + b"".join(parts)

    def _encode_columns(self, delta: int, rows: bytes, count: int, tail: bytes, headers: bytes) -> bytes:
        """Return ``count`` records, filled in by columns: a column is one byte of each record."""
        prefix, value_start = self._prefix, self._value_start
        width = len(_front(delta))
        size = self._size - 2 + width
        between = _size(size + len(NO_HEADERS))
        one = b"".join(
            (between, bytes(width), prefix, bytes(_PARTITION_SIZE), value_start, bytes(_COMMITTED_SIZE), tail, NO_HEADERS)
        )
        out = bytearray(one) * count
        step, delta_at = len(one), len(between) + 2
        for place, column in enumerate(_delta_columns(delta, count, width - 2), delta_at):
            out[place::step] = column
        partition_at = len(between) + width + len(prefix)
        for place in range(_PARTITION_SIZE):
            out[partition_at + place :: step] = rows[place :: _ROW.size]
        committed_at = partition_at + len(value_start)
        for place in range(_PARTITION_SIZE, _PARTITION_SIZE + _COMMITTED_SIZE):
            out[committed_at + place :: step] = rows[place :: _ROW.size]
        if headers != NO_HEADERS:
            out[:step] = _size(size + len(headers)) + bytes(out[len(between) : step - len(NO_HEADERS)]) + headers
        return bytes(out)

    def encode_partitions(
        self, delta: int, partitions: Sequence[OffsetCommitRequestPartition], timestamp_ms: int, headers: bytes = NO_HEADERS
    ) -> bytes:
        """Return one record for each decoded partition, without metadata. Otherwise like ``encode_rows``."""
        end = delta + len(partitions)
        fronts = _FRONTS[delta:end] if end <= len(_FRONTS) else tuple([_front(each) for each in range(delta, end)])
        width = len(fronts[0])
        if width < len(fronts[-1]):
            # The size of the offset delta changes within these records: split them there.
            cut = next(place for place, each in enumerate(fronts) if len(each) > width)
            fewer = self.encode_partitions(delta, partitions[:cut], timestamp_ms, headers)
            return fewer + self.encode_partitions(delta + cut, partitions[cut:], timestamp_ms)
        tail = _TAIL.pack(_EMPTY, timestamp_ms) + self._tags
        pack = _packer(width, len(self._prefix), len(self._value_start), len(tail))
        prefix, value_start = self._prefix, self._value_start
        records = [
            pack(fronts[place], prefix, one.partition_index, value_start, one.committed_offset, one.committed_leader_epoch, tail)
            for place, one in enumerate(partitions)
        ]
        return _joined(records, self._size - 2 + width, headers)

    def metadata_bytes(self, metadata: Sequence[bytes]) -> int:
        """Return an upper bound of the additional bytes, besides ``record_bytes`` each, of records with this metadata."""
        return sum(map(len, metadata)) + _GROWTH * len(metadata)

    def encode_with_metadata(
        self,
        delta: int,
        partitions: Sequence[OffsetCommitRequestPartition],
        metadata: Sequence[bytes],
        timestamp_ms: int,
        headers: bytes = NO_HEADERS,
    ) -> bytes:
        """Return one record for each decoded partition, with its metadata in UTF-8. Otherwise like ``encode_rows``."""
        prefix, tags = self._prefix, self._tags
        after = _TIMESTAMP.pack(timestamp_ms) + tags
        without = _VALUE_BEFORE_TAGS - 1 + len(tags)
        records: list[bytes] = []
        for place, one in enumerate(partitions):
            text = metadata[place]
            length = _compact(len(text))
            record = b"".join(
                (
                    _front(delta + place),
                    prefix,
                    _PARTITION.pack(one.partition_index),
                    _size(without + len(length) + len(text)),
                    _COMMITTED.pack(VALUE_VERSION, one.committed_offset, one.committed_leader_epoch),
                    length,
                    text,
                    after,
                    headers,
                )
            )
            records.append(_size(len(record)))
            records.append(record)
            headers = NO_HEADERS
        return b"".join(records)


def _front(delta: int) -> bytes:
    """Return attributes, timestamp delta and offset delta."""
    return _FRONTS[delta] if delta < len(_FRONTS) else b"\0\0" + varint(delta)


@cache
def _rows_layout(count: int) -> Layout:
    """Return the layout of fewer than ``_MANY`` rows."""
    return Layout(">" + count * _ROW_PARTS)


@lru_cache(maxsize=256)
def _packer(front: int, prefix: int, value_start: int, tail: int) -> Callable[..., bytes]:
    """Return a function that packs a record whose parts have these sizes."""
    return Layout(f">{front}s{prefix}si{value_start}sqi{tail}s").pack


def _joined(records: list[bytes], size: int, headers: bytes) -> bytes:
    """Join records of equal size, adding the size before each record and the headers after it."""
    end = size + len(headers)
    first = (VARINTS[end] if end < len(VARINTS) else varint(end)) + records[0] + headers
    if len(records) == 1:
        return first
    between = _size(size + len(NO_HEADERS))
    return first + between + (NO_HEADERS + between).join(records[1:]) + NO_HEADERS


def _delta_columns(delta: int, count: int, width: int) -> Sequence[bytes]:
    """Return the first bytes of ``count`` offset deltas, all of ``width`` bytes, then the second bytes, and so on."""
    if width == 1:
        return (_ONE[delta : delta + count],)
    if width == 2:
        start = delta - _ONE_BYTE_DELTAS
        return _LOW[start : start + count], _HIGH[start : start + count]
    return [bytes(column) for column in zip(*[varint(each) for each in range(delta, delta + count)], strict=True)]


def _size(size: int) -> bytes:
    return VARINTS[size] if size < len(VARINTS) else varint(size)


def _compact(size: int) -> bytes:
    """Return the length of a compact string: length + 1 as an unsigned varint."""
    left = size + 1
    out = bytearray()
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    out.append(left)
    return bytes(out)
