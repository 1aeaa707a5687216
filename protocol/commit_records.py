"""Fast encoding of the OffsetCommit records of one commit and topic, which differ only in partition, offset, epoch and metadata.

Those of plain commits are encoded in ``commit_row_records``.

It writes the same bytes as ``KeyedSerde`` and ``BatchBuilder.append`` for single records; a test compares both. Only for commits
without an expiry time.

    record   size varint | attributes, timestamp delta 0 | offset delta varint | key size varint | key | value size varint
             | value | headers 0
    key      type 1 int16 | group | topic | partition int32
    value    version 4 int16 | offset int64 | epoch int32 | metadata, usually empty | timestamp int64 | topic id, optional
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
PARTITION_SIZE: Final = 4
COMMITTED_SIZE: Final = 12
_VALUE_BEFORE_TAGS: Final = 23
EMPTY: Final = 1
TAIL: Final = Layout(">Bq")
_PARTITION: Final = Layout(">i")
_COMMITTED: Final = Layout(">hqi")
_TIMESTAMP: Final = Layout(">q")
# Bytes of the longest varint of an int32.
_LONGEST_DELTA: Final = 5
# Upper bound of the growth of the three size fields (record, value, metadata) caused by metadata.
_GROWTH: Final = 8
# Attributes, timestamp delta and offset delta, by offset delta.
FRONTS: Final[tuple[bytes, ...]] = tuple([b"\0\0" + delta for delta in VARINTS])


class CommitLayout:
    """The encoding of the records of one group and topic."""

    __slots__ = ("prefix", "record_bytes", "size", "tags", "value_start")

    def __init__(self, group: str, topic: str, topic_id: bytes) -> None:
        raw_group, raw_topic = group.encode(), topic.encode()
        key = b"%b%b%b%b" % (_KEY.pack(1, len(raw_group)), raw_group, _NAME.pack(len(raw_topic)), raw_topic)
        # The size of the key, and the key up to the partition.
        self.prefix = varint(len(key) + PARTITION_SIZE) + key
        self.tags = b"\0" if topic_id == ZERO_UUID else b"\1\0\x10" + topic_id
        # The size of the value, and its version.
        value_size = _VALUE_BEFORE_TAGS + len(self.tags)
        self.value_start = varint(value_size) + _NAME.pack(VALUE_VERSION)
        # The size of a record without its size field, offset delta and headers.
        self.size = 2 + len(self.prefix) + PARTITION_SIZE + len(self.value_start) + COMMITTED_SIZE + TAIL.size + len(self.tags)
        most = self.size + _LONGEST_DELTA + 1
        self.record_bytes = len(varint(most)) + most
        """The maximum size of a record without headers."""

    def encode_partitions(
        self, delta: int, partitions: Sequence[OffsetCommitRequestPartition], timestamp_ms: int, headers: bytes = NO_HEADERS
    ) -> bytes:
        """Return one record for each decoded partition, without metadata.

        The first has the offset delta ``delta``, and ``headers``.
        """
        fronts = _fronts(delta, len(partitions))
        width = len(fronts[0])
        if width < len(fronts[-1]):
            cut = _end_of_width(fronts)
            fewer = self.encode_partitions(delta, partitions[:cut], timestamp_ms, headers)
            return fewer + self.encode_partitions(delta + cut, partitions[cut:], timestamp_ms)
        tail = TAIL.pack(EMPTY, timestamp_ms) + self.tags
        pack = _packer(width, len(self.prefix), len(self.value_start), len(tail))
        prefix, value_start = self.prefix, self.value_start
        records = [
            pack(fronts[place], prefix, one.partition_index, value_start, one.committed_offset, one.committed_leader_epoch, tail)
            for place, one in enumerate(partitions)
        ]
        return _joined(records, self.size - 2 + width, headers)

    def encode_tombstones(self, delta: int, partitions: Sequence[int], headers: bytes = NO_HEADERS) -> bytes:
        """Return the records that delete the offsets of partitions. The first has the offset delta ``delta``, and ``headers``."""
        fronts = _fronts(delta, len(partitions))
        width = len(fronts[0])
        if width < len(fronts[-1]):
            cut = _end_of_width(fronts)
            fewer = self.encode_tombstones(delta, partitions[:cut], headers)
            return fewer + self.encode_tombstones(delta + cut, partitions[cut:])
        prefix, pack = self.prefix, _PARTITION.pack
        records = [b"%b%b%b\1" % (fronts[place], prefix, pack(partition)) for place, partition in enumerate(partitions)]
        return _joined(records, width + len(prefix) + PARTITION_SIZE + 1, headers)

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
        """Return one record for each decoded partition, with its metadata in UTF-8. Otherwise like ``encode_partitions``."""
        prefix, tags = self.prefix, self.tags
        after = _TIMESTAMP.pack(timestamp_ms) + tags
        without = _VALUE_BEFORE_TAGS - 1 + len(tags)
        records: list[bytes] = []
        for place, one in enumerate(partitions):
            text = metadata[place]
            length = _compact(len(text))
            record = b"".join(
                (
                    front(delta + place),
                    prefix,
                    _PARTITION.pack(one.partition_index),
                    size_of(without + len(length) + len(text)),
                    _COMMITTED.pack(VALUE_VERSION, one.committed_offset, one.committed_leader_epoch),
                    length,
                    text,
                    after,
                    headers,
                )
            )
            records.append(size_of(len(record)))
            records.append(record)
            headers = NO_HEADERS
        return b"".join(records)


def front(delta: int) -> bytes:
    """Return attributes, timestamp delta and offset delta."""
    if delta < len(FRONTS):
        return FRONTS[delta]
    bits = delta << 1
    if bits < 1 << 14:
        return bytes((0, 0, bits & 0x7F | 0x80, bits >> 7))
    if bits < 1 << 21:
        return bytes((0, 0, bits & 0x7F | 0x80, bits >> 7 & 0x7F | 0x80, bits >> 14))
    return b"\0\0" + varint(delta)


def _fronts(delta: int, count: int) -> tuple[bytes, ...]:
    """Return ``front`` for that many records from ``delta`` on."""
    end = delta + count
    return FRONTS[delta:end] if end <= len(FRONTS) else tuple([front(each) for each in range(delta, end)])


def _end_of_width(fronts: Sequence[bytes]) -> int:
    """Return where the size of the offset delta changes: records are split there."""
    return next(place for place, each in enumerate(fronts) if len(each) > len(fronts[0]))


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
    between = size_of(size + len(NO_HEADERS))
    return first + between + (NO_HEADERS + between).join(records[1:]) + NO_HEADERS


def size_of(size: int) -> bytes:
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
