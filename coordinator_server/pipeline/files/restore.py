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
from coordinator_server.log.meta import NAME
from coordinator_server.log.storage import LOCAL, Storage, make_dir_durably, replace_file, write_all
from coordinator_server.pipeline.backup.contents import Backup, read_backup
from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.files.new_directory import begin_directory

_BEGUN = "restore"


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
    begin_directory(data_dir, _BEGUN, storage)
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
