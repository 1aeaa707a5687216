"""Make a data directory from a backup, or check that one could be made.

The directory is no data directory before its last step: ``meta.properties`` says until then that a restore has begun, and no server
starts on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from crc32c import crc32c
from msgspec import Struct

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.jobs import FileEntry
from coordinator_server.log.meta import NAME, begin_meta, begun_in
from coordinator_server.log.storage import LOCAL, Storage, make_dir_durably, remove_tree, replace_file, write_all
from coordinator_server.pipeline.backup.contents import Backup, read_backup
from coordinator_server.pipeline.errors import CannotRun

_BEGUN = "restore"
# What an empty directory may have: the second is an attempt to say that a restore has begun.
_NOTHING = frozenset({"lost+found", f"{NAME}.new"})


class Restored(Struct, frozen=True):
    """What was restored, or checked. Times are in ms since 1970."""

    taken_ms: int
    cluster_id: str
    shards: int
    files: int
    bytes: int


def check_backup(source: Path) -> Restored:
    """Read every byte that a restore would read. Raises CannotRun, DamagedLog, OSError."""
    backup = read_backup(source)
    for _ in _contents(source, backup):
        pass
    return _result(backup)


def restore(source: Path, data_dir: Path, storage: Storage = LOCAL) -> Restored:
    """Make ``data_dir`` from a backup. It must be empty, or what is left of a restore. Raises CannotRun, DamagedLog, OSError."""
    backup = read_backup(source)
    _make_room(data_dir, storage)
    begin_meta(storage, str(data_dir), _BEGUN)
    identity = b""
    directories: dict[Path, None] = {data_dir: None}
    for file, data in _contents(source, backup):
        if file.name == NAME:
            identity = data
            continue
        path = data_dir / file.name
        if path.parent not in directories:
            make_dir_durably(storage, str(path.parent))
            directories[path.parent] = None
        with closing(storage.create(str(path))) as written:
            write_all(written, data, 0)
            written.sync()
    if not identity:
        raise CannotRun(f"{source} has no {NAME}: it is no whole backup")
    for directory in directories:
        storage.sync_dir(str(directory))
    replace_file(storage, f"{data_dir}/{NAME}", identity)
    return _result(backup)


def _make_room(data_dir: Path, storage: Storage) -> None:
    names = [name for name in storage.list(str(data_dir)) if name not in _NOTHING]
    if begun_in(storage, str(data_dir)) == _BEGUN:
        # The mark that a restore has begun stays: this one may be interrupted, too.
        for name in names:
            if name != NAME:
                remove_tree(storage, f"{data_dir}/{name}")
    elif names:
        raise CannotRun(f"{data_dir} is not empty: a restore makes a new directory; move this one away first")
    storage.make_dir(str(data_dir))


def _contents(source: Path, backup: Backup) -> Iterator[tuple[FileEntry, bytes]]:
    """Yield every file with its content, which has been compared with its CRC."""
    for file in backup.files:
        path = source / file.name
        if not path.resolve().is_relative_to(source.resolve()):
            raise DamagedLog(str(path), 0, "it is a link to what is outside of the backup")
        try:
            with path.open("rb") as opened:
                data = opened.read(file.size)
        except FileNotFoundError:
            raise DamagedLog(str(path), 0, "the manifest of the backup names this file, and it is missing") from None
        if (len(data), crc32c(data)) != (file.size, file.crc32c):
            raise DamagedLog(str(path), 0, f"the backup's manifest states {file.size} bytes with CRC {file.crc32c:#010x}")
        yield file, data


def _result(backup: Backup) -> Restored:
    shards = sum(map(bool, backup.shards.values()))
    return Restored(backup.taken_ms, backup.cluster_id, shards, len(backup.files), sum(file.size for file in backup.files))
