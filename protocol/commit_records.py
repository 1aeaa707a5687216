"""The bytes of the OffsetCommit records that one commit writes for a topic: they differ in partition, offset, epoch and metadata alone.

A shorter way to what ``KeyedSerde`` and ``BatchBuilder.append`` write for single records, for commits without an expiry. A test holds that
both write the same bytes.

    record   size varint | attributes, timestamp delta 0 | offset delta varint | key size varint | key | value size varint | value | headers 0
    key      type 1 int16 | group | topic | partition int32
    value    version 4 int16 | offset int64 | epoch int32 | metadata, most often empty | timestamp int64 | topic id, if there is one
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
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
# By how much the sizes of a record, of its value and of its metadata may grow with the metadata.
_GROWTH: Final = 8
# Attributes and timestamp delta, then the offset delta.
_FRONTS: Final[tuple[bytes, ...]] = tuple([b"\0\0" + delta for delta in VARINTS])
# The bytes of deltas of two bytes, from the first such delta on.
_ONE_BYTE_DELTAS: Final = 64
_TWO_BYTE_DELTAS: Final = 8192
_LOW: Final = bytes([delta << 1 & 0x7F | 0x80 for delta in range(_ONE_BYTE_DELTAS, _TWO_BYTE_DELTAS)])
_HIGH: Final = bytes([delta >> 6 for delta in range(_ONE_BYTE_DELTAS, _TWO_BYTE_DELTAS)])
_ONE: Final = bytes(range(0, 2 * _ONE_BYTE_DELTAS, 2))
# Of a row (``commit_rows``): the partition, then offset and epoch.
_ROW: Final = Layout(">4s12s2x")
# From so many rows on it takes less to write them column by column.
_MANY: Final = 24


class CommitLayout:
    """How the records of one group and topic look."""

    __slots__ = ("_pack_partition", "_pack_row", "_prefix", "_sizes", "_tags", "_value_start", "record_bytes")

    def __init__(self, group: str, topic: str, topic_id: bytes) -> None:
        raw_group, raw_topic = group.encode(), topic.encode()
        key = b"%b%b%b%b" % (_KEY.pack(1, len(raw_group)), raw_group, _NAME.pack(len(raw_topic)), raw_topic)
        self._prefix = varint(len(key) + _PARTITION_SIZE) + key
        self._tags = b"\0" if topic_id == ZERO_UUID else b"\1\0\x10" + topic_id
        value_size = _VALUE_BEFORE_TAGS + len(self._tags)
        self._value_start = varint(value_size) + _NAME.pack(VALUE_VERSION)
        # By how many bytes the offset delta takes: what makes all of a record but its size and its headers, and how much that is.
        self._pack_row: list[Callable[..., bytes]] = []
        self._pack_partition: list[Callable[..., bytes]] = []
        self._sizes: list[int] = []
        before, between, tail = len(self._prefix), len(self._value_start), _TAIL.size + len(self._tags)
        for width in range(6):
            layout = Layout(f">{2 + width}s{before}s4s{between}s12s{tail}s")
            self._pack_row.append(layout.pack)
            self._pack_partition.append(Layout(f">{2 + width}s{before}si{between}sqi{tail}s").pack)
            self._sizes.append(layout.size)
        self.record_bytes = len(varint(layout.size + 1)) + layout.size + 1
        """The most that a record without headers takes."""

    def encode_rows(self, delta: int, rows: bytes, count: int, timestamp_ms: int, headers: bytes = NO_HEADERS) -> bytes:
        """Write a record for each of ``count`` rows, the first of them at ``delta`` of its batch, and with ``headers``."""
        if count == 1:
            front = _FRONTS[delta] if delta < len(_FRONTS) else _front(delta)
            size = self._sizes[len(front) - 2] + len(headers)
            tail = _TAIL.pack(_EMPTY, timestamp_ms) + self._tags
            sized = VARINTS[size] if size < len(VARINTS) else varint(size)
            return b"".join((sized, front, self._prefix, rows[:4], self._value_start, rows[4:16], tail, headers))
        width = len(_front(delta))
        if width < len(_front(delta + count - 1)):
            # They grow by a byte somewhere in between.
            cut = next(place for place in range(count) if len(_front(delta + place)) > width)
            fewer = self.encode_rows(delta, rows[: cut * _ROW.size], cut, timestamp_ms, headers)
            return fewer + self.encode_rows(delta + cut, rows[cut * _ROW.size :], count - cut, timestamp_ms)
        tail = _TAIL.pack(_EMPTY, timestamp_ms) + self._tags
        if count >= _MANY:
            return self._encode_columns(delta, rows, count, tail, headers)
        end = delta + count
        fronts = _FRONTS[delta:end] if end <= len(_FRONTS) else tuple([_front(each) for each in range(delta, end)])
        pack, prefix, value_start = self._pack_row[width - 2], self._prefix, self._value_start
        records = [
            pack(fronts[place], prefix, partition, value_start, committed, tail)
            for place, (partition, committed) in enumerate(_ROW.iter_unpack(rows))
        ]
        return _joined(records, self._sizes[width - 2], headers)

    def _encode_columns(self, delta: int, rows: bytes, count: int, tail: bytes, headers: bytes) -> bytes:
        """Write so many records at once: a column is one byte of all of them."""
        prefix, value_start = self._prefix, self._value_start
        width = len(_front(delta))
        size = self._sizes[width - 2]
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
        """Like ``encode_rows``, of decoded partitions. Their metadata is left out."""
        end = delta + len(partitions)
        fronts = _FRONTS[delta:end] if end <= len(_FRONTS) else tuple([_front(each) for each in range(delta, end)])
        width = len(fronts[0])
        if width < len(fronts[-1]):
            # They grow by a byte somewhere in between.
            cut = next(place for place, each in enumerate(fronts) if len(each) > width)
            fewer = self.encode_partitions(delta, partitions[:cut], timestamp_ms, headers)
            return fewer + self.encode_partitions(delta + cut, partitions[cut:], timestamp_ms)
        pack, prefix, value_start = self._pack_partition[width - 2], self._prefix, self._value_start
        tail = _TAIL.pack(_EMPTY, timestamp_ms) + self._tags
        records = [
            pack(fronts[place], prefix, one.partition_index, value_start, one.committed_offset, one.committed_leader_epoch, tail)
            for place, one in enumerate(partitions)
        ]
        return _joined(records, self._sizes[width - 2], headers)

    def metadata_bytes(self, metadata: Sequence[bytes]) -> int:
        """Return the most that records with this metadata take beyond ``record_bytes`` each."""
        return sum(map(len, metadata)) + _GROWTH * len(metadata)

    def encode_with_metadata(
        self,
        delta: int,
        partitions: Sequence[OffsetCommitRequestPartition],
        metadata: Sequence[bytes],
        timestamp_ms: int,
        headers: bytes = NO_HEADERS,
    ) -> bytes:
        """Like ``encode_partitions``, with the metadata of each, in UTF-8."""
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
    """Attributes, timestamp delta and offset delta."""
    return _FRONTS[delta] if delta < len(_FRONTS) else b"\0\0" + varint(delta)


def _joined(records: list[bytes], size: int, headers: bytes) -> bytes:
    """Records of one size, each with its size before and its headers behind it."""
    end = size + len(headers)
    first = (VARINTS[end] if end < len(VARINTS) else varint(end)) + records[0] + headers
    if len(records) == 1:
        return first
    between = _size(size + len(NO_HEADERS))
    return first + between + (NO_HEADERS + between).join(records[1:]) + NO_HEADERS


def _delta_columns(delta: int, count: int, width: int) -> Sequence[bytes]:
    """The first bytes of so many offset deltas, all of ``width`` bytes, then the second ones, and so on."""
    if width == 1:
        return (_ONE[delta : delta + count],)
    if width == 2:
        start = delta - _ONE_BYTE_DELTAS
        return _LOW[start : start + count], _HIGH[start : start + count]
    return [bytes(column) for column in zip(*[varint(each) for each in range(delta, delta + count)], strict=True)]


def _size(size: int) -> bytes:
    return VARINTS[size] if size < len(VARINTS) else varint(size)


def _compact(size: int) -> bytes:
    """The length of a compact string: one more, as an unsigned varint."""
    left = size + 1
    if left < 0x80:
        return bytes((left,))
    out = bytearray()
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    out.append(left)
    return bytes(out)


@lru_cache(maxsize=1 << 13)
def commit_layout(group: str, topic: str, topic_id: bytes) -> CommitLayout:
    """Return the layout of a group's records for a topic; groups commit the same topics again and again."""
    return CommitLayout(group, topic, topic_id)
