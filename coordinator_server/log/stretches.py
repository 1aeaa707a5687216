"""Stretches of a shard's log, for whoever reads it piece by piece: whole batches with the bytes that they have, each piece with one read or few.

A reader that comes back for the next piece names the offset it has got to. Where that is in which file is remembered, so that going on costs no search;
nothing is held in between, and a file that retention has removed meanwhile is searched for anew. Batches are not verified here: they carry
their checksums along.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from struct import Struct as Layout
from typing import Final, NamedTuple

from coordinator_server.log.errors import DamagedLog, Unavailable
from coordinator_server.log.reader import layer_from
from coordinator_server.log.segments import ShardLog, Written, segment_path
from coordinator_server.log.storage import File, Storage
from coordinator_server.log.store import ShardId

# Of so many readers it is remembered where they are.
PLACES: Final = 1_000
_SCAN_BYTES: Final = 256 * 1024
_TRIES: Final = 5
_BATCH: Final = Layout(">qi11xi")  # of a RecordBatch: base offset, length, last offset delta
_LENGTH_END: Final = 12
_MIN_BATCH: Final = 61


class Place(NamedTuple):
    """A position in a file where a batch begins, or the file ends. A layer stands for all offsets before ``begin``."""

    path: str
    position: int
    begin: int = 0


class Piece(NamedTuple):
    """What is wanted of a shard: batches from the one that holds ``from_offset`` or comes next, of at most ``max_bytes``, that end before ``upto``.

    With ``must_have_one`` a first batch that is larger comes all the same.
    """

    from_offset: int
    max_bytes: int
    upto: int
    must_have_one: bool = True


class Stretch(NamedTuple):
    """Whole batches, and the offset after the last of them."""

    data: bytes
    next_offset: int


class StretchReader:
    """Reads of one thread. A stretch never spans two files, so it may be shorter than it might be."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._places: OrderedDict[tuple[ShardId, int], Place] = OrderedDict()

    def read(self, log: ShardLog, piece: Piece) -> Stretch:
        """DamagedLog for what is no batch, Unavailable when it cannot be read."""
        from_offset = piece.from_offset
        key = log.shard, from_offset
        known = self._places.pop(key, None)
        for _ in range(_TRIES):
            try:
                written = log.written()
                places = _places(log, written, from_offset)
                for place in chain([known], places) if known is not None else places:
                    found = self._read_file(log, written, place, piece)
                    if found is not None:
                        return found
            except FileNotFoundError:
                known = None
                continue  # Retention was faster.
            except OSError as error:
                raise Unavailable(f"cannot read {log.shard}: {error}") from error
            return Stretch(b"", from_offset)
        raise Unavailable(f"the files of {log.shard} go faster than they can be read")

    def _read_file(self, log: ShardLog, written: Written, place: Place, piece: Piece) -> Stretch | None:
        """What the file has to give from there on; None when that is nothing, since it ends."""
        is_active = bool(written.bases) and place.path == segment_path(log.directory, written.bases[-1])
        with closing(self._storage.open(place.path)) as file:
            size = written.size if is_active else file.size()
            start = _skip(file, place.position, size, max(piece.from_offset, place.begin))
            if start == size:
                return None
            data = file.pread(min(max(piece.max_bytes, _MIN_BATCH), size - start), start)
            end, next_offset = _whole(file.path, data, start, piece)
            if end == 0 and piece.must_have_one:
                first, last = _first(file.path, data, start)
                if last < piece.upto:
                    data, end, next_offset = file.pread(first, start), first, last + 1
                    if len(data) < first:
                        raise DamagedLog(file.path, start, "the file ends inside a batch")
        if end:
            self._places[log.shard, next_offset] = Place(place.path, start + end)
            if len(self._places) > PLACES:
                self._places.popitem(last=False)
        return Stretch(data[:end], next_offset)


def _places(log: ShardLog, written: Written, from_offset: int) -> Iterator[Place]:
    """Where to look, one after the other: the newest layer, if it stands for the offset, then the segments."""
    layer = layer_from(log, written.bases, from_offset)
    begin = from_offset
    if layer is not None:
        files = layer.files()
        bases = [int(path.stem) for path in files]
        for path in files[max(bisect_right(bases, from_offset) - 1, 0) :]:
            yield Place(str(path), 0)
        begin = max(from_offset, layer.to_offset)
    first = max(bisect_right(written.bases, begin) - 1, 0)
    for base in written.bases[first:]:
        if base > begin:
            yield Place(segment_path(log.directory, base), 0)
            continue
        mark = log.index(base).before_offset(begin)
        yield Place(segment_path(log.directory, base), mark.position if mark is not None else 0, begin)


def _skip(file: File, position: int, size: int, from_offset: int) -> int:
    """The position of the first batch, from ``position`` on, that does not end before ``from_offset``; ``size`` when there is none."""
    while position < size:
        window = file.pread(min(_SCAN_BYTES, size - position), position)
        at = 0
        while len(window) - at >= _MIN_BATCH:
            length, last = _first(file.path, window, position, at)
            if last >= from_offset:
                return position + at
            at += length
        if at == 0:
            raise DamagedLog(file.path, position, "the file ends inside a batch")
        position += at
    return position


def _whole(path: str, data: bytes, start: int, piece: Piece) -> tuple[int, int]:
    """How many bytes of ``data`` are whole batches that may be given, and the offset after them."""
    end, next_offset = 0, piece.from_offset
    while len(data) - end >= _MIN_BATCH:
        length, last = _first(path, data, start, end)
        if end + length > min(len(data), piece.max_bytes) or last >= piece.upto:
            break
        end += length
        next_offset = last + 1
    return end, next_offset


def _first(path: str, data: bytes, start: int, at: int = 0) -> tuple[int, int]:
    """The bytes of the batch at ``at``, and its last offset. ``data`` is at ``start`` in the file."""
    base, length, last_delta = _BATCH.unpack_from(data, at)
    if length < _MIN_BATCH - _LENGTH_END or last_delta < 0:
        raise DamagedLog(path, start + at, f"no batch begins here: a length of {length} bytes")
    return _LENGTH_END + length, base + last_delta
