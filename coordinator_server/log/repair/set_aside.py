"""Take the end of a shard out of the log of an observed directory: its cluster does not have it any more.

Steps, and what a kill after each leaves behind; ``finish`` goes on with it:

1. ``set-aside.json`` says which shard, and from which offset on      the log as it was
2. the log is recovered, and the journal removed: all is in segments  the same
3. the batches are copied to ``set-aside/``                           the same
4. layers that have them are removed, and segments are cut            the log as it was, or shorter
5. ``set-aside.json`` is removed                                      the shorter log

The caller holds the directory's lock, so that no other process writes there. A shard that begins anew is set aside from offset 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from coordinator_server.log.errors import LogError
from coordinator_server.log.file_names import JOURNALS, layer_offsets, layer_path, marks_path, segment_bases, segment_path
from coordinator_server.log.read.segment_reader import Span, read_span
from coordinator_server.log.repair.recovery import recover
from coordinator_server.log.shards import shard_named
from coordinator_server.log.storage import (
    Storage,
    make_dir_durably,
    read_file,
    remove_tree,
    replace_file,
    sync_dir,
    sync_file,
)
from protocol.record_batch import read_header

INTENT: Final = "set-aside.json"
DIRECTORY: Final = "set-aside"


class Cut(Struct, frozen=True):
    """Which batches to set aside: those of a shard from the one that has an offset. ``name`` is what they are called there."""

    shard: str
    from_offset: int
    name: str


def set_aside(storage: Storage, data_dir: str, cut: Cut) -> int:
    """Cut a shard, and return the offset at which it ends then. Raises LogError."""
    replace_file(storage, f"{data_dir}/{INTENT}", msgspec.json.encode(cut))
    return _carry_out(storage, data_dir, cut)


def finish(storage: Storage, data_dir: str) -> None:
    """Go on with what was begun and not finished. Raises LogError."""
    path = f"{data_dir}/{INTENT}"
    if not storage.exists(path):
        return
    try:
        cut = msgspec.json.decode(read_file(storage, path), type=Cut)
    except msgspec.DecodeError as error:
        raise LogError(f"{path} cannot be read ({error}): remove it, and the cut is made again") from error
    _carry_out(storage, data_dir, cut)


def _carry_out(storage: Storage, data_dir: str, cut: Cut) -> int:
    shard = shard_named(cut.shard)
    directory, aside = f"{data_dir}/{shard}", f"{data_dir}/{DIRECTORY}"
    make_dir_durably(storage, aside)
    _remove_journals(storage, data_dir, f"{aside}/{JOURNALS}")
    if cut.from_offset:
        end = _keep_copy(storage, directory, f"{aside}/{cut.name}.log", cut.from_offset)
        for to_offset in layer_offsets(Path(directory), storage):
            if to_offset > end:
                remove_tree(storage, str(layer_path(Path(directory), to_offset)))
        _cut_segments(storage, directory, end)
    else:
        end = 0
        if storage.exists(directory) and not storage.exists(f"{aside}/{cut.name}"):
            storage.rename(directory, f"{aside}/{cut.name}")
            sync_dir(storage, aside)
    storage.remove(f"{data_dir}/{INTENT}")
    sync_dir(storage, data_dir)
    return end


def _remove_journals(storage: Storage, data_dir: str, away: str) -> None:
    """Bring all shards up to their journals, which are then not needed. They vanish in one step: a part of them is damage."""
    if storage.exists(f"{data_dir}/{JOURNALS}"):
        recover(storage, data_dir)
        if storage.exists(away):
            remove_tree(storage, away)
        storage.rename(f"{data_dir}/{JOURNALS}", away)
        sync_dir(storage, data_dir)
    if storage.exists(away):
        remove_tree(storage, away)


def _keep_copy(storage: Storage, directory: str, copy: str, from_offset: int) -> int:
    """Write what goes to a file of its own, unless that is done. Return where it begins: at a border of batches."""
    if not storage.exists(copy):
        pieces = list(_batches_from(storage, directory, from_offset))
        if not pieces:
            return from_offset
        replace_file(storage, copy, b"".join(pieces))
    return min(from_offset, read_header(read_file(storage, copy)).base_offset)


def _batches_from(storage: Storage, directory: str, from_offset: int) -> Iterator[bytes]:
    for base in _from(segment_bases(storage, directory), from_offset):
        path = segment_path(directory, base)
        for batch in read_span(storage, Span(path, base, 0, storage.size(path))):
            if batch.header.next_offset > from_offset:
                yield batch.data


def _cut_segments(storage: Storage, directory: str, end: int) -> None:
    """Cut from the end on, so that what is left is a log at any moment."""
    for base in reversed(_from(segment_bases(storage, directory), end)):
        path = segment_path(directory, base)
        if storage.exists(marks_path(path)):
            storage.remove(marks_path(path))
        if base >= end:
            storage.remove(path)
            continue
        batches = read_span(storage, Span(path, base, 0, storage.size(path)))
        size = sum(batch.header.size for batch in batches if batch.header.next_offset <= end)
        with closing(storage.open(path)) as file:
            file.truncate(size)
            sync_file(file)
    sync_dir(storage, directory)


def _from(bases: list[int], offset: int) -> list[int]:
    """Return the segments that have the offset or a later one."""
    return bases[max((number for number, base in enumerate(bases) if base <= offset), default=0) :]
