"""Write a new data directory with everything that is whole in a damaged one.

For each shard the new directory has:

    1. all batches that are whole in segments
    2. where segments are damaged: the journal, which may still have the batches, also in frames of an earlier use of a file
    3. all whole layers, unless the segments are whole from offset 0 to the end of the newest one
    4. if no layer is whole: the batches that are whole in damaged layers

Offsets of which nothing is left become empty batches, as Kafka's own compaction leaves them, so
that every record keeps its offset. They are listed. Before the end of a layer only history is
missing: a start reads the layer. If only the offset or the magic of a batch is
damaged, which no checksum covers, it is mended: both are known from its place.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct

from coordinator_server.log.errors import DamagedLog, LogError, WrongDirectory
from coordinator_server.log.file_names import journal_dir, layer_offsets, loops_of, segment_bases, segment_path, shards_of
from coordinator_server.log.layers.attempt import copy_layer
from coordinator_server.log.layers.checkpoint import Checkpoint
from coordinator_server.log.layers.layer import Layer, open_layer
from coordinator_server.log.meta import read_meta, write_meta
from coordinator_server.log.repair.batch_scan import DamagedBytes, WholeBatch, mend, scan_batches
from coordinator_server.log.repair.check import is_served
from coordinator_server.log.repair.frame_reader import loose_frames
from coordinator_server.log.repair.journal_reader import newest_ends, read_heads, read_journal
from coordinator_server.log.repair.overlay import ReadOnlyStorage
from coordinator_server.log.shards import ShardEnd, ShardId
from coordinator_server.log.storage import LOCAL, File, Storage, make_dir_durably, read_file, write_all
from coordinator_server.log.write.frames import Entry, Head, decode_entries
from coordinator_server.log.write.segments import SEGMENT_BYTES
from protocol.batch_builder import empty_batch

_MOST_OFFSETS: Final = 1 << 30


class Hole(Struct, frozen=True):
    """Offsets ``[begin, end)`` of which nothing is left. With ``is_history`` a layer has what a start needs of them."""

    shard: str
    begin: int
    end: int
    is_history: bool = False


class Salvaged(Struct):
    """What is in the new directory, what is missing, and which batches were mended (path and position)."""

    shards: int = 0
    layers: int = 0
    batches: int = 0
    bytes: int = 0
    holes: list[Hole] = []
    mended: list[tuple[str, int]] = []
    lost_frames: list[str] = []  # of the journal: where, and why. Which offsets they had is unknown


class _FoundBatch(NamedTuple):
    """A whole batch: offsets ``[offset, end)``, and its bytes, or where they are."""

    offset: int
    end: int
    data: bytes
    path: str = ""
    position: int = 0
    size: int = 0


def salvage(data_dir: str, out: str, target: Storage = LOCAL) -> Salvaged:
    """Write everything that is whole to the new directory ``out``.

    LogError if it exists and is not empty, if a server runs (it would go on writing), or if meta.properties cannot be read.
    """
    if is_served(data_dir):
        raise LogError(f"a server runs on {data_dir}: stop it first, or what it writes from now on will be missing")
    if target.list(out):
        raise WrongDirectory(f"{out} is not empty: --salvage makes a new directory")
    storage = ReadOnlyStorage()
    meta = read_meta(storage, data_dir)
    report = Salvaged()
    ends, journaled = _journals(storage, data_dir, report)
    make_dir_durably(target, out)
    for shard in sorted({*shards_of(storage, data_dir), *journaled}):
        source = _DamagedShard(storage, f"{data_dir}/{shard}", journaled.get(shard, {}), report)
        pieces = source.pieces()
        for layer in source.layers:
            _copy_layer(layer, Path(out) / str(shard), target, report)
        layer_ends = [layer.to_offset for layer in source.layers]
        with closing(_NewShard(target, f"{out}/{shard}", source.begin, layer_ends, report)) as written:
            for piece in pieces:
                _fill(written, shard, piece.offset, report)
                written.append(piece.end, source.read(piece))
            _fill(written, shard, ends[shard].offset if shard in ends else 0, report)
        source.close()
        report.shards += 1
    # Last: without this file it is no data directory.
    write_meta(target, out, meta)
    return report


def _fill(written: _NewShard, shard: ShardId, upto: int, report: Salvaged) -> None:
    for stop in sorted({*(end for end in written.layer_ends if end < upto), upto}):
        if stop > written.end:
            report.holes.append(Hole(str(shard), written.end, stop, is_history=stop <= max(written.layer_ends, default=0)))
        while stop > written.end:
            end = min(stop, written.end + _MOST_OFFSETS)
            written.append(end, empty_batch(written.end, end - written.end))


def _copy_layer(layer: Layer, shard_dir: Path, target: Storage, report: Salvaged) -> None:
    with_checkpoint = True
    try:
        with closing(Checkpoint(layer)) as checkpoint:
            checkpoint.verify()
    except DamagedLog:
        with_checkpoint = False
    target.make_dir(str(shard_dir))
    copy_layer(layer, shard_dir, target, with_checkpoint=with_checkpoint)
    report.layers += 1
    report.batches += sum(1 for _ in layer.read())
    report.bytes += sum(entry.size for entry in layer.manifest.files)


def _journals(
    storage: Storage, data_dir: str, report: Salvaged
) -> tuple[dict[ShardId, ShardEnd], dict[ShardId, dict[int, _FoundBatch]]]:
    """Return how far each shard is durable by the heads, and by offset the newest batch in any whole frame."""
    heads: list[Head] = []
    found: list[tuple[int, int, Entry]] = []
    newest = 1 << 64
    for loop in loops_of(storage, data_dir):
        directory = journal_dir(data_dir, loop)
        heads += read_heads(storage, directory)
        for name in storage.list(directory):
            frames = loose_frames(read_file(storage, f"{directory}/{name}"))
            found += [(frame.generation, frame.sequence, entry) for frame in frames for entry in decode_entries(frame.content)]
        try:
            found += [(newest, 0, entry) for entry in read_journal(storage, directory).entries]
        except DamagedLog as damage:
            report.lost_frames.append(str(damage))
    batches: dict[ShardId, dict[int, _FoundBatch]] = {}
    for _, _, entry in sorted(found, key=lambda each: each[:2]):
        for batch in scan_batches(entry.data, entry.offset):
            if isinstance(batch, DamagedBytes):
                break
            piece = _FoundBatch(batch.header.base_offset, batch.header.next_offset, batch.data)
            batches.setdefault(entry.shard, {})[piece.offset] = piece
    return newest_ends(heads), batches


class _DamagedShard:
    """What is whole of one shard of the damaged directory."""

    def __init__(self, storage: Storage, directory: str, journaled: dict[int, _FoundBatch], report: Salvaged) -> None:
        self.begin = 0  # the segments begin there
        self.layers: list[Layer] = []  # to be copied
        self._storage = storage
        self._directory = directory
        self._journaled = journaled
        self._report = report
        self._open: File | None = None

    def pieces(self) -> Iterator[_FoundBatch]:
        """Return the whole batches that no layer has to replace, in the order of their offsets. Sets ``begin`` and ``layers``."""
        of_segments = sorted(self._of_segments(), key=lambda piece: (piece.offset, -piece.end))
        whole, damaged = self._layers()
        if whole and not _reaches(of_segments, 0, whole[-1].to_offset):
            self.layers = whole
            self.begin = min([*segment_bases(self._storage, self._directory)[:1], whole[-1].to_offset])
        # Without a whole layer, records of a damaged one are better than none.
        spare = {} if whole else {piece.offset: piece for layer in damaged for piece in self._of_layer(layer)}
        return self._in_order(of_segments, spare | self._journaled)

    def _in_order(self, of_segments: Iterable[_FoundBatch], spare: dict[int, _FoundBatch]) -> Iterator[_FoundBatch]:
        end = self.begin
        for piece in of_segments:
            if piece.offset >= end:
                for found in _between(spare, end, piece.offset):
                    end = found.end
                    yield found
                end = piece.end
                yield piece
        yield from _between(spare, end, None)

    def read(self, piece: _FoundBatch) -> bytes:
        """Return the bytes of a batch."""
        if piece.data:
            return piece.data
        if self._open is None or self._open.path != piece.path:
            self.close()
            self._open = self._storage.open(piece.path)
        return self._open.pread(piece.size, piece.position)

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def _of_segments(self) -> Iterator[_FoundBatch]:
        bases = segment_bases(self._storage, self._directory)
        for base, limit in zip(bases, [*bases[1:], None], strict=True):
            path = segment_path(self._directory, base)
            data = read_file(self._storage, path)
            for found in scan_batches(data, base, limit):
                whole = mend(data, found) if isinstance(found, DamagedBytes) else found
                if whole is not None and isinstance(found, DamagedBytes):
                    self._report.mended.append((path, found.position))
                    yield _FoundBatch(whole.header.base_offset, whole.header.next_offset, whole.data)
                elif whole is not None:
                    yield _in_file(path, whole)

    def _layers(self) -> tuple[list[Layer], list[Layer]]:
        """Return the intact layers, and the others whose manifest can be read; the oldest first."""
        directory = Path(self._directory)
        whole, damaged = [], []
        for to_offset in reversed(layer_offsets(directory, self._storage)):
            try:
                layer = open_layer(directory, to_offset, self._storage)
            except DamagedLog:
                continue
            try:
                layer.verify()
                whole.append(layer)
            except DamagedLog:
                damaged.append(layer)
        return whole, damaged

    def _of_layer(self, layer: Layer) -> Iterator[_FoundBatch]:
        end = 0
        for path in layer.files():
            for found in scan_batches(read_file(self._storage, str(path)), end, has_gaps=True):
                if isinstance(found, WholeBatch) and found.header.next_offset <= layer.to_offset:
                    end = found.header.next_offset
                    yield _in_file(str(path), found)


def _in_file(path: str, batch: WholeBatch) -> _FoundBatch:
    return _FoundBatch(batch.header.base_offset, batch.header.next_offset, b"", path, batch.position, batch.header.size)


def _reaches(pieces: Iterable[_FoundBatch], begin: int, end: int) -> bool:
    """Whether nothing is missing between two offsets."""
    for piece in pieces:
        if piece.offset <= begin < piece.end:
            begin = piece.end
    return begin >= end


def _between(spare: dict[int, _FoundBatch], begin: int, end: int | None) -> Iterator[_FoundBatch]:
    """Yield the spare batches of the offsets in between."""
    for offset in sorted(spare):
        piece = spare[offset]
        if offset >= begin and (end is None or piece.end <= end):
            begin = piece.end
            yield piece


class _NewShard:
    """One shard of the new directory."""

    def __init__(self, storage: Storage, directory: str, begin: int, layer_ends: Sequence[int], report: Salvaged) -> None:
        self.end = begin
        self.layer_ends = layer_ends
        self._storage = storage
        self._directory = directory
        self._report = report
        self._file: File | None = None
        self._size = 0

    def append(self, end: int, data: bytes) -> None:
        if self._file is None or self._size + len(data) > SEGMENT_BYTES or (self._size and self.end in self.layer_ends):
            self._roll()
        assert self._file is not None
        write_all(self._file, data, self._size)
        self._size += len(data)
        self.end = end
        self._report.batches += 1
        self._report.bytes += len(data)

    def close(self) -> None:
        if self._file is not None:
            self._file.sync()
            self._file.close()
            self._file = None
            for directory in (self._directory, os.path.dirname(self._directory)):
                self._storage.sync_dir(directory)

    def _roll(self) -> None:
        self.close()
        self._storage.make_dir(self._directory)
        self._file = self._storage.open(segment_path(self._directory, self.end), create=True)
        self._size = 0
