"""The journal of one loop: records of all its shards are durable here first, and in segments later.

Files are filled with zeros ahead of time and used in turn. So a submit costs one write into space
that exists already, and one sync. A frame holds the batches of one submit, all or none; frames.py
has its bytes. A file is one of:

    active      takes frames
    spare       the next one: its head is durable before the active file is full
    retained    the one before the active: recovery needs its frames until the next spare's head is durable
    free        every other file

A head states how far each shard is durable in its segments, and which frame comes after that: frame
``sequence``, the first of generation ``replay_from``. Recovery takes the newest head and the frames
from there on. A spare's head is written when everything before the active file is in synced
segments, and only over a free file. If that write is torn, the head before it is the newest one,
and all files that it needs still exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from coordinator_server.log.file_names import journal_path
from coordinator_server.log.shards import ShardEnd, ShardId
from coordinator_server.log.storage import ZEROS, File, Storage, sync_file, write_all
from coordinator_server.log.write.frames import FRAME_BYTES, SECTOR, Entry, Head, aligned, encode_frame, encode_head

FIRST_BYTES: Final = 1 << 20  # of the first file: small, so that the first start is quick


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
    """The journal's files. ``start``, ``prepare`` and ``finish`` wait for the disk; ``prepare`` may run in another thread."""

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

    def start(self, after: JournalContents, ends: Iterable[ShardEnd]) -> None:
        """Begin a new generation in a file that recovery does not need.

        ``ends`` states all shards, so every other file is free after it.
        """
        self._generation = after.generation
        self.sequence = after.sequence
        self._free = [self._storage.open(path) for path in after.others]
        size = self._free[-1].size() if self._free else min(FIRST_BYTES, self._journal_bytes)
        self._active = self._make(self._clean_head(ends), size)
        self._free += [self._storage.open(path) for path in after.chain]

    def retire(self, after: JournalContents, ends: Iterable[ShardEnd]) -> None:
        """Leave one clean file of a journal that no loop writes any more.

        A power loss may undo the removals of files in any order, so first a new head has to say that none of them is needed.
        """
        if after.entries or after.others or len(after.chain) > 1:
            self.start(after, ends)
            for file in self._free:
                self._storage.remove(file.path)
            self.close()

    def frame(self, content: Sequence[bytes]) -> bytes:
        """Return the next frame, to be written at the active file's position."""
        return encode_frame(self.active.generation, self.sequence, self.active.seed, content)

    def advance(self, frame_bytes: int) -> None:
        """Move on by a frame that is durable."""
        self.active.position = aligned(self.active.position + frame_bytes)
        self.sequence += 1

    def turn(self) -> None:
        """Make the spare file the active one."""
        assert self.spare is not None
        self._retained.append(self.active)
        self._active, self.spare = self.spare, None
        self._active.first_sequence = self.sequence

    def prepare(self, ends: Iterable[ShardEnd], content_bytes: int) -> JournalFile:
        """Make a spare file that a frame of ``content_bytes`` fits into; ``ends`` covers everything before the active file."""
        first = self.active
        head = self._head(first.generation, first.first_sequence, ends)
        return self._make(head, max(self._journal_bytes, len(encode_head(head)[0]) + SECTOR + FRAME_BYTES + content_bytes))

    def use(self, spare: JournalFile) -> None:
        """Take over a spare that is ready. The files that its head no longer needs are free."""
        self._free += [retained.file for retained in self._retained]
        self._retained.clear()
        if self.spare is not None:
            self._free.append(self.spare.file)
        self.spare = spare

    def finish(self, ends: Iterable[ShardEnd]) -> None:
        """Write a head that says that all is in synced segments, so that the next start is quick.

        Without a free file there is none.
        """
        if not self._free and self.spare is not None:
            self._free.append(self.spare.file)
            self.spare = None
        if self._free:
            self._retained.append(self._make(self._clean_head(ends), self._free[-1].size()))

    def close(self) -> None:
        """Close the files."""
        used = [each.file for each in (self._active, self.spare, *self._retained) if each is not None]
        for file in used + self._free:
            file.close()

    def _clean_head(self, ends: Iterable[ShardEnd]) -> Head:
        return self._head(self._generation + 1, self.sequence, ends)

    def _head(self, replay_from: int, sequence: int, ends: Iterable[ShardEnd]) -> Head:
        salt = int.from_bytes(self._storage.random(8), "big")
        return Head(self._generation + 1, replay_from, sequence, salt, tuple(ends), self._is_synced)

    def _make(self, head: Head, size: int) -> JournalFile:
        """Write a head over a free file of that size, or over a new file."""
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
        file = self._storage.open(journal_path(self.directory, generation), create=True)
        try:
            for position in range(0, size, len(ZEROS)):
                write_all(file, ZEROS[: size - position], position)
            # Recovery does not need this file yet, so a failed sync (a full disk may show here) does not fail the log.
            file.sync()
            self._storage.sync_dir(self.directory)
        except OSError:
            file.close()
            self._storage.remove(file.path)
            raise
        return file


class JournalContents(Struct):
    """What was read from the journal of one loop."""

    head: Head | None = None
    entries: list[Entry] = []
    generation: int = 0  # the newest ever used
    sequence: int = 0  # of the next frame
    chain: list[str] = []  # the files that the newest head needs
    others: list[str] = []
    mended: list[tuple[str, int]] = []  # where frames had a rotten bit
