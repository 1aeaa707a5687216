"""The segments of one shard, as they are written.

Durable batches wait in memory and are written in bulk. Until their segment is synced, the journal
has them. Disk space for a batch is reserved before its submit is answered. The last segment is
active. The ones before it are sealed: cut to their exact size, synced, and never changed again. A
new segment begins when a batch does not fit, or is newer than the segment's first by more than
``log.roll.ms``. It is named for the offset that it starts at, so the active segment may be empty.

The loop and any other thread share a shard. They count its bytes since it was opened, with counters
that have one writer each and, but for ``claimed``, only grow:

    the loop       accepted: durable, waiting or written      claimed: accepted or in flight; taken back when that fails
    the lock       written: in segments                       granted: room is reserved for them; claimed never passes it
"""

from __future__ import annotations

import os
from bisect import insort
from collections import deque
from threading import Lock
from typing import Final, NamedTuple

from coordinator_server.log.file_names import segment_path
from coordinator_server.log.shards import ShardEnd, ShardId
from coordinator_server.log.storage import File, Storage, sync_dir, sync_file, write_all
from coordinator_server.log.write.frames import shard_prefix
from coordinator_server.log.write.segment_index import (
    NO_TIME,
    SegmentIndex,
    Times,
    first_ms_of,
    index_of_sealed,
    scan,
    times_of,
    write_marks,
)
from protocol.record_batch import HEADER_OFFSETS, HEADER_SIZE, LENGTH_END

RESERVE_BYTES: Final = 256 * 1024
WRITE_BYTES: Final = 256 * 1024  # a shard with more that waits is written early
ROLL_MS: Final = 168 * 60 * 60 * 1000
SEGMENT_BYTES: Final = 100 * 1024 * 1024


class Segments(NamedTuple):
    """What a shard's segments hold: their base offsets, the bytes of the last one, and the offset that comes next."""

    bases: list[int]
    size: int
    end: int


class Limits(NamedTuple):
    """When a segment is full: its bytes, and the ms between the timestamps of its first batch and of the next one.

    Room for the next batches is reserved in pieces of ``reserve_bytes``.
    """

    segment_bytes: int
    roll_ms: int = ROLL_MS
    reserve_bytes: int = RESERVE_BYTES


def end_of_batches(data: bytes, offset: int) -> int:
    """Return the offset after whole batches that start at ``offset``. ValueError if they are anything else."""
    position = 0
    while position < len(data):
        if len(data) - position < HEADER_SIZE:
            raise ValueError(f"{len(data) - position} bytes are no batch")
        base, length, last_delta = HEADER_OFFSETS.unpack_from(data, position)
        position += LENGTH_END + length
        if base != offset or length < HEADER_SIZE - LENGTH_END or position > len(data) or last_delta < 0:
            raise ValueError(f"not a whole batch at offset {offset}, but one of {length} bytes at offset {base}")
        offset = base + last_delta + 1
    return offset


