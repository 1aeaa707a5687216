"""The bytes of many OffsetCommit records that differ in partition, offset and epoch alone: one ``pack`` for each.

It is the general way (``KeyedSerde`` and ``BatchBuilder.append``) made cheap for what nearly every commit is: no metadata, no expiry. A
test holds that both write the same bytes.

    record   size varint | attributes, timestamp delta 0 | offset delta varint | key size varint | key | value size varint | value | headers 0
    key      type 1 int16 | group | topic | partition int32
    value    version 4 int16 | offset int64 | epoch int32 | metadata, empty | timestamp int64 | topic id, if there is one
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from struct import Struct as Layout
from typing import Final

from protocol.fields import ZERO_UUID
from protocol.messages.offset_commit import OffsetCommitRequestPartition
from protocol.record_batch import NO_HEADERS, VARINTS, varint

VALUE_VERSION: Final = 4
_KEY: Final = Layout(">hh")
_NAME: Final = Layout(">h")
_PARTITION_SIZE: Final = 4
_VALUE_BEFORE_TAGS: Final = 23
_EMPTY: Final = 1
# Attributes and timestamp delta, then the offset delta.
_FRONTS: Final = tuple([b"\0\0" + delta for delta in VARINTS])


class CommitLayout:
    """How the records of one group and topic look."""

    __slots__ = ("_by_width", "_prefix", "_tags", "_value_start", "record_bytes")

    def __init__(self, group: str, topic: str, topic_id: bytes) -> None:
        raw_group, raw_topic = group.encode(), topic.encode()
        key = b"%b%b%b%b" % (_KEY.pack(1, len(raw_group)), raw_group, _NAME.pack(len(raw_topic)), raw_topic)
        self._prefix = varint(len(key) + _PARTITION_SIZE) + key
        self._tags = b"\0" if topic_id == ZERO_UUID else b"\1\0\x10" + topic_id
        value_size = _VALUE_BEFORE_TAGS + len(self._tags)
        self._value_start = varint(value_size) + _NAME.pack(VALUE_VERSION)
        # All of a record but its size and its headers, by how many bytes its offset delta takes.
        self._by_width: list[tuple[int, Callable[..., bytes]]] = []
        for width in range(6):
            layout = Layout(f">{2 + width}s{len(self._prefix)}si{len(self._value_start)}sqiBq{len(self._tags)}s")
            self._by_width.append((layout.size, layout.pack))
        self.record_bytes = len(varint(layout.size + 1)) + layout.size + 1
        """The most that a record without headers takes."""

    def encode(
        self, delta: int, partitions: Sequence[OffsetCommitRequestPartition], timestamp_ms: int, headers: bytes = NO_HEADERS
    ) -> bytes:
        """A record for each partition, the first of them at ``delta`` of its batch, and with ``headers``. Their metadata is left out."""
        if not partitions:
            return b""
        end = delta + len(partitions)
        fronts = _FRONTS[delta:end] if end <= len(_FRONTS) else [b"\0\0" + varint(each) for each in range(delta, end)]
        width = len(fronts[0])
        if width < len(fronts[-1]):
            # They grow by a byte somewhere in between.
            cut = next(place for place, each in enumerate(fronts) if len(each) > width)
            fewer = self.encode(delta, partitions[:cut], timestamp_ms, headers)
            return fewer + self.encode(delta + cut, partitions[cut:], timestamp_ms)
        size, pack = self._by_width[width - 2]
        prefix, value_start, tags = self._prefix, self._value_start, self._tags
        records = [
            pack(
                fronts[place],
                prefix,
                one.partition_index,
                value_start,
                one.committed_offset,
                one.committed_leader_epoch,
                _EMPTY,
                timestamp_ms,
                tags,
            )
            for place, one in enumerate(partitions)
        ]
        first = _size(size + len(headers)) + records[0] + headers
        if len(records) == 1:
            return first
        between = _size(size + len(NO_HEADERS))
        return first + between + (NO_HEADERS + between).join(records[1:]) + NO_HEADERS


def _size(size: int) -> bytes:
    return VARINTS[size] if size < len(VARINTS) else varint(size)


@lru_cache(maxsize=1 << 13)
def commit_layout(group: str, topic: str, topic_id: bytes) -> CommitLayout:
    """The layout of a group's records for a topic; groups commit the same topics again and again."""
    return CommitLayout(group, topic, topic_id)
