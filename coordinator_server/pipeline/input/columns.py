"""Record batches as columns: the positions of all records, keys and values of a file, found with numpy.

Batches are visited one by one (a few instructions each), and their headers become one structured array. The records of a batch
must be found one after another, but batches are independent: so the k-th records of all batches are found together. When only few
batches have more records, these are read one by one. All fields of the records are then decoded for all records at once.

A file that is not plain (other attributes than the caller's, damage, a varint longer than necessary, a record without a key)
raises Irregular. The reference engine then reads the same files, and either does the work or reports what is wrong and where.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from pathlib import Path
from struct import Struct as Layout
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from crc32c import crc32c
from numpy.typing import NDArray

from protocol.record_batch import CHECKED_FROM, HEADER_OFFSETS, HEADER_SIZE, LENGTH_END, MAGIC, MIN_RECORD

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]

HEADER: Final = np.dtype(
    [
        ("base_offset", ">i8"),
        ("length", ">i4"),
        ("epoch", ">i4"),
        ("magic", "i1"),
        ("crc", ">u4"),
        ("attributes", ">i2"),
        ("last_delta", ">i4"),
        ("base_timestamp", ">i8"),
        ("max_timestamp", ">i8"),
        ("producer_id", ">i8"),
        ("producer_epoch", ">i2"),
        ("base_sequence", ">i4"),
        ("count", ">i4"),
    ]
)
# With fewer batches than this, plain Python is faster than numpy.
NARROW: Final = 48
_LENGTH: Final = Layout(">8xi")


class Irregular(Exception):
    """A file is not plain; only the reference engine can read it, or report its damage."""


class Columns:
    """The records of one file: positions in ``data``, and decoded fields. All arrays have one element per record, in file order."""

    __slots__ = ("data", "end", "epoch", "key_end", "key_start", "offset", "tail_start", "timestamp", "value_end", "value_size")

    def __init__(self, data: Bytes, **columns: Ints) -> None:
        self.data = data
        self.offset = columns["offset"]
        self.timestamp = columns["timestamp"]
        self.epoch = columns["epoch"]
        self.tail_start = columns["tail_start"]  # of the key's length; no byte from here on depends on the batch
        self.key_start = columns["key_start"]
        self.key_end = columns["key_end"]
        self.value_size = columns["value_size"]  # -1: a tombstone
        self.value_end = columns["value_end"]
        self.end = columns["end"]

    def __len__(self) -> int:
        return len(self.offset)

    def take(self, rows: Any) -> Columns:
        """Return the given rows. They share ``data``."""
        names = (name for name in self.__slots__ if name != "data")
        return Columns(self.data, **{name: getattr(self, name)[rows] for name in names})

    def keys(self) -> pa.Array:
        """Return the keys."""
        return slices(self.data, self.key_start, self.key_end)

    def keys_and_values(self) -> pa.Array:
        """Return the encoded keys and values, with their lengths."""
        return slices(self.data, self.tail_start, self.value_end)

    def tails(self) -> pa.Array:
        """Return the encoded keys, values and headers, with their lengths."""
        return slices(self.data, self.tail_start, self.end)


class BatchColumns(NamedTuple):
    """The records of one file, and the headers and positions of its batches."""

    records: Columns
    headers: NDArray[Any]
    starts: Ints

    def take(self, batches: NDArray[np.bool_]) -> BatchColumns:
        """Return the chosen batches with their records."""
        records = self.records.take(np.repeat(batches, self.headers["count"]))
        return BatchColumns(records, self.headers[batches], self.starts[batches])


def map_file(path: Path) -> Bytes:
    """Map a file: bytes are read when they are first used."""
    with path.open("rb") as file:
        if not path.stat().st_size:
            return np.empty(0, np.uint8)
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)


def batches_before(data: Bytes, end_offset: int) -> Bytes:
    """Return the batches up to the one that ends at ``end_offset``. What a server may be writing behind them is not read."""
    position, view = 0, data.data
    while position + HEADER_SIZE <= len(data):
        base, length, last_delta = HEADER_OFFSETS.unpack_from(view, position)
        position += LENGTH_END + max(length, HEADER_SIZE - LENGTH_END)
        if base + last_delta + 1 >= end_offset:
            break
    return data[:position]


def read_columns(data: Bytes, first_offset: int | None, end_offset: int) -> Columns:
    """Return all records of a file. Raises Irregular.

    With ``first_offset`` the batches must have every offset from there up to ``end_offset``; without, they must ascend below it.
    """
    return read_batch_columns(data, first_offset, end_offset, (0,)).records


def read_batch_columns(data: Bytes, first_offset: int | None, end_offset: int, attributes: Sequence[int]) -> BatchColumns:
    """Do the same for a file with batches of the given attributes, and return their headers, too. Raises Irregular."""
    starts = batch_starts(data)
    if not len(starts):
        if first_offset is not None and first_offset != end_offset:
            raise Irregular("an empty file")
        return BatchColumns(_no_records(data), np.empty(0, HEADER), starts)
    headers = np.lib.stride_tricks.sliding_window_view(data, HEADER_SIZE)[starts].view(HEADER)[:, 0]
    if not np.isin(headers["attributes"], attributes).all():
        raise Irregular("a batch with other attributes")
    _check_headers(headers, first_offset, end_offset)
    _check_crcs(data, starts, headers)
    counts = headers["count"].astype(np.int64)
    try:
        body, end = _boundaries(data, starts, starts + LENGTH_END + headers["length"], counts)
        return BatchColumns(_decode(data, body, end, headers), headers, starts)
    except IndexError:
        raise Irregular("a record runs over the end of the file") from None


def slices(data: Bytes, start: Ints, end: Ints) -> pa.Array:
    """Return ``data[start:end]`` of every row, as Arrow binaries. Rows ascend and do not overlap."""
    edges = np.empty(2 * len(start) + 1, np.int64)
    edges[:-1:2] = start
    edges[1::2] = end
    edges[-1] = end[-1] if len(end) else 0
    # A zero-copy array in which every other element is a gap between two rows.
    alternating = pa.Array.from_buffers(pa.large_binary(), 2 * len(start), [None, pa.py_buffer(edges), pa.py_buffer(data)])
    return alternating.take(pa.array(np.arange(0, 2 * len(start), 2)))


def zigzag(data: Bytes, at: Ints) -> tuple[Ints, Ints]:
    """Decode the zig-zag varints at the given positions. Return their values and the positions after them."""
    byte = data[at]
    bits = (byte & 0x7F).astype(np.uint64)
    after = at + 1
    more = np.flatnonzero(byte & 0x80)
    shift = 7
    while more.size:
        if shift > 63:
            raise Irregular("a varint of more than ten bytes")
        byte = data[after[more]]
        bits[more] |= (byte & 0x7F).astype(np.uint64) << np.uint64(shift)
        after[more] += 1
        more = more[byte >= 0x80]
        shift += 7
    return (bits >> np.uint64(1)).astype(np.int64) ^ -(bits & np.uint64(1)).astype(np.int64), after


def batch_starts(data: Bytes) -> Ints:
    """Return where the batches of a file start. Raises Irregular."""
    starts: list[int] = []
    position, end = 0, len(data)
    view = data.data
    while position + HEADER_SIZE <= end:
        starts.append(position)
        length = _LENGTH.unpack_from(view, position)[0]
        if length < HEADER_SIZE - LENGTH_END:
            raise Irregular("a batch shorter than its header")
        position += LENGTH_END + length
    if position != end:
        raise Irregular("the last batch is not whole")
    return np.array(starts, np.int64)


def _check_headers(headers: NDArray[Any], first_offset: int | None, end_offset: int) -> None:
    base = headers["base_offset"].astype(np.int64)
    after = base + headers["last_delta"] + 1
    room = (headers["length"].astype(np.int64) + LENGTH_END - HEADER_SIZE) // MIN_RECORD
    gaps = base[1:] - after[:-1]
    plain = (
        (headers["magic"] == MAGIC).all()
        and (base >= 0).all()
        and (headers["last_delta"] >= 0).all()
        and (headers["count"] >= 0).all()
        and (headers["count"] <= room).all()
        and (gaps >= 0).all()
        and after[-1] <= end_offset
    )
    if not plain or (first_offset is not None and (gaps.any() or base[0] != first_offset or after[-1] != end_offset)):
        raise Irregular("a header that is not plain, or offsets that do not follow each other")


def _check_crcs(data: Bytes, starts: Ints, headers: NDArray[Any]) -> None:
    view = data.data
    ends = (starts + LENGTH_END + headers["length"]).tolist()
    for start, end, crc in zip(starts.tolist(), ends, headers["crc"].tolist(), strict=True):
        if crc32c(view[start + CHECKED_FROM : end]) != crc:
            raise Irregular("a checksum that does not hold")


def _boundaries(data: Bytes, starts: Ints, ends: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Return where the body of each record starts, after its length, and where it ends."""
    total = int(counts.sum())
    body, end = np.empty(total, np.int64), np.empty(total, np.int64)
    first = np.cumsum(counts) - counts
    if (ends[counts == 0] != starts[counts == 0] + HEADER_SIZE).any():
        raise Irregular("bytes in a batch without records")
    live = np.flatnonzero(counts)
    position = starts[live] + HEADER_SIZE
    done = 0
    while len(live) >= NARROW:
        size, after = zigzag(data, position)
        if (size < 0).any():
            raise Irregular("a record of negative size")
        position = after + size
        rows = first[live] + done
        body[rows], end[rows] = after, position
        done += 1
        more = counts[live] > done
        if not more.all():
            _check_ends(position[~more], ends[live[~more]])
            live, position = live[more], position[more]
    for batch, at in zip(live.tolist(), position.tolist(), strict=True):
        span = slice(int(first[batch]) + done, int(first[batch] + counts[batch]))
        at = _walk(data, at, body[span], end[span])
        _check_ends(np.array([at]), ends[batch : batch + 1])
    return body, end