class ShardLog:
    """The segments of one shard, the batches that wait to be written to them, and the room that is reserved."""

    def __init__(self, storage: Storage, directory: str, shard: ShardId, state: Segments, limits: Limits) -> None:
        self.shard = shard
        self.directory = directory
        self.prefix = shard_prefix(shard)
        self.epoch = -1
        self.end = state.end  # durable
        self.tail = state.end  # durable or in flight
        # Whoever removes files holds it, and looks at ``is_released`` then: a released shard may be another loop's already.
        self.removals = Lock()
        self.is_released = False
        self._is_tending = False
        self._storage = storage
        self._limits = limits
        self._chunk = min(limits.reserve_bytes, limits.segment_bytes)
        self._waiting: deque[tuple[bytes, int]] = deque()
        self._claimed = self._accepted = 0
        self._lock = Lock()
        # Under the lock:
        self._granted = self._written = 0
        self._bases = list(state.bases)
        self._index = SegmentIndex(state.end, state.size)  # of what was written to the active segment since it was opened
        self._found = None if state.size else SegmentIndex(state.end)  # of what was in it before; None until it is needed
        self._found_size = state.size
        self._first_ms = NO_TIME  # of what is in it, or was taken for it
        self._file: File | None = None
        self._size = state.size
        self._reserved = state.size
        self._written_end = state.end
        self._taken: list[tuple[bytes, int, Times]] = []
        self._is_dirty = self._is_new = False
        self._stray: str | None = None

    # The loop's side.

    def claim(self, size: int) -> None:
        """Make sure that there is room for ``size`` more bytes. OSError if there is not."""
        if self._claimed + size > self._granted:
            with self._lock:
                self._reserve(self._claimed + size - self._granted)
        self._claimed += size

    def withdraw(self, size: int) -> None:
        """Give back a claim: its submit failed."""
        self._claimed -= size
        self.tail = self.end

    def accept(self, data: bytes, next_offset: int) -> bool:
        """Take batches that are durable. Return whether the worker should ``tend`` to the shard."""
        self._waiting.append((data, next_offset))
        self._accepted += len(data)
        self.end = next_offset
        if self._is_tending or not (self._is_much_waiting or self._is_room_short):
            return False
        self._is_tending = True
        return True

    @property
    def durable_bytes(self) -> int:
        """The number of durable bytes since the shard was opened."""
        return self._accepted

    # Any thread's side.

    @property
    def is_waiting(self) -> bool:
        """Whether durable batches wait to be written."""
        return self._accepted > self._written

    def tend(self) -> None:
        """Write what waits if that is much, and reserve room ahead of time."""
        self._is_tending = False
        if self._is_much_waiting:
            self.write_and_roll()
        if self._is_room_short:
            with self._lock:
                self._reserve(1)

    def write_and_roll(self) -> None:
        """Write what waits. Begin a new segment whenever the active one is full."""
        with self._lock:
            while self._write_waiting(self._limits):
                self._roll()

    def write_and_sync(self) -> ShardEnd:
        """Write and sync everything that waits. Return how far the shard is durable in its segments then."""
        with self._lock:
            while self._write_waiting(self._limits):
                self._roll()
            end = ShardEnd(self.shard, self._bases[-1] if self._bases else self._written_end, self._size, self._written_end)
            file, is_new = self._file if self._is_dirty else None, self._is_new
            self._is_dirty = self._is_new = False
        # Only write_and_sync, seal and close, all in one thread, let go of a file.
        if file is not None:
            sync_file(file)
        if is_new:
            self._sync_names()
        return end

    def seal(self) -> int:
        """Begin a new segment unless the active one is empty. Return the offset up to which everything is sealed."""
        with self._lock:
            while self._write_waiting(self._limits):
                self._roll()
            if self._size:
                self._roll()
            return self._written_end

    def close(self) -> ShardEnd:
        """Write and sync everything, and cut the active segment to its size."""
        end = self.write_and_sync()
        with self._lock:
            if self._file is not None:
                self._give_back(self._file)
        self.release()
        return end

    def release(self) -> None:
        """Close the active segment's file as it is, and let nothing be removed any more."""
        with self.removals:
            self.is_released = True
        with self._lock:
            file, self._file = self._file, None
            if file is not None:
                file.close()

    def segments(self) -> Segments:
        """Write everything that waits, and return what the segments hold then."""
        with self._lock:
            self._write_waiting(None)
            return Segments(list(self._bases), self._size, self._written_end)

    def index(self, base: int) -> SegmentIndex:
        """Return the index of a segment. DamagedLog if it has to be made from the segment, and that is damaged."""
        path = segment_path(self.directory, base)
        with self._lock:
            is_active = bool(self._bases) and base == self._bases[-1]
            found, size = self._found, self._found_size
        if is_active:
            # The part that was there when the log was opened never changes.
            if found is None:
                found = scan(self._storage, path, base, size)
            with self._lock:
                if base == self._bases[-1]:
                    self._found = found
                    return found + self._index
        return index_of_sealed(self._storage, path, base)

    def bases(self) -> list[int]:
        """Return the base offsets of the segments."""
        with self._lock:
            return list(self._bases)

    def hide(self, base: int) -> None:
        """Hide a sealed segment that is about to be removed from new readers."""
        with self._lock:
            self._bases.remove(base)

    def unhide(self, base: int) -> None:
        """Show it again: it could not be removed."""
        with self._lock:
            insort(self._bases, base)

    @property
    def _is_much_waiting(self) -> bool:
        return self._accepted - self._written >= WRITE_BYTES

    @property
    def _is_room_short(self) -> bool:
        return self._granted - self._claimed < self._chunk // 2

    # Under the lock.

    def _reserve(self, size: int) -> None:
        file = self._open()
        length = max(size, self._chunk)
        file.reserve(self._reserved, length)
        self._reserved += length
        self._granted += length

    def _open(self) -> File:
        if self._file is None:
            if not self._bases:
                self._bases.append(self._written_end)
            path = segment_path(self.directory, self._bases[-1])
            if not self._size:
                self._storage.make_dir(self.directory)
                self._is_new = True
            self._file = self._storage.open(path, create=not self._size)
        return self._file

    def _write_waiting(self, limits: Limits | None) -> bool:
        """Write what waits, as far as the active segment may take it. Return whether something is left."""
        while True:
            size = self._take(limits)
            if not self._taken:
                return bool(self._waiting)
            self._write_taken(size)

    def _take(self, limits: Limits | None) -> int:
        """Take what waits for the active segment, as far as that may take it. Return its size with all that was taken."""
        waiting, taken = self._waiting, self._taken
        size = self._size + sum([len(data) for data, _, _ in taken])
        while waiting:
            data, next_offset = waiting[0]
            times = times_of(data)
            if limits is not None and size and not self._has_room(size + len(data), times[0], limits):
                break
            waiting.popleft()
            taken.append((data, next_offset, times))
            size += len(data)
        return size

    def _has_room(self, size: int, first_ms: int, limits: Limits) -> bool:
        """Whether the active segment, which is not empty, may take batches that begin at that time and make it that large."""
        if self._first_ms == NO_TIME:
            self._first_ms = first_ms_of(self._open().pread(HEADER_SIZE, 0)) if self._size else self._taken[0][2][0]
        return size <= limits.segment_bytes and first_ms - self._first_ms <= limits.roll_ms

    def _write_taken(self, size: int) -> None:
        taken = self._taken
        write_all(self._open(), b"".join([data for data, _, _ in taken]), self._size)
        self._index.add([(len(data), next_offset, times) for data, next_offset, times in taken])
        self._written += size - self._size
        self._size = size
        self._written_end = taken[-1][1]
        self._is_dirty = True
        taken.clear()

    def _roll(self) -> None:
        old, base = self._open(), self._written_end
        # The name of a segment says that everything before its offset is durable. So the old one is synced first.
        sync_file(old)
        if self._is_new:
            self._sync_names()
        self._remove_stray()
        self._stray = segment_path(self.directory, base)
        new = self._storage.open(self._stray, create=True)
        try:
            # Room that was granted in the old segment is promised: the new one has to have it.
            if self._granted > self._written:
                new.reserve(0, self._granted - self._written)
            self._give_back(old)
        except OSError:
            new.close()
            self._remove_stray()
            raise
        sync_dir(self._storage, self.directory)
        old.close()
        if self._found is not None:
            write_marks(self._storage, old.path, self._found + self._index)
        self._bases.append(base)
        self._index, self._found, self._found_size = SegmentIndex(base), SegmentIndex(base), 0
        self._first_ms = NO_TIME
        self._stray = None
        self._file, self._size, self._reserved = new, 0, self._granted - self._written
        self._is_dirty = self._is_new = False

    def _remove_stray(self) -> None:
        """Remove the file of a failed roll. After more writes its name would mean a segment in the middle of another."""
        if self._stray is not None:
            self._storage.remove(self._stray)
            self._stray = None

    def _give_back(self, file: File) -> None:
        is_longer = file.size() > self._size
        file.truncate(self._size)
        if is_longer:
            sync_file(file)

    def _sync_names(self) -> None:
        sync_dir(self._storage, self.directory)
        sync_dir(self._storage, os.path.dirname(self.directory))
