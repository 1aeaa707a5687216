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
from protocol.record_batch import NO_HEADERS, VARINTS, varint

VALUE_VERSION: Final = 4
_KEY: Final = Layout(">hh")
_NAME: Final = Layout(">h")
_PARTITION_SIZE: Final = 4
_VALUE_BEFORE_TAGS: Final = 23
_EMPTY: Final = b"\1"
_TIME: Final = Layout(">q")


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
        # The size of a record, and so the place of everything in it, depends on how many bytes its offset delta takes.
        self._by_width: list[tuple[bytes, Callable[..., bytes]]] = []
        for width in range(6):
            size = 2 + width + len(self._prefix) + _PARTITION_SIZE + len(varint(value_size)) + value_size + 1
            start = varint(size) + b"\0\0"
            tail = len(_EMPTY) + _TIME.size + len(self._tags) + len(NO_HEADERS)
            layout = f">{len(start)}s{width}s{len(self._prefix)}si{len(self._value_start)}sqi{tail}s"
            self._by_width.append((start, Layout(layout).pack))
        self.record_bytes = Layout(layout).size
        """The most that a record without headers takes."""

    def encode(
        self,
        delta: int,
        partitions: Sequence[int],
        offsets: Sequence[int],
        epochs: Sequence[int],
        timestamp_ms: int,
        headers: bytes = NO_HEADERS,
    ) -> bytes:
        """A record for each partition, the first of them at ``delta`` of its batch, and with ``headers``."""
        if not partitions:
            return b""
        end = delta + len(partitions)
        deltas = VARINTS[delta:end] if end <= len(VARINTS) else [varint(each) for each in range(delta, end)]
        width = len(deltas[0])
        if width < len(deltas[-1]):
            # They grow by a byte somewhere in between.
            cut = next(place for place, each in enumerate(deltas) if len(each) > width)
            fewer = self.encode(delta, partitions[:cut], offsets[:cut], epochs[:cut], timestamp_ms, headers)
            return fewer + self.encode(delta + cut, partitions[cut:], offsets[cut:], epochs[cut:], timestamp_ms)
        start, pack = self._by_width[width]
        prefix, value_start, tail = self._prefix, self._value_start, self._tail(timestamp_ms)
        rows = zip(deltas, partitions, offsets, epochs, strict=True)
        records = [pack(start, each, prefix, one, value_start, offset, epoch, tail) for each, one, offset, epoch in rows]
        if headers != NO_HEADERS:
            # Other headers make another size, and nothing else.
            body = records[0][len(start) - 2 : -len(NO_HEADERS)] + headers
            size = len(body)
            records[0] = (VARINTS[size] if size < len(VARINTS) else varint(size)) + body
        return b"".join(records)

    def _tail(self, timestamp_ms: int) -> bytes:
        return b"%b%b%b%b" % (_EMPTY, _TIME.pack(timestamp_ms), self._tags, NO_HEADERS)


@lru_cache(maxsize=1 << 13)
def commit_layout(group: str, topic: str, topic_id: bytes) -> CommitLayout:
    """The layout of a group's records for a topic; groups commit the same topics again and again."""
    return CommitLayout(group, topic, topic_id)
