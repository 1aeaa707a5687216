"""Fast reading of the first snapshot of each share partition from a batch's bytes, as encoded values.

A compacted log has hardly anything else, and maybe a million of them. Only *plain* records are read here: snapshots in version 0 of
share partitions that are not known yet, with a group id in ASCII. All others are left to the decoders, and the result is always the
same as theirs.

    record   size varint, attributes, timestamp delta varint, offset delta varint, key size varint, key, value size varint, value,
             headers

``share_state_records.py`` has the layouts of key and value. Neighbours of equal size and layout are a *run*,
which is read as columns.
"""

from __future__ import annotations

from collections.abc import KeysView
from functools import cache
from struct import Struct as Layout
from typing import Final, NamedTuple

from protocol.share_state_records import BATCHES_AT, SNAPSHOT_TYPE
from protocol.share_state_rows import ROW_BYTES

_KEY_BYTES: Final = 2 + 2 + 16 + 4
"""A key without its group id: type, size of the group id, topic id, partition."""
_NO_TAGS: Final = b"\0"
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

    @property
    def size(self) -> int:
        """The bytes of the record."""
        return self.stop - self.start


class _NotPlain(Exception):
    """The decoders must read the record, or refuse it."""


class PlainSnapshots:
    """Reads plain records of one batch. ``known`` are the names of the share partitions that have a state."""

    __slots__ = ("_data", "_end", "_known", "_last_delta", "_plain_prefix", "found")

    def __init__(self, known: KeysView[bytes], data: bytes, end: int, last_delta: int) -> None:
        self._known = known
        self._data = data
        self._end = end
        self._last_delta = last_delta
        # The last key without its partition that was found to be plain: that of the next record is often the same.
        self._plain_prefix = b""
        # The values of snapshots, by name.
        self.found: dict[bytes, bytes] = {}

    def read(self, pos: int) -> int:
        """Read plain records from ``pos`` on into ``found``. Return the position after them."""
        # After a run in which a record is not plain, its other records are read one by one.
        no_run_before = pos
        while pos < self._end:
            try:
                shape = self._shape_at(pos)
                self._take(shape)
            except (_NotPlain, IndexError):
                # If the record exceeds the data, the regular decoder, which reads it next, reports that.
                return pos
            pos = shape.stop
            if shape.batches > _MOST_BATCHES_OF_RUN or pos < no_run_before:
                continue
            while length := _alike_from(self._data, shape, pos, self._end):
                taken = self._run(shape, pos, length)
                if not taken:
                    no_run_before = pos + length * shape.size
                pos += taken * shape.size
                if taken < _LONGEST_RUN:
                    break
        return pos

    def _shape_at(self, start: int) -> _Shape:
        """Return the shape of the record at ``start``. Raises _NotPlain and IndexError."""
        data = self._data
        size, attributes_at = _number(data, start)
        stop = attributes_at + size
        time_at = delta_at = attributes_at + 1
        while data[delta_at] >= _TWO_BYTES_FROM:
            delta_at += 1
        delta_at += 1
        delta, key_size_at = _number(data, delta_at)
        size, key_at = _number(data, key_size_at)
        key_end = key_at + size
        size, value_at = _number(data, key_end)
        value_end = value_at + size
        if delta_at - time_at > _LONGEST_TIME or delta > self._last_delta or stop > self._end:
            raise _NotPlain
        # Headers, if any, follow the value. They do not affect the state.
        if value_end >= stop or (value_end + 1 != stop and not data[value_end]):
            raise _NotPlain
        batches = data[value_at + BATCHES_AT] - 1
        return _Shape(start, time_at, delta_at, key_size_at, key_at, key_end, value_at, value_end, stop, batches)

    def _take(self, shape: _Shape) -> None:
        """Put the first record of a shape into ``found``. Raises _NotPlain and IndexError."""
        data, value_at, batches = self._data, shape.value, shape.batches
        prefix = data[shape.key : shape.key_end - 4]
        name = data[shape.key + 2 : shape.key_end]
        if (prefix != self._plain_prefix and not _is_plain(prefix)) or name in self.found or name in self._known:
            raise _NotPlain
        self._plain_prefix = prefix
        # The value is as long as its number of batches and its tags say.
        tags_at = value_at + BATCHES_AT + 1 + ROW_BYTES * batches
        tags = data[tags_at : shape.value_end]
        if data[value_at] or data[value_at + 1] or not 0 <= batches <= _MOST_BATCHES:
            raise _NotPlain
        if tags != _NO_TAGS and not (len(tags) == _WITH_COMPLETE_COUNT and tags.startswith(_COMPLETE_COUNT)):
            raise _NotPlain
        if data[value_at + BATCHES_AT + ROW_BYTES : tags_at : ROW_BYTES].count(0) != batches:
            raise _NotPlain
        self.found[name] = data[value_at : shape.value_end]

    def _run(self, shape: _Shape, begin: int, length: int) -> int:
        """Take records from ``begin`` on that have a shape, as long as they are plain, at most ``length``. Return their number."""
        data, found = self._data, self.found
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
        new = dict(zip(names, values, strict=True))
        if not (_are_varints(times) and _are_deltas(deltas, self._last_delta)) or len(new) < length:
            return 0
        if not (found.keys().isdisjoint(new) and self._known.isdisjoint(new)):
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
    size = shape.size
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
    """Return how many of the first ``length`` rows have the value, up to the first with a different one."""
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
    """Return whether values of equal size are snapshots with this number of batches, and with the tags that make up the rest."""
    tags_at = BATCHES_AT + 1 + ROW_BYTES * batches
    tags = _NO_TAGS if size == tags_at + 1 else _COMPLETE_COUNT
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


def _number(data: bytes, pos: int) -> tuple[int, int]:
    """Return the number in a signed varint of one or two bytes that is not negative, and the position after it.

    Raises _NotPlain.
    """
    number, pos = data[pos], pos + 1
    if number >= _TWO_BYTES_FROM:
        second, pos = data[pos], pos + 1
        if second >= _TWO_BYTES_FROM:
            raise _NotPlain
        number = number & 0x7F | second << 7
    if number & 1:
        raise _NotPlain
    return number >> 1, pos
