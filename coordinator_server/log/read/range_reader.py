"""Read a shard's log range by range, as Fetch does: whole batches, unchanged, with one read of a file or few.

A reader asks for the next range with the offset at which the last one ended. The file and the
position of that offset are cached, so that it need not be searched for. No file is held between two
ranges: when retention has removed one, the offset is searched for anew. Batches are not verified
here, because the client verifies their checksums.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from typing import Final, NamedTuple

from coordinator_server.log.errors import DamagedLog, Unavailable
from coordinator_server.log.file_names import segment_path
from coordinator_server.log.read.shard_reader import layer_from
from coordinator_server.log.shards import ShardId
from coordinator_server.log.storage import File, Storage
from coordinator_server.log.store import Batches, ReadRange
from coordinator_server.log.write.segments import Segments, ShardLog
from protocol.record_batch import HEADER_OFFSETS, HEADER_SIZE, LENGTH_END

CACHED_POSITIONS: Final = 1_000  # maximum number of cached read positions
_SCAN_BYTES: Final = 256 * 1024
_TRIES: Final = 5


class FilePosition(NamedTuple):
    """A position in a file where a batch begins, or the file ends. A layer replaces all offsets before ``begin``."""

    path: str
    position: int
    begin: int = 0


class RangeReader:
    """The reads of one thread. A range ends where its file ends, so it may be shorter than what was asked for."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._positions: OrderedDict[tuple[ShardId, int], FilePosition] = OrderedDict()

    def read(self, log: ShardLog, wanted: ReadRange) -> Batches:
        """Return the batches of a range. Raise DamagedLog for bytes that are no batch, Unavailable if a file cannot be read."""
        from_offset = wanted.from_offset
        key = log.shard, from_offset
        known = self._positions.pop(key, None)
        for _ in range(_TRIES):
            try:
                segments = log.segments()
                positions = _positions(self._storage, log, segments, from_offset)
                for at in chain([known], positions) if known is not None else positions:
                    found = self._read_file(log, segments, at, wanted)
                    if found is not None:
                        return found
            except FileNotFoundError:
                known = None
                continue  # Retention was faster.
            except OSError as error:
                raise Unavailable(f"cannot read {log.shard}: {error}") from error
            return Batches(b"", from_offset)
        raise Unavailable(f"the files of {log.shard} go faster than they can be read")

    def _read_file(self, log: ShardLog, segments: Segments, at: FilePosition, wanted: ReadRange) -> Batches | None:
        """The batches of the range that the file holds from ``at`` on; None if it ends before the range begins."""
        is_active = bool(segments.bases) and at.path == segment_path(log.directory, segments.bases[-1])
        with closing(self._storage.open(at.path)) as file:
            size = segments.size if is_active else file.size()
            start = _skip(file, at.position, size, max(wanted.from_offset, at.begin))
            if start == size:
                return None
            data = file.pread(min(max(wanted.max_bytes, HEADER_SIZE), size - start), start)
            end, next_offset = _whole(file.path, data, start, wanted)
            if end == 0 and wanted.must_have_one:
                first, last = _first(file.path, data, start)
                if last < wanted.upto:
                    data, end, next_offset = file.pread(first, start), first, last + 1
                    if len(data) < first:
                        raise DamagedLog(file.path, start, "the file ends inside a batch")
        if end:
            self._positions[log.shard, next_offset] = FilePosition(at.path, start + end)
            if len(self._positions) > CACHED_POSITIONS:
                self._positions.popitem(last=False)
        return Batches(data[:end], next_offset)


def _positions(storage: Storage, log: ShardLog, segments: Segments, from_offset: int) -> Iterator[FilePosition]:
    """The positions to read from, in order: in the newest layer if it covers the offset, then in the segments."""
    layer = layer_from(storage, log, segments.bases, from_offset)
    begin = from_offset
    if layer is not None:
        files = layer.files()
        bases = [int(path.stem) for path in files]
        for path in files[max(bisect_right(bases, from_offset) - 1, 0) :]:
            yield FilePosition(str(path), 0)
        begin = max(from_offset, layer.to_offset)
    first = max(bisect_right(segments.bases, begin) - 1, 0)
    for base in segments.bases[first:]:
        if base > begin:
            yield FilePosition(segment_path(log.directory, base), 0)
            continue
        mark = log.index(base).before_offset(begin)
        yield FilePosition(segment_path(log.directory, base), mark.position if mark is not None else 0, begin)


def _skip(file: File, position: int, size: int, from_offset: int) -> int:
    """Return the position of the first batch that ends after ``from_offset``; ``size`` if none does."""
    while position < size:
        window = file.pread(min(_SCAN_BYTES, size - position), position)
        at = 0
        while len(window) - at >= HEADER_SIZE:
            length, last = _first(file.path, window, position, at)
            if last >= from_offset:
                return position + at
            at += length
        if at == 0:
            raise DamagedLog(file.path, position, "the file ends inside a batch")
        position += at
    return position


def _whole(path: str, data: bytes, start: int, wanted: ReadRange) -> tuple[int, int]:
    """How many bytes of ``data`` are whole batches of the range, and the offset after them."""
    end, next_offset = 0, wanted.from_offset
    while len(data) - end >= HEADER_SIZE:
        length, last = _first(path, data, start, end)
        if end + length > min(len(data), wanted.max_bytes) or last >= wanted.upto:
            break
        end += length
        next_offset = last + 1
    return end, next_offset


def _first(path: str, data: bytes, start: int, at: int = 0) -> tuple[int, int]:
    """The size of the batch at ``at``, and its last offset. ``data`` is at ``start`` in the file."""
    base, length, last_delta = HEADER_OFFSETS.unpack_from(data, at)
    if length < HEADER_SIZE - LENGTH_END or last_delta < 0:
        raise DamagedLog(path, start + at, f"no batch begins here: a length of {length} bytes")
    return LENGTH_END + length, base + last_delta
