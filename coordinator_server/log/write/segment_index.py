"""The index of a segment: one mark for about every 64 KiB, so that a reader starts near the offset or time that it looks for.

The active segment's marks are in memory. When it is sealed they are written to ``%020d.marks`` beside it:

    magic 8 | crc u32 | size i64 | end i64 | first_ms i64 | max_ms i64 | marks: (offset i64, position i64, max_ms i64)…

The file is a cache, and is never synced. If it is missing, torn, damaged, or does not fit the
segment's size, its first user makes it anew from the headers of the batches. Marks only say where
to begin to read: batches are verified from there on.

Times are Kafka's: the largest timestamp of a batch, in ms since 1970. Clocks may go back, so a mark
has the largest timestamp of all batches before it. If that is earlier than a time, the first record
at or after the time is not before the mark.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from struct import Struct as Layout
from typing import Final, NamedTuple

from crc32c import crc32c

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.file_names import marks_path
from coordinator_server.log.storage import Storage, read_file, write_all
from protocol.errors import DecodeError, Truncated
from protocol.record_batch import HEADER_TIMES, LENGTH_END, read_header

MARK_BYTES: Final = 64 * 1024
NO_TIME: Final = -1
_SCAN_BYTES: Final = 1 << 20
_MAGIC: Final = b"cMarks\0\1"
_HEAD: Final = Layout(">qqqq")
_CRC_END: Final = 12


class Mark(NamedTuple):
    """The batch at ``offset`` is at ``position``; ``max_ms`` is the largest timestamp before it."""

    offset: int
    position: int
    max_ms: int


Times = tuple[int, int]
"""The first batch's own timestamp, and the largest of all batches."""


class SegmentIndex:
    """The marks of a segment, or of its part from ``position`` on, as it is written."""

    __slots__ = ("_marks", "end", "first_ms", "max_ms", "size")

    def __init__(self, offset: int, position: int = 0) -> None:
        self.size = position
        self.end = offset
        self.first_ms = self.max_ms = NO_TIME
        self._marks = array("q")

    def add(self, batches: Iterable[tuple[int, int, Times]]) -> None:
        """Add batches: the bytes of each piece of them, the offset that comes next, and the times."""
        marks, size, end, largest_ms = self._marks, self.size, self.end, self.max_ms
        next_mark = marks[-2] + MARK_BYTES if marks else size
        for piece_bytes, next_offset, (first_ms, max_ms) in batches:
            if size >= next_mark:
                marks.extend((end, size, largest_ms))
                next_mark = size + MARK_BYTES
            if self.first_ms == NO_TIME:
                self.first_ms = first_ms
            largest_ms = max(largest_ms, max_ms)
            size += piece_bytes
            end = next_offset
        self.size, self.end, self.max_ms = size, end, largest_ms

    def before_offset(self, offset: int) -> Mark | None:
        """Return the last mark at or before ``offset``."""
        found = bisect_right(self._marks[0::3], offset)
        return self._mark(found - 1) if found else None

    def before_time(self, ms: int) -> Mark | None:
        """Return the last mark at or before the first record with the timestamp ``ms`` or a later one."""
        found = bisect_left(self._marks[2::3], ms)
        return self._mark(found - 1) if found else None

    def __add__(self, later: SegmentIndex) -> SegmentIndex:
        """Return the index of two parts of a segment, one after the other."""
        whole = SegmentIndex(later.end, later.size)
        whole.first_ms = self.first_ms if self.first_ms != NO_TIME else later.first_ms
        whole.max_ms = max(self.max_ms, later.max_ms)
        whole._marks = array("q", self._marks)
        for at in range(0, len(later._marks), 3):
            offset, position, max_ms = later._marks[at : at + 3]
            whole._marks.extend((offset, position, max(self.max_ms, max_ms)))
        return whole

    def encode(self) -> bytes:
        """Return the content of a marks file."""
        marks = Layout(f">{len(self._marks)}q").pack(*self._marks)
        body = _HEAD.pack(self.size, self.end, self.first_ms, self.max_ms) + marks
        crc: int = crc32c(body)
        return _MAGIC + crc.to_bytes(4, "big") + body

    def _mark(self, number: int) -> Mark:
        return Mark(*self._marks[3 * number : 3 * number + 3])


