"""The block encoding of one group's offsets in a layer's checkpoint.

Little-endian. Rows are ordered by topic, topic id and partition, so equal offsets give equal bytes.

    rows uint32 | topics uint32 | texts uint32
    per topic and topic id: rows uint32, size of the name uint16, topic id 16 bytes, name
    per text of metadata, in the order of first use: size uint32, text
    columns: partition int32, offset int64, leader epoch int32, commit timestamp int64, record offset int64,
             expire timestamp int64, text uint32

A column starts with one byte: 0 if one value for all rows follows, 1 if one value per row follows. The block has no checksum; the
checkpoint stores one for it.

A group that rests in memory has its block behind its bounds (2 x int64), in one object: *kept*. There a column may start with 2 if
each value is one more than the last, and the first value follows; no checkpoint has that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, repeat
from struct import Struct as Layout
from struct import pack, unpack_from
from sys import intern
from typing import Final, NamedTuple

from coordinator_server.offsets.values import NO_TIMESTAMP, CommittedRows, OffsetAndMetadata, TopicPartition
from protocol.commit_rows import offsets_of

_HEAD: Final = Layout("<III")
_TOPIC: Final = Layout("<IH16s")
_TEXT: Final = Layout("<I")
_BOUNDS: Final = Layout("<qq")
# Of the columns, in order.
_CODES: Final = "iqiqqqI"
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


def encode_group(offsets: Iterable[Row], *, is_kept: bool = False) -> RestingGroup:
    """Encode the offsets of a group, at least one, as a block for a checkpoint, or for memory."""
    rows = sorted(offsets, key=lambda row: (row[0][0], row[1].topic_id, row[0][1]))
    values = [value for _, value in rows]
    texts = {text: index for index, text in enumerate(dict.fromkeys(value.metadata for value in values))}
    commits = [value.commit_timestamp_ms for value in values]
    expiries = [value.expire_timestamp_ms for value in values]
    columns = (
        [partition for (_, partition), _ in rows],
        [value.committed_offset for value in values],
        [value.leader_epoch for value in values],
        commits,
        [value.record_offset for value in values],
        expiries,
        [texts[value.metadata] for value in values],
    )
    own = [expiry for expiry in expiries if expiry != NO_TIMESTAMP]
    bounds = ExpiryBounds(min(commits), min(own, default=NO_TIMESTAMP))
    return RestingGroup(_encoded(_topics(rows), texts, columns, is_kept), len(rows), bounds)


def encode_rows(commits: Iterable[tuple[str, CommittedRows]]) -> RestingGroup | None:
    """Encode the offsets of a group that has nothing but commits in rows, at least one, by topic, as a block for memory.

    Return None if a partition is in two of the rows, one of which overrides the other.
    """
    found: dict[tuple[str, bytes], list[list[int]]] = {}
    for name, committed in commits:
        partitions, offsets, epochs = zip(*offsets_of(committed.rows), strict=True)
        first, count = committed.record_offset, len(partitions)
        columns = found.setdefault((name, committed.topic_id), [[], [], [], [], []])
        added = partitions, offsets, epochs, repeat(committed.timestamp_ms, count), range(first, first + count)
        for column, part in zip(columns, added, strict=True):
            column += part
    if len({name for name, _ in found}) < len(found):
        return None
    topics: dict[tuple[str, bytes], int] = {}
    every: list[list[int]] = [[], [], [], [], []]
    for topic in sorted(found):
        columns = found[topic]
        of_topic = columns[0]
        topics[topic] = count = len(of_topic)
        if len(set(of_topic)) < count:
            return None
        if of_topic != sorted(of_topic):
            order = sorted(range(count), key=of_topic.__getitem__)
            columns = [[column[place] for place in order] for column in columns]
        for column, part in zip(every, columns, strict=True):
            column += part
    count = len(every[0])
    block = _encoded(topics, ("",), [*every, [NO_TIMESTAMP] * count, [0] * count], is_kept=True)
    return RestingGroup(block, count, ExpiryBounds(min(every[3]), NO_TIMESTAMP))


def keep(group: RestingGroup) -> bytes:
    """Return the bounds and the block as one object."""
    return _BOUNDS.pack(*group.bounds) + group.block


def bounds_of(kept: bytes) -> ExpiryBounds:
    """Return the bounds of a kept block."""
    return ExpiryBounds(*_BOUNDS.unpack_from(kept))


def rows_of(kept: bytes) -> int:
    """Return the number of rows of a kept block."""
    count: int = _HEAD.unpack_from(kept, _BOUNDS.size)[0]
    return count


def has_positions_of(kept: bytes, block: bytes) -> bool:
    """Return whether a kept block has the positions, topic ids and metadata of another block, which has no metadata."""
    _, topics, texts = _HEAD.unpack_from(block)
    end = _HEAD.size
    for _ in range(topics):
        end += _TOPIC.size + _TOPIC.unpack_from(block, end)[1]
    end += texts * _TEXT.size
    _, end = _take(block, end, _CODES[0], _HEAD.unpack_from(block)[0])
    return kept.startswith(block[:end], _BOUNDS.size)


def _encoded(topics: dict[tuple[str, bytes], int], texts: Collection[str], columns: Sequence[list[int]], is_kept: bool) -> bytes:
    out = bytearray(_HEAD.pack(len(columns[0]), len(topics), len(texts)))
    for (name, topic_id), count in topics.items():
        raw = name.encode()
        out += _TOPIC.pack(count, len(raw), topic_id)
        out += raw
    for text in texts:
        raw = text.encode()
        out += _TEXT.pack(len(raw))
        out += raw
    for code, column in zip(_CODES, columns, strict=True):
        _put(out, code, column, is_kept)
    return bytes(out)


def decode_kept(kept: bytes) -> Iterator[Row]:
    """Decode the offsets of a kept block."""
    return decode_offsets(kept[_BOUNDS.size :])


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
    for code in _CODES:
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


def _put(out: bytearray, code: str, values: list[int], may_rise: bool) -> None:
    first = values[0]
    if values.count(first) == len(values):
        out += pack(f"<B{code}", 0, first)
    elif may_rise and values == list(range(first, first + len(values))):
        out += pack(f"<B{code}", 2, first)
    else:
        out += pack(f"<B{len(values)}{code}", 1, *values)


def _take(block: bytes, pos: int, code: str, count: int) -> tuple[Iterable[int], int]:
    size = _SIZES[code]
    if block[pos] == 0:
        return repeat(unpack_from(f"<{code}", block, pos + 1)[0], count), pos + 1 + size
    if block[pos] == 2:
        (first,) = unpack_from(f"<{code}", block, pos + 1)
        return range(first, first + count), pos + 1 + size
    pos += 1
    # In portions, so that a large block can be decoded in steps.
    whole = count // _PORTION * _PORTION
    portions = Layout(f"<{_PORTION}{code}").iter_unpack(memoryview(block)[pos : pos + size * whole])
    rest = unpack_from(f"<{count - whole}{code}", block, pos + size * whole)
    return chain(chain.from_iterable(portions), rest), pos + size * count
