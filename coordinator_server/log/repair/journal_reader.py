"""Read one loop's journal: which files count, and which entries in them were durable.

write/journal.py says which files there are and what their heads state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import Final, NamedTuple

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.file_names import JOURNAL_SUFFIX
from coordinator_server.log.repair.frame_reader import FrameReader, newest_frame_generation
from coordinator_server.log.shards import ShardEnd, ShardId
from coordinator_server.log.storage import Storage, read_file, sync_dir, sync_file
from coordinator_server.log.write.frames import Entry, Head, decode_entries, decode_head
from coordinator_server.log.write.journal import JournalContents

_HEAD_READ_BYTES: Final = 1 << 16


class _Headed(NamedTuple):
    path: str
    head: Head
    seed: int
    start: int


def recover_journal(storage: Storage, directory: str) -> JournalContents:
    """Read the journal of one loop, and sync what was read. DamagedLog if durable frames are missing."""
    found = read_journal(storage, directory)
    # Its writer may have been killed before the sync, and from now on recovery rests on it.
    sync_dir(storage, directory)
    for path in found.chain:
        with closing(storage.open(path)) as file:
            sync_file(file)
    return found


def read_journal(storage: Storage, directory: str) -> JournalContents:
    """Read the journal of one loop. DamagedLog if durable frames are missing."""
    paths = [f"{directory}/{name}" for name in storage.list(directory) if name.endswith(JOURNAL_SUFFIX)]
    seen = sorted((each for path in paths if (each := _read_head(storage, path))), key=lambda each: each.head.generation)
    names = [int(path[len(directory) + 1 : -len(JOURNAL_SUFFIX)]) for path in paths]
    if not seen:
        _refuse_headless(storage, paths, -1)
        return JournalContents(generation=max(names, default=0), others=paths)
    newest = seen[-1].head
    chain = [each for each in seen if each.head.generation >= newest.replay_from]
    _refuse_headless(storage, sorted(set(paths) - {each.path for each in seen}), newest.generation)
    if chain[0].head.generation != newest.replay_from:
        raise DamagedLog(
            seen[-1].path, 0, f"the journal file of generation {newest.replay_from}, on which this one rests, is missing"
        )
    entries, sequence, mended = _read_frames(storage, chain, newest.sequence)
    needed = [each.path for each in chain]
    others = [path for path in paths if path not in needed]
    return JournalContents(newest, entries, max(newest.generation, *names), sequence, needed, others, mended)


def read_heads(storage: Storage, directory: str) -> list[Head]:
    """Return the heads that are whole."""
    paths = [f"{directory}/{name}" for name in storage.list(directory) if name.endswith(JOURNAL_SUFFIX)]
    return [seen.head for path in paths if (seen := _read_head(storage, path))]


def newest_ends(heads: Iterable[Head]) -> dict[ShardId, ShardEnd]:
    """Return for each shard the furthest end that heads state."""
    ends: dict[ShardId, ShardEnd] = {}
    for head in heads:
        for end in head.ends:
            ends[end.shard] = max(end, ends.get(end.shard, end), key=lambda each: (each.offset, each.segment))
    return ends


def _read_head(storage: Storage, path: str) -> _Headed | None:
    with closing(storage.open(path)) as file:
        size = file.size()
        decoded = decode_head(file.pread(_HEAD_READ_BYTES, 0)) or decode_head(file.pread(size, 0))
    if decoded and size < decoded[0].capacity:
        raise DamagedLog(path, size, f"the journal file is {decoded[0].capacity} bytes long, its head says")
    return _Headed(path, *decoded) if decoded else None


def _read_frames(storage: Storage, chain: Sequence[_Headed], sequence: int) -> tuple[list[Entry], int, list[tuple[str, int]]]:
    entries: list[Entry] = []
    mended: list[tuple[str, int]] = []
    end = (chain[0].path, chain[0].start)
    for each in chain:
        with closing(storage.open(each.path)) as file:
            reader = FrameReader(each.path, file.pread, each.head, each.seed, each.start)
            for found, content in reader.contents(sequence):
                if found != sequence:
                    if not chain[0].head.is_synced:
                        return entries, found, mended  # log.flush = os: frames after a hole were never promised
                    raise DamagedLog(*end, f"frame {sequence} is missing: the next one found is {found}, in {each.path}")
                entries += decode_entries(content)
                sequence += 1
            end = (each.path, reader.position)
            mended += [(each.path, position) for position in reader.mended]
    return entries, sequence, mended


def _refuse_headless(storage: Storage, paths: Iterable[str], newest: int) -> None:
    """Raise DamagedLog for a file without a head that has newer frames.

    One that was torn while it was made ready has older ones only.
    """
    for path in paths:
        if newest_frame_generation(read_file(storage, path)) > newest:
            raise DamagedLog(path, 0, "the head of this journal file is damaged")
