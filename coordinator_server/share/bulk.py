"""Fast replay of the first snapshot of each share partition from a batch's bytes, which stay encoded until their first use.

A compacted log has hardly anything else, and maybe a million of them. Only *plain* records are read here: snapshots in version 0 of
share partitions that are not known yet, with a group id in ASCII. All others are left to the decoders and ``ShareShard.replay``, and
the result is always the same as theirs.

    record   size varint, attributes, timestamp delta varint, offset delta varint, key size varint, key, value size varint, value, headers

``encoding.py`` has the layouts of key and value. Neighbours of equal size and layout are a *run*, which is read as columns.
"""

from __future__ import annotations

from functools import cache
from struct import Struct as Layout
from typing import Final, NamedTuple

from coordinator_server.share.encoding import BATCHES_AT, SNAPSHOT_TYPE
from coordinator_server.share.partitions import SharePartitions
from coordinator_server.share.share_partition import SharePartition
from coordinator_server.share.state_rows import ROW_BYTES

_KEY_BYTES: Final = 2 + 2 + 16 + 4
"""A key without its group id: type, size of the group id, topic id, partition."""
_COMPLETE_COUNT: Final = b"\1\0\4"
"""The tags with the delivery complete count, whose four bytes follow."""
_WITH_COMPLETE_COUNT: Final = 7
_MOST_BATCHES: Final = 126
"""The largest number of batches whose count takes one byte."""


_TWO_BYTES_FROM: Final = 0x80
_LONGEST_TIME: Final = 8
_SHORTEST_RUN: Final = 4
_LONGEST_RUN: Final = 512
_MOST_BATCHES_OF_RUN: Final = 8
# The columns of a run that have the same bytes in each record: the size with the attributes, and the other three.
_HEAD, _KEY_SIZE, _VALUE_SIZE, _TAIL = 0, 3, 5, 7
_EVEN: Final = bytes(range(0, 256, 2))
"""The first bytes of varints of numbers that are not negative."""
_MORE: Final = bytes(range(0x80, 0x100))
"""The bytes of varints that are not the last one."""


class _Shape(NamedTuple):
    """The positions of the parts of a plain record in the data, and the number of its batches."""

    start: int
    time: int
    delta: int
    key_size: int
    key: int
    key_end: int
    value: int
    value_end: int
    stop: int
    batches: int


class SnapshotReplay:
    """The fast replay of plain records. No snapshot of the timeline may be open."""

    __slots__ = ("_partitions",)

    def __init__(self, partitions: SharePartitions) -> None:
        self._partitions = partitions

    def replay(self, data: bytes, pos: int, end: int, base_offset: int, last_delta: int) -> tuple[int, int]:
        """Replay plain records; see ``PlainRecords``."""
        found: dict[bytes, SharePartition | bytes] = {}
        behind = self._read(found, data, pos, end, last_delta)
        self._partitions.fill_encoded(found)
        return behind, len(found)

    def _read(self, found: dict[bytes, SharePartition | bytes], data: bytes, pos: int, end: int, last_delta: int) -> int:  # noqa: C901, PLR0912, PLR0915 - read in place
        """Put plain records into ``found``, by name. Return the position after them. Varints of one byte are read in place."""
        known = self._partitions.known
        # The key without its partition: that of the next record is often the same.
        prefix = b""
        start = pos
        # After a run in which a record is not plain, its other records are read one by one.
        no_run_before = pos
        try:
            while pos < end:
                start = pos
                size, pos = data[pos], pos + 1
                if size >= 0x80:
                    size, pos = _two_bytes(data, start)
                stop = pos + (size >> 1)
                pos = time_at = pos + 1
                while data[pos] >= 0x80:
                    pos += 1
                if pos - time_at > _LONGEST_TIME:
                    return start
                delta, pos = data[pos + 1], pos + 2
                if delta >= 0x80:
                    delta, pos = _two_bytes(data, pos - 1)
                if size & 1 or delta & 1 or delta >> 1 > last_delta or stop > end:
                    return start
                size, key_at = data[pos], pos + 1
                if size >= 0x80:
                    size, key_at = _two_bytes(data, pos)
                key_end = key_at + (size >> 1)
                if size & 1 or (data[key_at : key_end - 4] != prefix and not _is_plain(prefix := data[key_at : key_end - 4])):
                    return start
                name = data[key_at + 2 : key_end]
                if name in found or name in known:
                    return start
                size, value_at = data[key_end], key_end + 1
                if size >= 0x80:
                    size, value_at = _two_bytes(data, key_end)
                value_end = value_at + (size >> 1)
                # Headers, if any, follow the value. They do not affect the state.
                if size & 1 or value_end >= stop or (value_end + 1 != stop and not data[value_end]):
                    return start
                # The value is as long as its number of batches and its tags say.
                batches = data[value_at + BATCHES_AT] - 1
                tags_at = value_at + BATCHES_AT + 1 + ROW_BYTES * batches
                rest = value_end - tags_at
                if data[value_at] or data[value_at + 1] or not 0 <= batches <= _MOST_BATCHES:
                    return start
                if rest == _WITH_COMPLETE_COUNT:
                    if not data.startswith(_COMPLETE_COUNT, tags_at):
                        return start
                elif rest != 1 or data[tags_at]:
                    return start
                if batches and data[value_at + BATCHES_AT + ROW_BYTES : tags_at : ROW_BYTES].count(0) != batches:
                    return start
                found[name] = data[value_at:value_end]
                if batches <= _MOST_BATCHES_OF_RUN and stop >= no_run_before:
                    delta_at = pos - (1 if delta < _TWO_BYTES_FROM else 2)
                    shape = _Shape(start, time_at, delta_at, pos, key_at, key_end, value_at, value_end, stop, batches)
                    while length := _alike_from(data, shape, stop, end):
                        taken = self._run(found, data, shape, stop, length, last_delta)
                        if not taken:
                            no_run_before = stop + length * (shape.stop - start)
                        stop += taken * (shape.stop - start)
                        if taken < _LONGEST_RUN:
                            break
                start = pos = stop
        except IndexError:
            # The record exceeds the data. The regular decoder, which reads it next, reports that.
            return start
        return start

    def _run(
        self, found: dict[bytes, SharePartition | bytes], data: bytes, shape: _Shape, begin: int, length: int, last_delta: int
    ) -> int:
        """Put records from ``begin`` on into ``found`` that have a shape, as long as they are plain, at most so many. Return their number."""
        start, time_at, delta_at, key_size_at, key_at, key_end, value_at, value_end, stop, batches = shape
        size, value_size = stop - start, value_end - value_at
        layout = _layout(
            time_at - start,
            delta_at - time_at,
            key_size_at - delta_at,
            key_at + 2 - key_size_at,
            key_end - key_at - 2,
            value_at - key_end,
            value_size,
            stop - value_end,
        )
        columns = list(zip(*layout.iter_unpack(data[begin : begin + length * size]), strict=True))
        first = layout.unpack_from(data, start)
        # Of these columns, all rows are those of the first record.
        for place in (_HEAD, _KEY_SIZE, _VALUE_SIZE, _TAIL):
            length = _alike(columns[place], first[place], length)
        if length == 0:
            return 0
        _, times, deltas, _, names, _, values, _ = columns if length == len(columns[0]) else [each[:length] for each in columns]
        new: dict[bytes, SharePartition | bytes] = dict(zip(names, values, strict=True))
        if not (_are_varints(times) and _are_deltas(deltas, last_delta)) or len(new) < length:
            return 0
        if not (found.keys().isdisjoint(new) and self._partitions.known.isdisjoint(new)):
            return 0
        # If the first and the last in order have the same prefix, all have it.
        first_prefix, last_prefix = min(names)[:-4], max(names)[:-4]
        prefixes = {first_prefix} if first_prefix == last_prefix else {name[:-4] for name in names}
        if not all(_is_plain(SNAPSHOT_TYPE + prefix) for prefix in prefixes):
            return 0
        if not _are_snapshots(b"".join(values), length, value_size, batches):
            return 0
        found.update(new)
        return length


