"""Power losses while a backup is taken, and while one is restored."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import msgspec

from coordinator_server.log.meta import NAME, read_meta
from coordinator_server.log.storage import LOCAL, read_file
from coordinator_server.pipeline.backup.contents import MANIFEST, Backup, read_backup
from coordinator_server.pipeline.backup.take import Moment, take_backup
from coordinator_server.pipeline.files.restore import restore
from tests.support.power_log import make_durably
from tests.support.segments import coordinator_log, write_meta, write_segments
from tests.support.storage import SimulatedDisk

SHARD = "__consumer_offsets-3"


@cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    """A data directory, and a backup of it. Both are real: they are only read."""
    scratch = tempfile.TemporaryDirectory()
    data_dir = Path(scratch.name, "data")
    data_dir.mkdir()
    write_meta(data_dir)
    end = write_segments(data_dir / SHARD, coordinator_log(1, 4), 1)
    take_backup(data_dir, Path(scratch.name, "backup"), read_meta(LOCAL, str(data_dir)), Moment({SHARD: end}, 5, "1.0"))
    return scratch


def _files(directory: Path, backup: Backup) -> dict[str, bytes]:
    return {file.name: (directory / file.name).read_bytes()[: file.size] for file in backup.files}


class TakeBackup:
    """What the manifest names is there."""

    def __init__(self) -> None:
        scratch = Path(_scratch().name)
        self._data_dir, self._target = scratch / "data", scratch / "second"
        # The lock is a real file.
        self._target.mkdir(exist_ok=True)
        self._backup = read_backup(scratch / "backup")
        self._files = _files(scratch / "backup", self._backup)

    def prepare(self, disk: SimulatedDisk) -> None:
        for path in self._data_dir.rglob("*"):
            if path.is_file():
                make_durably(disk, str(path.parent))
                disk.put(str(path), path.read_bytes())

    def do(self, disk: SimulatedDisk) -> None:
        backup = self._backup
        moment = Moment(backup.shards, backup.taken_ms, backup.server_version)
        take_backup(self._data_dir, self._target, read_meta(LOCAL, str(self._data_dir)), moment, storage=disk)

    def check(self, disk: SimulatedDisk, *, is_done: bool) -> None:
        target = str(self._target)
        if not disk.exists(f"{target}/{MANIFEST}"):
            assert not is_done
            return
        backup = msgspec.json.decode(read_file(disk, f"{target}/{MANIFEST}"), type=Backup)
        assert {file.name: read_file(disk, f"{target}/{file.name}")[: file.size] for file in backup.files} == self._files


class RestoreBackup:
    """A directory with an identity is whole; one without gets everything when the restore runs again."""

    data_dir = Path("/restored")

    def __init__(self) -> None:
        self._source = Path(_scratch().name, "backup")
        self._files = _files(self._source, read_backup(self._source))

    def prepare(self, disk: SimulatedDisk) -> None:
        """Nothing is there."""

    def do(self, disk: SimulatedDisk) -> None:
        if self._is_whole(disk):
            # As a server does that starts there.
            disk.sync_dir(str(self.data_dir))
        else:
            restore(self._source, self.data_dir, disk)

    def check(self, disk: SimulatedDisk, *, is_done: bool) -> None:
        assert self._is_whole(disk) or not is_done
        self.do(disk)
        assert {name: read_file(disk, f"{self.data_dir}/{name}") for name in self._files} == self._files

    def _is_whole(self, disk: SimulatedDisk) -> bool:
        path = f"{self.data_dir}/{NAME}"
        return disk.exists(path) and read_file(disk, path) == self._files[NAME]
