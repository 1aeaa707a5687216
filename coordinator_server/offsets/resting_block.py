"""The block encoding of one group's offsets in a layer's checkpoint.

Little-endian. Rows are ordered by topic, topic id and partition, so equal offsets give equal bytes.

    rows uint32 | topics uint32 | texts uint32
    per topic and topic id: rows uint32, size of the name uint16, topic id 16 bytes, name
    per text of metadata, in the order of first use: size uint32, text
    columns: partition int32, offset int64, leader epoch int32, commit timestamp int64, record offset int64,
             expire timestamp int64, text uint32

A column starts with one byte: 0 if one value for all rows follows, 1 if one value per row follows. The block has no checksum; the
checkpoint stores one for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from struct import Struct as Layout
from struct import pack, unpack_from
from sys import intern
from typing import Final, NamedTuple

from coordinator_server.offsets.values import NO_TIMESTAMP, OffsetAndMetadata, TopicPartition

_HEAD: Final = Layout("<III")
_TOPIC: Final = Layout("<IH16s")
_TEXT: Final = Layout("<I")
_PORTION: Final = 1_000
_SIZES: Final = {"i": 4, "I": 4, "q": 8}


Row = tuple[TopicPartition, OffsetAndMetadata]


class ExpiryBounds(NamedTuple):
    """The earliest times that determine the expiry of a group's offsets.

    A checkpoint stores them as the block's bounds, in order.
    """

    oldest_commit_ms: int
    # NO_TIMESTAMP if no offset has its own expiry time.
    least_expire_ms: int


class RestingGroup(NamedTuple):
    """A block, its number of rows, and its expiry bounds."""

    block: bytes
    rows: int
    bounds: ExpiryBounds


def encode_group(offsets: Iterable[Row]) -> RestingGroup:
    """Encode the offsets of a group, at least one, as a block."""
    rows = sorted(offsets, key=lambda row: (row[0][0], row[1].topic_id, row[0][1]))
    values = [value for _, value in rows]
    topics = _topics(rows)
    texts = {text: index for index, text in enumerate(dict.fromkeys(value.metadata for value in values))}
    commits = [value.commit_timestamp_ms for value in values]
    expiries = [value.expire_timestamp_ms for value in values]
    out = bytearray(_HEAD.pack(len(rows), len(topics), len(texts)))
    for (name, topic_id), count in topics.items():
        raw = name.encode()
        out += _TOPIC.pack(count, len(raw), topic_id)
        out += raw
    for text in texts:
        raw = text.encode()
        out += _TEXT.pack(len(raw))
        out += raw
    _put(out, "i", [partition for (_, partition), _ in rows])
    _put(out, "q", [value.committed_offset for value in values])
    _put(out, "i", [value.leader_epoch for value in values])
    _put(out, "q", commits)
    _put(out, "q", [value.record_offset for value in values])
    _put(out, "q", expiries)
    _put(out, "I", [texts[value.metadata] for value in values])
    own = [expiry for expiry in expiries if expiry != NO_TIMESTAMP]
    return RestingGroup(bytes(out), len(rows), ExpiryBounds(min(commits), min(own, default=NO_TIMESTAMP)))


def rows_in(data: bytes, pos: int) -> int:
    """Return the number of rows of the block at a position."""
    count: int = _HEAD.unpack_from(data, pos)[0]
    return count


def decode_offsets(block: bytes) -> Iterator[Row]:
    """Decode the offsets of a block."""
    count, topic_count, text_count = _HEAD.unpack_from(block)
    pos = _HEAD.size
    names: list[Iterable[str]] = []
    ids: list[Iterable[bytes]] = []
    for _ in range(topic_count):
        rows, size, topic_id = _TOPIC.unpack_from(block, pos)
        pos += _TOPIC.size
        # Interned, so that all partitions and groups of a topic share one name.
        names.append(repeat(intern(block[pos : pos + size].decode()), rows))
        ids.append(repeat(topic_id, rows))
        pos += size
    texts = []
    for _ in range(text_count):
        (size,) = _TEXT.unpack_from(block, pos)
        pos += _TEXT.size + size
        texts.append(block[pos - size : pos].decode())
    columns = []
    for code in "iqiqqqI":
        column, pos = _take(block, pos, code, count)
        columns.append(column)
    partitions, offsets, epochs, commits, records, expiries, text = columns
    metadata = repeat(texts[0]) if text_count == 1 else map(texts.__getitem__, text)
    topics = names[0] if topic_count == 1 else chain.from_iterable(names)
    topic_ids = ids[0] if topic_count == 1 else chain.from_iterable(ids)
    values = map(OffsetAndMetadata, offsets, epochs, metadata, commits, records, expiries, topic_ids)
    return zip(zip(topics, partitions, strict=False), values, strict=False)


def _topics(rows: Sequence[Row]) -> dict[tuple[str, bytes], int]:
    found: dict[tuple[str, bytes], int] = {}
    for (topic, _), value in rows:
        key = topic, value.topic_id
        found[key] = found.get(key, 0) + 1
    return found


def _put(out: bytearray, code: str, values: list[int]) -> None:
    if values.count(values[0]) == len(values):
        out += pack(f"<B{code}", 0, values[0])
    else:
        out += pack(f"<B{len(values)}{code}", 1, *values)


def _take(block: bytes, pos: int, code: str, count: int) -> tuple[Iterable[int], int]:
    size = _SIZES[code]
    if block[pos] == 0:
        return repeat(unpack_from(f"<{code}", block, pos + 1)[0], count), pos + 1 + size
    pos += 1
    # In portions, so that a large block can be decoded in steps.
    whole = count // _PORTION * _PORTION
    portions = Layout(f"<{_PORTION}{code}").iter_unpack(memoryview(block)[pos : pos + size * whole])
    rest = unpack_from(f"<{count - whole}{code}", block, pos + size * whole)
    return chain(chain.from_iterable(portions), rest), pos + size * count