def decode_index(data: bytes) -> SegmentIndex | None:
    """Return the index in a marks file; None if the file is not whole."""
    body = data[_CRC_END:]
    if len(body) < _HEAD.size or (len(body) - _HEAD.size) % 24 or not data.startswith(_MAGIC):
        return None
    if crc32c(body) != int.from_bytes(data[len(_MAGIC) : _CRC_END], "big"):
        return None
    size, end, first_ms, max_ms = _HEAD.unpack_from(body)
    index = SegmentIndex(end, size)
    index.first_ms, index.max_ms = first_ms, max_ms
    index._marks.extend(Layout(f">{(len(body) - _HEAD.size) // 8}q").unpack_from(body, _HEAD.size))
    return index


def first_ms_of(data: bytes) -> int:
    """Return the base timestamp of the first batch."""
    return times_of(data[: HEADER_TIMES.size])[0] if len(data) >= HEADER_TIMES.size else NO_TIME


def times_of(data: bytes) -> Times:
    """Return the timestamps of whole batches, at least one."""
    length, first_ms, max_ms = HEADER_TIMES.unpack_from(data)
    position = LENGTH_END + length
    while position < len(data):
        length, _, batch_ms = HEADER_TIMES.unpack_from(data, position)
        max_ms = max(max_ms, batch_ms)
        position += LENGTH_END + length
    return first_ms, max_ms


def write_marks(storage: Storage, segment: str, index: SegmentIndex) -> None:
    """Write the marks of a sealed segment. A failure is ignored: they can be made again."""
    with suppress(OSError), closing(storage.open(marks_path(segment), create=True)) as file:
        data = index.encode()
        write_all(file, data, 0)
        if file.size() > len(data):
            file.truncate(len(data))


def read_marks(storage: Storage, segment: str) -> SegmentIndex | None:
    """Return the marks of a sealed segment; None if they are missing, damaged, or of another segment."""
    path = marks_path(segment)
    if not storage.exists(path):
        return None
    index = decode_index(read_file(storage, path))
    return index if index is not None and index.size == storage.size(segment) else None


def index_of_sealed(storage: Storage, segment: str, base: int) -> SegmentIndex:
    """Return the index of a sealed segment: from its marks, or else from its batches, whose marks are written then."""
    index = read_marks(storage, segment)
    if index is None:
        index = scan(storage, segment, base, storage.size(segment))
        write_marks(storage, segment, index)
    return index


def scan(storage: Storage, segment: str, base: int, size: int) -> SegmentIndex:
    """Make the index of a segment's first ``size`` bytes from the headers of its batches. DamagedLog where no batch begins."""
    index = SegmentIndex(base)
    index.add(_headers(storage, segment, base, size))
    return index


def _headers(storage: Storage, segment: str, offset: int, size: int) -> Iterator[tuple[int, int, Times]]:
    with closing(storage.open(segment)) as file:
        position, window, start = 0, b"", 0
        while position < size:
            try:
                header = read_header(window, position - start) if position >= start else None
            except Truncated:
                header = None
            except DecodeError as error:
                raise DamagedLog(segment, position, error.reason) from error
            if header is None:
                if start == position and window:
                    raise DamagedLog(segment, position, "the segment ends inside a batch")
                window, start = file.pread(min(_SCAN_BYTES, size - position), position), position
                if not window:
                    raise DamagedLog(segment, position, f"the segment was {size} bytes long")
                continue
            if position + header.size > size:
                raise DamagedLog(segment, position, "the segment ends inside a batch")
            if header.base_offset != offset:
                raise DamagedLog(segment, position, f"a batch at offset {header.base_offset} where {offset} comes next")
            position += header.size
            offset = header.next_offset
            yield header.size, offset, (header.base_timestamp, header.max_timestamp)