_layout: Final = cache(lambda *sizes: Layout("".join(f"{size}s" for size in sizes)))


def _alike_from(data: bytes, shape: _Shape, begin: int, end: int) -> int:
    """Return how many records from ``begin`` on seem to have the size of one; 0 if they are too few for a run."""
    size = shape.stop - shape.start
    head = data[shape.start : shape.time]
    low, high = 0, min((end - begin) // size, _LONGEST_RUN)
    guess = high
    while low < high:
        if data.startswith(head, begin + (guess - 1) * size):
            low = guess
        else:
            high = guess - 1
        guess = (low + high + 1) // 2
    return low if low >= _SHORTEST_RUN else 0


def _alike(column: tuple[bytes, ...], value: bytes, length: int) -> int:
    """Return how many of the first ``length`` rows have the value, up to the first that has another one."""
    if column.count(value) == len(column):
        return length
    return next((place for place, each in enumerate(column[:length]) if each != value), length)


def _are_varints(column: tuple[bytes, ...]) -> bool:
    """Return whether all rows, which are of equal size, are varints."""
    joined, size = b"".join(column), len(column[0])
    return joined[size - 1 :: size].isascii() and not any(joined[place::size].translate(None, _MORE) for place in range(size - 1))


def _are_deltas(column: tuple[bytes, ...], last_delta: int) -> bool:
    """Return whether all rows, which are of equal size of at most two bytes, are varints of numbers from 0 to ``last_delta``."""
    joined, size = b"".join(column), len(column[0])
    if joined[::size].translate(None, _EVEN) or not _are_varints(column):
        return False
    if size == 1:
        return max(joined) >> 1 <= last_delta
    most = max(joined[1::2])
    return (most << 7 | 0x7F) >> 1 <= last_delta or max([low & 0x7F | high << 7 for low, high in column]) >> 1 <= last_delta


def _are_snapshots(joined: bytes, length: int, size: int, batches: int) -> bool:
    """Return whether values of equal size are snapshots with so many batches, and with the tags that make up the rest."""
    tags_at = BATCHES_AT + 1 + ROW_BYTES * batches
    tags = b"\0" if size == tags_at + 1 else _COMPLETE_COUNT
    constant = {0: 0, 1: 0, BATCHES_AT: batches + 1}
    constant |= dict.fromkeys(range(BATCHES_AT + ROW_BYTES, tags_at, ROW_BYTES), 0)
    constant |= dict(enumerate(tags, tags_at))
    return all(joined[place::size].count(byte) == length for place, byte in constant.items())


def _is_plain(prefix: bytes) -> bool:
    """Return whether a key without its partition is a snapshot's, as long as its group id says, which is ASCII."""
    size = len(prefix) - _KEY_BYTES + 4
    return (
        size >= 0 and prefix.startswith(SNAPSHOT_TYPE) and int.from_bytes(prefix[2:4]) == size and prefix[4 : size + 4].isascii()
    )


def _two_bytes(data: bytes, pos: int) -> tuple[int, int]:
    """Return the number in a varint of two bytes, and the position after it. A longer one raises IndexError: it is not plain."""
    second = data[pos + 1]
    if second >= 0x80:
        raise IndexError
    return data[pos] & 0x7F | second << 7, pos + 2
