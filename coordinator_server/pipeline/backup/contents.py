"""The manifest of a backup: the files of a log at a moment, under the names that they have in a data directory.

A file has at least the bytes that the manifest states, and only those count: a segment that goes on after the moment of the backup
is cut there, and a later backup into the same directory makes it longer. So while a backup is taken the one before it stays valid,
until its manifest is replaced.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from coordinator_server.log.jobs import FileEntry
from coordinator_server.log.opening import is_saved_name
from coordinator_server.pipeline.errors import CannotRun

FORMAT: Final = 1
MANIFEST: Final = "backup.json"


class Backup(Struct, frozen=True):
    """The manifest. ``shards`` has the offset of each shard at the moment of the backup; times are in ms since 1970.

    A backup has the first ``size`` bytes of each file; its name is relative to the data directory.
    """

    cluster_id: str
    node_id: int
    server_version: str
    taken_ms: int
    shards: dict[str, int]
    files: tuple[FileEntry, ...]
    has_history: bool
    format: int = FORMAT


def read_backup(directory: Path) -> Backup:
    """Return the manifest of a backup. Raises CannotRun if there is none that this version can read."""
    path = directory / MANIFEST
    try:
        backup = msgspec.json.decode(path.read_bytes(), type=Backup)
    except OSError as error:
        raise CannotRun(f"{directory} is no backup: {path}: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise CannotRun(f"{path} is not the manifest of a backup: {error}") from error
    if backup.format != FORMAT:
        raise CannotRun(f"{path} has format {backup.format}, and this version reads {FORMAT}: use the version that wrote it")
    names = [file.name for file in backup.files]
    for name in names:
        if not is_saved_name(name):
            raise CannotRun(f"{path} names the file {name!r}, which no data directory has: it is not the manifest of a backup")
    if len(set(names)) < len(names):
        raise CannotRun(f"{path} names a file twice: it is not the manifest of a backup")
    return backup
