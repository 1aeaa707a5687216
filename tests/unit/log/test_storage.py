"""The operating system's files, as far as they can be asked without a power loss."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from coordinator_server.log import storage
from coordinator_server.log.errors import LockedLog
from coordinator_server.log.storage import LocalStorage, make_dir_durably, read_file, replace_file, write_all
from tests.support.server import ROOT
from tests.support.storage import PowerCut, SimulatedDisk


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "file")


def test_reserved_room_does_not_show(path: str) -> None:
    """Whoever reads the file sees what was written; a cut gives the room back."""
    file = LocalStorage().open(path, create=True)
    write_all(file, b"data", 0)
    file.reserve(4, 1 << 20)
    assert file.size() == 4
    reserved = Path(path).stat().st_blocks
    file.truncate(4)
    file.close()

    assert reserved * 512 >= 1 << 20
    assert Path(path).stat().st_blocks < reserved


def test_where_room_cannot_be_reserved_there_are_zeros(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writing is the one way that every file system has to find out whether there is room."""
    monkeypatch.setattr(storage, "_fallocate", None)
    file = LocalStorage().open(path, create=True)
    write_all(file, b"data", 0)
    file.reserve(4, 3_000_000)

    assert file.size() == 3_000_004
    assert file.pread(4, 0) == b"data"
    file.close()


def test_a_lock_names_its_holder(path: str) -> None:
    """A second one is refused, also within the process; a lock that was let go is free."""
    lock = LocalStorage().lock(path)
    with pytest.raises(LockedLog, match=f"process {os.getpid()}"):
        LocalStorage().lock(path)
    lock.close()

    LocalStorage().lock(path).close()


def test_a_lock_goes_with_its_process(path: str) -> None:
    """However it ends."""
    script = (
        f"import os; from coordinator_server.log.storage import LocalStorage; lock = LocalStorage().lock({path!r}); os._exit(9)"
    )
    ended = subprocess.run([sys.executable, "-c", script], check=False, timeout=30, cwd=ROOT)
    assert ended.returncode == 9
    assert int(Path(path).read_text()) not in (0, os.getpid())

    LocalStorage().lock(path).close()


def test_replace_file(path: str) -> None:
    """The new content is there, and no attempt is left."""
    replace_file(LocalStorage(), path, b"old")
    replace_file(LocalStorage(), path, b"new")

    assert read_file(LocalStorage(), path) == b"new"
    assert LocalStorage().list(str(Path(path).parent)) == ["file"]


def test_a_directory_that_is_not_there_is_empty(path: str) -> None:
    """Nothing has been written yet is no error."""
    assert LocalStorage().list(path) == []
    assert not LocalStorage().exists(path)
    LocalStorage().remove(path)


def test_a_directory_is_synced_though_no_descriptor_is_left(tmp_path: Path) -> None:
    """Clients have used them up. It is no failed sync, which would end the server; again and again."""
    script = f"""
import os, resource
from coordinator_server.log.storage import LocalStorage
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
storage = LocalStorage()
storage.sync_dir({str(tmp_path)!r})
try:
    while True:
        os.open("/", os.O_RDONLY)
except OSError:
    pass
for _ in range(3):
    storage.sync_dir({str(tmp_path)!r})
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_every_new_directory_survives_a_power_loss() -> None:
    """Also after a kill at any moment: what the next start finds is made durable before it is used."""
    for calls in range(12):
        disk = SimulatedDisk()
        disk.cut_power_after(calls)
        try:
            make_dir_durably(disk, "/srv/coordinator/data")
        except PowerCut:
            disk.kill()
            make_dir_durably(disk, "/srv/coordinator/data")
        for seed in range(20):
            assert disk.power_loss(Random(seed)).exists("/srv/coordinator/data"), f"killed after {calls} calls"


def test_a_directory_below_one_that_may_not_be_read(tmp_path: Path) -> None:
    """A data directory that exists may be in a directory of somebody else."""

    class Closed(LocalStorage):
        def sync_dir(self, path: str, /) -> None:
            raise PermissionError(path)

    make_dir_durably(Closed(), str(tmp_path))
    with pytest.raises(PermissionError):
        make_dir_durably(Closed(), str(tmp_path / "data"))


@pytest.mark.parametrize("path", ["data", "data/", "./data/nested"])
def test_a_relative_path_of_a_directory(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It begins at the directory of the process."""
    monkeypatch.chdir(tmp_path)
    make_dir_durably(LocalStorage(), path)

    assert (tmp_path / path).is_dir()
