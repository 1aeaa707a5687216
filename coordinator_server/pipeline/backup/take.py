"""Take a backup: copy what is new into its directory, then replace its manifest.

    1. the moment (cut.py); everything before it is durable, and so never changes again
    2. copy layers and segments that the last backup has not: each into a file of its own, synced, renamed
    3. replace the manifest: this is the backup now
    4. remove what it does not name any more

A kill at any step leaves the backup before it, and the next run goes on. Each file that is copied is read and checked. Retention
removes no file while it is copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec
from crc32c import crc32c
from msgspec import Struct

from coordinator_server.kinds import kind_of
from coordinator_server.log.jobs import FileEntry, JobShard, SavedFile
from coordinator_server.log.opening import identity_files, is_saved_name, job_shard
from coordinator_server.log.storage import LOCAL, Storage, make_dir_durably, remove_tree, replace_file, write_all
from coordinator_server.log.store import Meta
from coordinator_server.pipeline.backup.contents import MANIFEST, Backup, read_backup
from coordinator_server.pipeline.errors import CannotRun, NotReady
from coordinator_server.pipeline.job_lock import job_lock

_LOCK: Final = ".backup.lock"
_NEW: Final = ".new"
# Retention may remove a file between the listing of a shard and its copy.
_TRIES: Final = 5


class Taken(Struct, frozen=True):
    """A backup that was taken: all it has, and what of it was copied now."""

    taken_ms: int
    shards: int
    files: int
    bytes: int
    copied_files: int
    copied_bytes: int
    removed_files: int


class Moment(Struct, frozen=True):
    """What is to be in a backup: the offset of each shard, and the time before they were asked for, in ms since 1970."""

    shards: Mapping[str, int]
    taken_ms: int
    server_version: str


def take_backup(
    data_dir: Path, target: Path, meta: Meta, moment: Moment, *, with_history: bool = True, storage: Storage = LOCAL
) -> Taken:
    """Make ``target`` the backup of a moment. Raises PipelineError, LogError and OSError: it is the one before then."""
    known = _known(target, meta)
    storage.make_dir(str(target))
    with job_lock(target / _LOCK, f"another backup to {target} is running"):
        taking = _Taking(data_dir, target, known, storage)
        for shard, cut in sorted(moment.shards.items()):
            if cut:
                taking.add_shard(shard, cut, with_history=with_history)
        taking.add_identity()
        files = tuple(taking.files)
        backup = Backup(
            meta.cluster_id, meta.node_id, moment.server_version, moment.taken_ms, dict(moment.shards), files, with_history
        )
        taking.sync_names()
        replace_file(storage, f"{target}/{MANIFEST}", msgspec.json.format(msgspec.json.encode(backup), indent=1) + b"\n")
        removed = _remove_others(target, {file.name for file in files}, storage)
    size = sum(file.size for file in files)
    return Taken(
        moment.taken_ms, sum(map(bool, moment.shards.values())), len(files), size, taking.copied, taking.copied_bytes, removed
    )


def _known(target: Path, meta: Meta) -> dict[str, FileEntry]:
    """Return the files of an existing backup. Raises CannotRun for a directory of something else."""
    names = [name for name in LOCAL.list(str(target)) if not name.startswith(".") and name != "lost+found"]
    if MANIFEST not in names:
        is_begun = (target / _LOCK).exists() and all(map(_is_of_a_backup, names))
        if names and not is_begun:
            raise CannotRun(f"{target} has other files and no {MANIFEST}: name a directory that is empty, or does not exist")
        return {}
    backup = read_backup(target)
    if backup.cluster_id != meta.cluster_id:
        raise CannotRun(f"{target} is a backup of the cluster {backup.cluster_id}, and this is {meta.cluster_id}: name another")
    return {file.name: file for file in backup.files}


def _is_of_a_backup(name: str) -> bool:
    whole = name.removesuffix(_NEW)
    return whole == MANIFEST or is_saved_name(whole) or kind_of(name) is not None


class _Taking:
    """A backup in progress."""

    def __init__(self, data_dir: Path, target: Path, known: Mapping[str, FileEntry], storage: Storage) -> None:
        self._data_dir = data_dir
        self._target = target
        self._storage = storage
        self._known = {name: file for name, file in known.items() if self._has(file)}
        self._changed: dict[Path, None] = {}
        self.files: list[FileEntry] = []
        self.copied = 0
        self.copied_bytes = 0

    def add_shard(self, shard: str, cut: int, *, with_history: bool) -> None:
        """Copy what a shard has before ``cut``, again if retention removes some of it meanwhile."""
        for _ in range(_TRIES):
            begun = len(self.files)
            try:
                self._add_shard(job_shard(self._data_dir / shard), cut, with_history=with_history)
            except FileNotFoundError:
                del self.files[begun:]
            else:
                return
        raise NotReady(f"files of {shard} were removed while they were copied: try again")

    def _add_shard(self, shard: JobShard, cut: int, *, with_history: bool) -> None:
        for file in shard.saved(cut, self._known, with_history=with_history):
            self._add(file)

    def add_identity(self) -> None:
        """Copy the files that say whose log it is."""
        for file in identity_files(self._data_dir):
            self._add(file)

    def _add(self, file: SavedFile) -> None:
        entry = file.entry
        self.files.append(entry)
        before = self._known.get(entry.name)
        if before == entry or (before is not None and before.size > entry.size and self._begins_with(entry)):
            # Of a store, a shard's records may be cut elsewhere when some of them have moved.
            return
        data = file.read()
        self._write(self._target / entry.name, data)
        self.copied += 1
        self.copied_bytes += len(data)

    def _has(self, file: FileEntry) -> bool:
        path = str(self._target / file.name)
        return self._storage.exists(path) and self._storage.size(path) >= file.size

    def _begins_with(self, file: FileEntry) -> bool:
        with closing(self._storage.open_read_only(str(self._target / file.name))) as copy:
            return crc32c(copy.pread(file.size, 0)) == file.crc32c

    def _write(self, path: Path, data: bytes) -> None:
        attempt = f"{path}{_NEW}"
        if path.parent not in self._changed:
            make_dir_durably(self._storage, str(path.parent))
            self._changed[path.parent] = None
        self._storage.remove(attempt)
        with closing(self._storage.open(attempt, create=True)) as file:
            write_all(file, data, 0)
            file.sync()
        self._storage.rename(attempt, str(path))

    def sync_names(self) -> None:
        """Make the names of all copies durable."""
        for directory in self._changed:
            self._storage.sync_dir(str(directory))


def _remove_others(target: Path, named: set[str], storage: Storage) -> int:
    """Remove the files of shards that the manifest does not name. Return their number."""
    removed = 0
    for path in list(_files_of_shards(target)):
        if str(path.relative_to(target)) not in named:
            storage.remove(str(path))
            removed += 1
    for directory in sorted({path for path in target.glob("*/*/") if kind_of(path.parent.name) is not None}, reverse=True):
        if not any(directory.iterdir()):
            remove_tree(storage, str(directory))
    return removed


def _files_of_shards(target: Path) -> Iterator[Path]:
    for shard_dir in target.iterdir():
        if kind_of(shard_dir.name) is not None:
            yield from (path for path in shard_dir.rglob("*") if path.is_file())
