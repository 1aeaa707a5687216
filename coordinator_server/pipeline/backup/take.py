"""Take a backup: copy what is new into its directory, then replace its manifest.

    1. the moment (cut.py); everything before it is sealed, and so never changes again
    2. copy layers and segments that the last backup has not: each into a file of its own, synced, renamed
    3. replace the manifest: this is the backup now
    4. remove what it does not name any more

A kill at any step leaves the backup before it, and the next run goes on. Each file that is copied is read and checked. Retention
removes no file while it is copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec
from crc32c import crc32c
from msgspec import Struct

from coordinator_server.kinds import kind_of
from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.layers.layer import MANIFEST as LAYER_MANIFEST
from coordinator_server.log.layers.layer import Layer
from coordinator_server.log.meta import IMPORTED, NAME
from coordinator_server.log.storage import LOCAL, Storage, make_dir_durably, read_file, remove_tree, replace_file, write_all
from coordinator_server.log.store import Meta
from coordinator_server.pipeline.backup.contents import (
    MANIFEST,
    Backup,
    BackupFile,
    SegmentPart,
    bytes_before,
    layer_files,
    layers_before,
    read_backup,
    segment_parts,
)
from coordinator_server.pipeline.errors import CannotRun, NotReady, PipelineError
from coordinator_server.pipeline.job_lock import job_lock

_LOCK: Final = ".backup.lock"
_NEW: Final = ".new"
# Retention may remove a file between the listing of a shard and its copy.
_TRIES: Final = 5
_OURS: Final = frozenset({NAME, IMPORTED, MANIFEST})


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


def _known(target: Path, meta: Meta) -> dict[str, BackupFile]:
    """Return the files of the backup that is there. Raises CannotRun for a directory of something else."""
    names = [name for name in LOCAL.list(str(target)) if not name.startswith(".") and name != "lost+found"]
    if MANIFEST not in names:
        is_begun = (target / _LOCK).exists() and all(name.removesuffix(_NEW) in _OURS or kind_of(name) for name in names)
        if names and not is_begun:
            raise CannotRun(f"{target} has other files and no {MANIFEST}: name a directory that is empty, or does not exist")
        return {}
    backup = read_backup(target)
    if backup.cluster_id != meta.cluster_id:
        raise CannotRun(f"{target} is a backup of the cluster {backup.cluster_id}, and this is {meta.cluster_id}: name another")
    return {file.name: file for file in backup.files}


class _Taking:
    """A backup in progress."""

    def __init__(self, data_dir: Path, target: Path, known: Mapping[str, BackupFile], storage: Storage) -> None:
        self._data_dir = data_dir
        self._target = target
        self._known = known
        self._storage = storage
        self._changed: dict[Path, None] = {}
        self.files: list[BackupFile] = []
        self.copied = 0
        self.copied_bytes = 0

    def add_shard(self, shard: str, cut: int, *, with_history: bool) -> None:
        """Copy what a shard has before ``cut``, again if retention removes some of it meanwhile."""
        for _ in range(_TRIES):
            begun = len(self.files)
            try:
                self._add_shard(self._data_dir / shard, cut, with_history=with_history)
            except FileNotFoundError:
                del self.files[begun:]
            else:
                return
        raise NotReady(f"files of {shard} were removed while they were copied: try again")

    def _add_shard(self, shard_dir: Path, cut: int, *, with_history: bool) -> None:
        layers = layers_before(shard_dir, cut)
        kept = layers if with_history else layers[:1]
        parts = segment_parts(shard_dir, 0 if with_history or not kept else kept[0].to_offset, cut)
        _check_whole(shard_dir, kept, parts, cut)
        for layer in reversed(kept):
            with closing(self._storage.share(str(layer.path / LAYER_MANIFEST))):
                for file in layer_files(layer):
                    self._add_file(file, lambda path: read_file(self._storage, str(path)))
        for part in parts:
            with closing(self._storage.share(str(part.path))):
                self._add_part(f"{shard_dir.name}/{part.path.name}", part)

    def _add_part(self, name: str, part: SegmentPart) -> None:
        known = self._known.get(name)
        if known is not None and known.size == part.path.stat().st_size and self._has(known):
            # It is sealed, and was copied to its end.
            self.files.append(known)
            return
        self._add_content(name, bytes_before(part))

    def add_identity(self) -> None:
        """Copy the files that say whose directory it is."""
        for name in (NAME, IMPORTED):
            path = self._data_dir / name
            if path.exists():
                data = path.read_bytes()
                self._add_content(name, data)

    def _add_content(self, name: str, data: bytes) -> None:
        self._add_file(BackupFile(name, len(data), crc32c(data)), lambda _: data)

    def _add_file(self, file: BackupFile, read: Callable[[Path], bytes]) -> None:
        self.files.append(file)
        if self._known.get(file.name) == file and self._has(file):
            return
        path = self._data_dir / file.name
        data = read(path)
        if (len(data), crc32c(data)) != (file.size, file.crc32c):
            raise DamagedLog(str(path), 0, f"it should have {file.size} bytes with CRC {file.crc32c:#010x}; nothing is replaced")
        self._write(self._target / file.name, data)
        self.copied += 1
        self.copied_bytes += len(data)

    def _has(self, file: BackupFile) -> bool:
        path = str(self._target / file.name)
        return self._storage.exists(path) and self._storage.size(path) >= file.size

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


def _check_whole(shard_dir: Path, layers: Sequence[Layer], parts: Sequence[SegmentPart], cut: int) -> None:
    """Raise PipelineError unless layers and segments together are everything before ``cut``."""
    reached = layers[0].to_offset if layers and (not parts or parts[0].base > 0) else 0
    if parts and parts[0].base > reached:
        reached = -1
    for part in parts:
        reached = max(reached, part.end) if part.base <= reached else -1
    if reached < cut:
        raise PipelineError(
            f"{shard_dir}: its files do not reach from the beginning to offset {cut}; if that stays, "
            "`coordinator-server log verify` says what is missing"
        )


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
