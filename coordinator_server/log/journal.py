"""The journal: the durable edge of all shards of one loop.

Files of zeros, made ahead of time and used in turn, so that making a submit durable is one write into space that is there already,
and one sync. frames.py has the bytes. A frame is the batches of one submit, all or none. A file is one of:

    active      takes frames
    spare       the next one: its head is durable before the active file is full
    retained    the one before the active: its frames are needed until the next spare's head says otherwise
    free        everything else

A head states how far each shard is durable in its segments. That covers every frame before ``sequence``, the first of generation
``replay_from``: recovery takes the newest head, and the frames from there on. A spare's head is written once everything before
the active file is in synced segments, and only over a free file: when it is torn, the head before it still stands, and all that it
rests on is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.frames import (
    FRAME_BYTES,
    SECTOR,
    Entry,
    FrameReader,
    Head,
    ShardEnd,
    aligned,
    decode_entries,
    decode_head,
    encode_frame,
    encode_head,
    newest_frame_generation,
)
from coordinator_server.log.storage import ZEROS, File, Storage, read_file, sync_dir, sync_file, write_all
from coordinator_server.log.store import ShardId

SUFFIX: Final = ".journal"
FIRST_BYTES: Final = 1 << 20  # small, so that the first start is quick
_HEAD_READ_BYTES: Final = 1 << 16


class JournalFile:
    """A file in use. Frames go to ``position``."""

    __slots__ = ("capacity", "file", "first_sequence", "generation", "position", "seed")

    def __init__(self, file: File, head: Head, seed: int, position: int) -> None:
        self.file = file
        self.generation = head.generation
        self.first_sequence = head.sequence
        self.seed = seed
        self.position = position
        self.capacity = file.size()

    def fits(self, content_bytes: int) -> bool:
        return self.position + FRAME_BYTES + content_bytes <= self.capacity


class Journal:
    """The files of one loop. ``start``, ``prepare`` and ``finish`` wait for the disk; ``prepare`` may run in another thread."""

    def __init__(self, storage: Storage, directory: str, journal_bytes: int, *, is_synced: bool = True) -> None:
        self.directory = directory
        self.spare: JournalFile | None = None
        self.sequence = 0
        self.durable: dict[ShardId, ShardEnd] = {}  # as the newest head says
        self._storage = storage
        self._journal_bytes = journal_bytes
        self._is_synced = is_synced
        self._active: JournalFile | None = None
        self._retained: list[JournalFile] = []
        self._free: list[File] = []
        self._generation = 0  # of the last head written

    @property
    def active(self) -> JournalFile:
        assert self._active is not None, "start comes first"
        return self._active

    def start(self, after: Found, ends: Iterable[ShardEnd]) -> None:
        """Begin anew in a file that recovery does not rest on; ``ends`` is all there is. Then every other file is free."""
        self._generation = after.generation
        self.sequence = after.sequence
        self._free = [self._storage.open(path) for path in after.others]
        size = self._free[-1].size() if self._free else min(FIRST_BYTES, self._journal_bytes)
        self._active = self._make(self._clean_head(ends), size)
        self._free += [self._storage.open(path) for path in after.chain]

    def retire(self, after: Found, ends: Iterable[ShardEnd]) -> None:
        """Leave a journal that nobody writes any more as one clean file. Names go in any order, so first nothing must rest on them."""
        if after.entries or after.others or len(after.chain) > 1:
            self.start(after, ends)
            for file in self._free:
                self._storage.remove(file.path)
            self.close()

    def frame(self, content: Sequence[bytes]) -> bytes:
        """The next frame, to be written at the active file's position."""
        return encode_frame(self.active.generation, self.sequence, self.active.seed, content)

    def advance(self, frame_bytes: int) -> None:
        """The frame is durable."""
        self.active.position = aligned(self.active.position + frame_bytes)
        self.sequence += 1

    def turn(self) -> None:
        """Go on in the spare file."""
        assert self.spare is not None
        self._retained.append(self.active)
        self._active, self.spare = self.spare, None
        self._active.first_sequence = self.sequence

    def prepare(self, ends: Iterable[ShardEnd], content_bytes: int) -> JournalFile:
        """Make a spare that takes a frame of ``content_bytes``; ``ends`` covers everything before the active file."""
        first = self.active
        head = self._head(first.generation, first.first_sequence, ends)
        return self._make(head, max(self._journal_bytes, len(encode_head(head)[0]) + SECTOR + FRAME_BYTES + content_bytes))

    def use(self, spare: JournalFile) -> None:
        """The spare is ready: what its head made worthless is free."""
        self._free += [retained.file for retained in self._retained]
        self._retained.clear()
        if self.spare is not None:
            self._free.append(self.spare.file)
        self.spare = spare

    def finish(self, ends: Iterable[ShardEnd]) -> None:
        """All is in synced segments: say so, if there is a file to say it in, so that the next start is quick."""
        if not self._free and self.spare is not None:
            self._free.append(self.spare.file)
            self.spare = None
        if self._free:
            self._retained.append(self._make(self._clean_head(ends), self._free[-1].size()))

    def close(self) -> None:
        """Let go of the files."""
        used = [each.file for each in (self._active, self.spare, *self._retained) if each is not None]
        for file in used + self._free:
            file.close()

    def _clean_head(self, ends: Iterable[ShardEnd]) -> Head:
        return self._head(self._generation + 1, self.sequence, ends)

    def _head(self, replay_from: int, sequence: int, ends: Iterable[ShardEnd]) -> Head:
        salt = int.from_bytes(self._storage.random(8), "big")
        return Head(self._generation + 1, replay_from, sequence, salt, tuple(ends), self._is_synced)

    def _make(self, head: Head, size: int) -> JournalFile:
        """Write a head over a free file of that size, or over a new one."""
        size = aligned(max(size, len(encode_head(head)[0]) + SECTOR))
        raw, seed = encode_head(replace(head, capacity=size))
        file = self._free_file(size) or self._new_file(head.generation, size)
        self._generation = head.generation
        try:
            write_all(file, raw, 0)
        except OSError:
            self._free.append(file)
            raise
        sync_file(file)
        self.durable = {end.shard: end for end in head.ends}
        return JournalFile(file, head, seed, aligned(len(raw)))

    def _free_file(self, size: int) -> File | None:
        while self._free:
            file = self._free.pop()
            if file.size() == size:
                return file
            file.close()
            self._storage.remove(file.path)
        return None

    def _new_file(self, generation: int, size: int) -> File:
        file = self._storage.open(f"{self.directory}/{generation:020d}{SUFFIX}", create=True)
        try:
            for position in range(0, size, len(ZEROS)):
                write_all(file, ZEROS[: size - position], position)
            # Nothing rests on this file yet: that it cannot be synced (a full disk may be noticed here) is no reason to stop.
            file.sync()
            self._storage.sync_dir(self.directory)
        except OSError:
            file.close()
            self._storage.remove(file.path)
            raise
        return file


