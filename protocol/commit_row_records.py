"""Fast encoding of the OffsetCommit records of plain commits: those of one group and topic, always for the same partitions.

A connection's commits differ in offsets, epochs and time alone. What is the same in all of them is encoded once:

    front    size, attributes, timestamp delta 0 and offset delta
    middle   key size, key, value size and value version: once for each partition
    row      offset and epoch, unchanged from the request (``commit_rows``)
    tail     no metadata, timestamp, topic id, headers, and the size of the next record: one object for all records but two

They are the bytes of ``CommitLayout.encode_partitions``; a test compares both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from struct import Struct as Layout
from typing import Final

from protocol.batch_builder import NO_HEADERS, VARINTS, varint
from protocol.commit_records import COMMITTED_SIZE, EMPTY, FRONTS, PARTITION_SIZE, TAIL, CommitLayout, front, size_of
from protocol.commit_rows import ROW_BYTES, Partitions

# Maximum bytes of keys that are kept encoded, about 50 partitions with names of usual length. More rows, or rows with longer names,
# are encoded by columns, which keeps nothing, and is as fast from about 100 rows on.
_MOST_KEPT_BYTES: Final = 2048
_PARTS: Final = 4
# The first and second bytes of all two-byte varints of deltas.
_ONE_BYTE_DELTAS: Final = 64
_TWO_BYTE_DELTAS: Final = 8192
_LOW: Final = bytes([delta << 1 & 0x7F | 0x80 for delta in range(_ONE_BYTE_DELTAS, _TWO_BYTE_DELTAS)])
_HIGH: Final = bytes([delta >> 6 for delta in range(_ONE_BYTE_DELTAS, _TWO_BYTE_DELTAS)])
_ONE: Final = bytes(range(0, 2 * _ONE_BYTE_DELTAS, 2))
# The offset deltas from which on one takes a byte more.
_GROWS_AT: Final = tuple([1 << bits for bits in (6, 13, 20, 27)])


class RowsLayout:
    """The encoding of the records of one group, topic and set of partitions."""

    __slots__ = ("_count", "_layout", "_middle", "_parts", "_unpack")

    def __init__(self, layout: CommitLayout, partitions: Partitions) -> None:
        self._layout = layout
        self._count = count = partitions.count
        self._middle = b""
        # Front, middle, row and tail of each record, of which only the middles are filled in. None if they are too large.
        self._parts: list[bytes] = []
        self._unpack: Callable[[bytes], tuple[bytes, ...]] | None = None
        if count * len(layout.prefix) <= _MOST_KEPT_BYTES or count == 1:
            middles = [layout.prefix + key + layout.value_start for key in partitions.encoded()]
            self._middle = middles[0]
            self._parts = [b""] * (_PARTS * count)
            self._parts[1::_PARTS] = middles
            self._unpack = _committed(count).unpack

    def encode(self, rows: bytes, delta: int, timestamp_ms: int, headers: bytes = NO_HEADERS) -> bytes:
        """Return one record for each row. The first has the offset delta ``delta``, and ``headers``."""
        layout, count = self._layout, self._count
        tail = TAIL.pack(EMPTY, timestamp_ms) + layout.tags
        if count == 1:
            first = FRONTS[delta] if delta < len(FRONTS) else front(delta)
            size = layout.size - 2 + len(first) + len(headers)
            sized = VARINTS[size] if size < len(VARINTS) else varint(size)
            return b"".join((sized, first, self._middle, rows[PARTITION_SIZE:_ROW_END], tail, headers))
        end = delta + count
        width, last_width = len(front(delta)), len(front(end - 1))
        # The number of records before the size of the offset delta changes, or all.
        cut = count if width == last_width else next(at for at in _GROWS_AT if at > delta) - delta
        if self._unpack is None:
            cut_at = cut * ROW_BYTES
            fewer = self._encode_columns(rows[:cut_at], delta, tail, headers)
            return fewer if cut == count else fewer + self._encode_columns(rows[cut_at:], delta + cut, tail, NO_HEADERS)
        size = layout.size - 2 + width
        behind = tail + NO_HEADERS
        tails = [behind + size_of(size + len(NO_HEADERS))] * count
        if cut < count:
            tails[cut - 1 :] = [behind + size_of(size + 1 + len(NO_HEADERS))] * (count - cut + 1)
        tails[0] = tail + headers + tails[0][len(behind) :]
        tails[-1] = behind
        parts = self._parts.copy()
        parts[::_PARTS] = FRONTS[delta:end] if end <= len(FRONTS) else [front(each) for each in range(delta, end)]
        parts[2::_PARTS] = self._unpack(rows)
        parts[3::_PARTS] = tails
        return size_of(size + len(headers)) + b"".join(parts)

    def _encode_columns(self, rows: bytes, delta: int, tail: bytes, headers: bytes) -> bytes:
        """Return records whose offset deltas have one size, filled in by columns: a column is one byte of each record."""
        count, prefix, value_start = len(rows) // ROW_BYTES, self._layout.prefix, self._layout.value_start
        width = len(front(delta))
        size = self._layout.size - 2 + width
        between = size_of(size + len(NO_HEADERS))
        one = b"".join(
            (between, bytes(width), prefix, bytes(PARTITION_SIZE), value_start, bytes(COMMITTED_SIZE), tail, NO_HEADERS)
        )
        out = bytearray(one) * count
        step, delta_at = len(one), len(between) + 2
        for place, column in enumerate(_delta_columns(delta, count, width - 2), delta_at):
            out[place::step] = column
        partition_at = len(between) + width + len(prefix)
        for place in range(PARTITION_SIZE):
            out[partition_at + place :: step] = rows[place::ROW_BYTES]
        committed_at = partition_at + len(value_start)
        for place in range(PARTITION_SIZE, _ROW_END):
            out[committed_at + place :: step] = rows[place::ROW_BYTES]
        if headers != NO_HEADERS:
            out[:step] = size_of(size + len(headers)) + bytes(out[len(between) : step - len(NO_HEADERS)]) + headers
        return bytes(out)


# Where what is committed ends in a row.
_ROW_END: Final = PARTITION_SIZE + COMMITTED_SIZE


@cache
def _committed(count: int) -> Layout:
    """Return the layout of ``count`` rows that gives offset and epoch of each as bytes."""
    return Layout(">" + count * f"{PARTITION_SIZE}x{COMMITTED_SIZE}s{ROW_BYTES - _ROW_END}x")


def _delta_columns(delta: int, count: int, width: int) -> Sequence[bytes]:
    """Return the first bytes of ``count`` offset deltas, all of ``width`` bytes, then the second bytes, and so on."""
    if width == 1:
        return (_ONE[delta : delta + count],)
    if width == 2:
        start = delta - _ONE_BYTE_DELTAS
        return _LOW[start : start + count], _HIGH[start : start + count]
    return [bytes(column) for column in zip(*[varint(each) for each in range(delta, delta + count)], strict=True)]
