"""Recover a data directory: bring every shard's segments up to its journal.

For each shard the newest journal head that names it states how far its segments are durable
(``end``). The frames hold what comes after. Recovery writes that to the segments, and syncs them.
It leaves alone what is right already, so a second run changes nothing, and a sealed segment that is
being read stays as it is.

    before the end    this was durable: a shorter file is damage. The content is verified when it is read
    after the end     this is what the frames hold; it goes on in the next segment where a file starts at its offset
    after the frames  segments get durable batches only: whole ones that continue the log stay, the rest is a torn tail and is cut

Of a shard that no journal names (a restored copy) the last segment is read: a torn tail is cut, and damage before it is an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path

from msgspec import Struct

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.file_names import journal_dir, loops_of, segment_bases, segment_path, shards_of
from coordinator_server.log.layers.layer import newest_valid_layer
from coordinator_server.log.read.segment_reader import Span, read_span
from coordinator_server.log.repair.journal_reader import newest_ends, recover_journal
from coordinator_server.log.shards import LoopShards, ShardEnd, ShardId
from coordinator_server.log.storage import File, Storage, sync_dir, sync_file, write_all
from coordinator_server.log.write.frames import Entry
from coordinator_server.log.write.journal import JournalContents
from coordinator_server.log.write.segments import Segments, end_of_batches
from protocol.errors import DecodeError
from protocol.record_batch import HEADER_SIZE, read_header


class Recovered(Struct):
    """A consistent data directory: everything that was acknowledged is in synced segments."""

    shards: dict[ShardId, Segments]
    journals: dict[int, JournalContents]


def recover(storage: Storage, data_dir: str, part: LoopShards | None = None) -> Recovered:
    """Bring every shard's segments up to the journals of all loops; with ``part``, its shards' to
    its journal alone, while other loops run.

    DamagedLog if that is not possible without a loss.
    """
    loops = loops_of(storage, data_dir) if part is None else [part.loop]
    journals = {loop: recover_journal(storage, journal_dir(data_dir, loop)) for loop in loops}
    ends = newest_ends(found.head for found in journals.values() if found.head)
    entries: dict[ShardId, list[Entry]] = {}
    for found in journals.values():
        for entry in found.entries:
            entries.setdefault(entry.shard, []).append(entry)
    is_synced = all(found.head is None or found.head.is_synced for found in journals.values())
    shards = {}
    for shard in sorted({*shards_of(storage, data_dir), *entries, *ends}):
        if part is not None and not part.owns(shard):
            continue
        directory = f"{data_dir}/{shard}"
        bases = segment_bases(storage, directory)
        later = sorted(entries.get(shard, ()), key=lambda entry: entry.offset)
        known = ends.get(shard) or (ShardEnd(shard, later[0].offset, 0, later[0].offset) if later else None)
        if known:
            state = _Rebuild(storage, directory, bases, known).run(later)
        else:
            state = _read_last(storage, directory, bases, is_synced=is_synced)
        shards[shard] = _with_layer(storage, directory, state)
    return Recovered(shards, journals)


def reopen(storage: Storage, data_dir: str, end: ShardEnd) -> Segments:
    """Return the segments of a shard that its last owner has released at ``end``. DamagedLog if they end before it."""
    directory = f"{data_dir}/{end.shard}"
    return _with_layer(storage, directory, _Rebuild(storage, directory, segment_bases(storage, directory), end).run(()))


def _with_layer(storage: Storage, directory: str, state: Segments) -> Segments:
    """Let a shard whose segments end before its newest layer go on where the layer ends."""
    layer = newest_valid_layer(Path(directory), storage=storage)
    if layer is None or layer.to_offset <= state.end:
        return state
    full = state.bases if state.size else state.bases[:-1]
    return Segments([*full, layer.to_offset], 0, layer.to_offset)


def _read_last(storage: Storage, directory: str, bases: list[int], *, is_synced: bool) -> Segments:
    """Find where the last segment ends of a shard that no journal names. With ``log.flush = os`` the journal may have lost it."""
    if not bases:
        return Segments([], 0, 0)
    for base in bases:
        _sync(storage, segment_path(directory, base))
    _sync_names(storage, directory)
    path = segment_path(directory, bases[-1])
    whole = storage.size(path)
    size, end = 0, bases[-1]
    try:
        for batch in read_span(storage, Span(path, end, 0, whole)):
            size, end = batch.position + batch.header.size, batch.header.next_offset
    except DamagedLog:
        if is_synced and not _is_torn(storage, path, size):
            raise
        _sync(storage, path, cut_to=size)
    return Segments(bases, size, end)


def _is_torn(storage: Storage, path: str, position: int) -> bool:
    """Whether no batch follows the one that starts at ``position``, or nothing was ever written there."""
    with closing(storage.open(path)) as file:
        rest = file.pread(file.size() - position, position)
    try:
        return read_header(rest).size >= len(rest)
    except DecodeError:
        return len(rest) < HEADER_SIZE or not any(rest)


def _sync_names(storage: Storage, directory: str) -> None:
    sync_dir(storage, directory)
    sync_dir(storage, os.path.dirname(directory))


def _sync(storage: Storage, path: str, cut_to: int | None = None) -> None:
    with closing(storage.open(path)) as file:
        if cut_to is not None:
            file.truncate(cut_to)
        sync_file(file)


class _Rebuild:
    """One shard, from its durable end on.

    ``segment`` has ``size`` bytes, ``batches`` follow, and then the log is at ``offset``.
    """

    def __init__(self, storage: Storage, directory: str, bases: list[int], end: ShardEnd) -> None:
        self.storage = storage
        self.directory = directory
        self.segment, self.size, self.offset = end.segment, end.size, end.offset
        self.batches: list[bytes] = []
        self.bases = [base for base in bases if base <= end.segment]
        self.later = [base for base in bases if base > end.segment]
        size = storage.size(self._path) if end.segment in bases else 0
        if size < end.size:
            raise DamagedLog(
                self._path, size, f"the segment was durable up to byte {end.size}, and the shard up to offset {end.offset}"
            )
        while self.later and self.later[0] < end.offset:
            self._remove_stray(self.later.pop(0))

    def run(self, entries: Iterable[Entry]) -> Segments:
        for entry in entries:
            next_offset = end_of_batches(entry.data, entry.offset)
            if next_offset <= self.offset:
                continue
            if self.later and self.later[0] == self.offset:
                self._next_segment()
            if entry.offset != self.offset:
                raise DamagedLog(
                    self._path, self.size, f"offsets {self.offset} to {entry.offset} are neither here nor in the journal"
                )
            self.batches.append(entry.data)
            self.offset = next_offset
        self._write_segment()
        while self.later:
            self._next_segment()
            self._write_segment()
        if self.segment not in self.bases:
            # A power loss took the name of an empty segment: the next append makes it again.
            self.bases.append(self.segment)
        return Segments(self.bases, self.size, self.offset)

    @property
    def _path(self) -> str:
        return segment_path(self.directory, self.segment)

    def _next_segment(self) -> None:
        self._write_segment()
        base = self.later.pop(0)
        if base != self.offset:
            raise DamagedLog(segment_path(self.directory, base), 0, f"offsets {self.offset} to {base} before it are missing")
        if self.segment in self.bases:
            # The process that sealed it may have been killed before its size was durable.
            _sync(self.storage, self._path)
        self.segment, self.size = base, 0
        self.bases.append(base)

    def _write_segment(self) -> None:
        """Bring the segment's file up to what is known of it: add the batches, cut what is behind them, sync."""
        data = b"".join(self.batches)
        self.batches.clear()
        is_new = self.segment not in self.bases
        if is_new and data:
            self.storage.make_dir(self.directory)
            self.bases.append(self.segment)
        elif not data and (is_new or self.storage.size(self._path) == self.size):
            return
        with closing(self.storage.open(self._path, create=is_new)) as file:
            self._write(file, data)
        # The process that made the file may have been killed before its name was durable.
        _sync_names(self.storage, self.directory)

    def _write(self, file: File, data: bytes) -> None:
        if file.pread(len(data), self.size) != data:
            write_all(file, data, self.size)
        self.size += len(data)
        size = file.size()
        if size > self.size:
            self._keep_whole(size)
        if size > self.size:
            file.truncate(self.size)
        sync_file(file)

    def _keep_whole(self, size: int) -> None:
        """Keep batches that go on where the frames end: they were durable when they were written here."""
        limit = self.later[0] if self.later else None
        with suppress(DamagedLog):
            for batch in read_span(self.storage, Span(self._path, self.offset, self.size, size)):
                if limit is not None and batch.header.next_offset > limit:
                    break
                self.size, self.offset = batch.position + batch.header.size, batch.header.next_offset

    def _remove_stray(self, base: int) -> None:
        # A failed roll may leave an empty file behind. No other file starts inside a segment. If a power loss brings it back, the
        # next start removes it again: the roll that ends this segment syncs the names.
        path = segment_path(self.directory, base)
        if self.storage.size(path):
            raise DamagedLog(
                path, 0, f"a segment that the journal does not know, although it knows the shard up to offset {self.offset}"
            )
        self.storage.remove(path)