class Found(Struct):
    """What is in the journal of one loop."""

    head: Head | None = None
    entries: list[Entry] = []
    generation: int = 0  # the newest ever used
    sequence: int = 0  # of the next frame
    chain: list[str] = []  # the files that the newest head rests on
    others: list[str] = []
    mended: list[tuple[str, int]] = []  # where frames had a rotten bit


class _Seen(NamedTuple):
    path: str
    head: Head
    seed: int
    start: int


def find(storage: Storage, directory: str) -> Found:
    """Read the journal of one loop, and make durable what was found. DamagedLog when frames that were durable are not there."""
    found = read_journal(storage, directory)
    # Who wrote it may have been killed before it was synced: nothing may rest on it before it is.
    sync_dir(storage, directory)
    for path in found.chain:
        with closing(storage.open(path)) as file:
            sync_file(file)
    return found


def read_journal(storage: Storage, directory: str) -> Found:
    """Read the journal of one loop. DamagedLog when frames that were durable are not there."""
    paths = [f"{directory}/{name}" for name in storage.list(directory) if name.endswith(SUFFIX)]
    seen = sorted((each for path in paths if (each := _read_head(storage, path))), key=lambda each: each.head.generation)
    names = [int(path[len(directory) + 1 : -len(SUFFIX)]) for path in paths]
    if not seen:
        _refuse_headless(storage, paths, -1)
        return Found(generation=max(names, default=0), others=paths)
    newest = seen[-1].head
    chain = [each for each in seen if each.head.generation >= newest.replay_from]
    _refuse_headless(storage, sorted(set(paths) - {each.path for each in seen}), newest.generation)
    if chain[0].head.generation != newest.replay_from:
        raise DamagedLog(
            seen[-1].path, 0, f"the journal file of generation {newest.replay_from}, on which this one rests, is missing"
        )
    entries, sequence, mended = _read_frames(storage, chain, newest.sequence)
    rests_on = [each.path for each in chain]
    others = [path for path in paths if path not in rests_on]
    return Found(newest, entries, max(newest.generation, *names), sequence, rests_on, others, mended)


def heads(storage: Storage, directory: str) -> list[Head]:
    """Whatever heads are whole."""
    paths = [f"{directory}/{name}" for name in storage.list(directory) if name.endswith(SUFFIX)]
    return [seen.head for path in paths if (seen := _read_head(storage, path))]


def _read_head(storage: Storage, path: str) -> _Seen | None:
    with closing(storage.open(path)) as file:
        size = file.size()
        decoded = decode_head(file.pread(_HEAD_READ_BYTES, 0)) or decode_head(file.pread(size, 0))
    if decoded and size < decoded[0].capacity:
        raise DamagedLog(path, size, f"the journal file is {decoded[0].capacity} bytes long, its head says")
    return _Seen(path, *decoded) if decoded else None


def _read_frames(storage: Storage, chain: Sequence[_Seen], sequence: int) -> tuple[list[Entry], int, list[tuple[str, int]]]:
    entries: list[Entry] = []
    mended: list[tuple[str, int]] = []
    end = (chain[0].path, chain[0].start)
    for each in chain:
        with closing(storage.open(each.path)) as file:
            reader = FrameReader(each.path, file.pread, each.head, each.seed, each.start)
            for found, content in reader.contents(sequence):
                if found != sequence:
                    if not chain[0].head.is_synced:
                        return entries, found, mended  # log.flush = os: what comes after a hole was never promised
                    raise DamagedLog(*end, f"frame {sequence} is missing: the next one found is {found}, in {each.path}")
                entries += decode_entries(content)
                sequence += 1
                end = (each.path, reader.position)
            mended += [(each.path, position) for position in reader.mended]
    return entries, sequence, mended


def _refuse_headless(storage: Storage, paths: Iterable[str], newest: int) -> None:
    """A file whose head was torn while it was made ready holds older frames only."""
    for path in paths:
        if newest_frame_generation(read_file(storage, path)) > newest:
            raise DamagedLog(path, 0, "the head of this journal file is damaged")