def _walk(data: Bytes, at: int, body: Ints, end: Ints) -> int:
    """Find the records of one batch from ``at`` on, in plain Python. Return the position after them."""
    view = data.data
    for row in range(len(body)):
        byte = view[at]
        at += 1
        bits, shift = byte & 0x7F, 7
        while byte >= 0x80:
            byte = view[at]
            at += 1
            bits |= (byte & 0x7F) << shift
            shift += 7
        if bits & 1 or shift > 35:
            raise Irregular("a record of negative or absurd size")
        body[row] = at
        at += bits >> 1
        end[row] = at
    return at


def _check_ends(found: Ints, stated: Ints) -> None:
    if (found != stated).any():
        raise Irregular("records that do not end where their batch does")


def _decode(data: Bytes, body: Ints, end: Ints, headers: NDArray[Any]) -> Columns:
    """Decode all records between the given boundaries."""
    if not len(body):
        return _no_records(data)
    counts = headers["count"]
    timestamp_delta, at = zigzag(data, body + 1)
    offset_delta, tail_start = zigzag(data, at)
    key_size, key_start = zigzag(data, tail_start)
    key_end = key_start + key_size
    value_size, value_start = zigzag(data, key_end)
    value_end = value_start + np.maximum(value_size, 0)
    header_count = data[value_end]
    plain = (
        (body <= tail_start).all()
        and (key_size >= 0).all()
        and (value_size >= -1).all()
        and (value_end < end).all()
        and ((header_count != 0) == (value_end + 1 < end)).all()
        and _is_shortest(data, tail_start, key_start)
        and _is_shortest(data, key_end, value_start)
        and (offset_delta >= 0).all()
        and (offset_delta <= np.repeat(headers["last_delta"], counts)).all()
    )
    if not plain:
        raise Irregular("a record that is not plain")
    return Columns(
        data,
        offset=np.repeat(headers["base_offset"].astype(np.int64), counts) + offset_delta,
        timestamp=np.repeat(headers["base_timestamp"].astype(np.int64), counts) + timestamp_delta,
        epoch=np.repeat(headers["epoch"].astype(np.int64), counts),
        tail_start=tail_start,
        key_start=key_start,
        key_end=key_end,
        value_size=value_size,
        value_end=value_end,
        end=end,
    )


def _is_shortest(data: Bytes, start: Ints, after: Ints) -> bool:
    """Return whether no varint has a superfluous last byte of zero."""
    return not ((after - start > 1) & (data[after - 1] == 0)).any()


def _no_records(data: Bytes) -> Columns:
    names = (name for name in Columns.__slots__ if name != "data")
    return Columns(data, **{name: np.empty(0, np.int64) for name in names})
