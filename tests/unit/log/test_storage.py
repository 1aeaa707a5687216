"""The operating system's files, as far as they can be asked without a power loss."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import resource
import subprocess
import sys
from collections.abc import Callable
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


def test_positions_have_64_bits(path: str) -> None:
    """Behind 2 GiB there is room, too."""
    file = LocalStorage().open(path, create=True)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # So that no file system gets gigabytes of zeros instead.
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        file.reserve(3 << 30, 4096)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert file.size() == 0
    assert Path(path).stat().st_blocks >= 8
    file.close()


def fallocate(*errors: int) -> Callable[[int, int, int, int], int]:
    """A system call that fails with one error after the other, and then goes well."""
    left = list(errors)

    def call(_fd: int, _mode: int, _position: int, _length: int) -> int:
        if not left:
            return 0
        ctypes.set_errno(left.pop(0))
        return -1

    return call


@pytest.mark.parametrize("error", [errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_that_reserves_nothing_gets_zeros(path: str, monkeypatch: pytest.MonkeyPatch, error: int) -> None:
    """It says so when it is asked."""
    monkeypatch.setattr(storage, "_fallocate", fallocate(error))
    file = LocalStorage().open(path, create=True)
    file.reserve(0, 5000)

    assert file.size() == 5000
    file.close()


def test_a_full_disk_is_told(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupted call is made again; other errors are the caller's."""
    file = LocalStorage().open(path, create=True)
    monkeypatch.setattr(storage, "_fallocate", fallocate(errno.EINTR, errno.EINTR))
    file.reserve(0, 5000)
    monkeypatch.setattr(storage, "_fallocate", fallocate(errno.EINTR, errno.ENOSPC))
    with pytest.raises(OSError, match="No space left") as caught:
        file.reserve(0, 5000)

    assert (caught.value.errno, file.size()) == (errno.ENOSPC, 0)
    file.close()


def test_an_error_of_the_system_call_is_known(path: str) -> None:
    """Of the real one."""
    file = LocalStorage().open(path, create=True)
    file.close()
    with pytest.raises(OSError) as caught:
        file.reserve(0, 5000)

    assert caught.value.errno == errno.EBADF


def test_a_read_that_stops_early_goes_on(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to the end of the file. The operating system may give less than it was asked for."""
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, position: pread(fd, min(size, 1), position))
    file = LocalStorage().open(path, create=True)
    write_all(file, b"0123456789", 0)

    assert file.pread(8, 1) == b"12345678"
    assert file.pread(100, 1) == b"123456789"
    assert file.pread(100, 10) == b""
    file.close()


def test_a_file_may_be_closed_twice(path: str) -> None:
    """Whoever cleans up need not know who else has."""
    file = LocalStorage().open(path, create=True)
    file.close()
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
    """Clients have used them up. It is no failed sync, which would end the server; again and again.

    One is kept for it from the first sync on, and no more than that.
    """
    script = f"""
import contextlib, errno, os, resource
from coordinator_server.log.storage import LocalStorage
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
storage, used = LocalStorage(), []
def use_up():
    with contextlib.suppress(OSError):
        while True:
            used.append(os.open("/", os.O_RDONLY))
def give_back():
    while used:
        os.close(used.pop())
def error_of(path):
    try:
        storage.sync_dir(path)
    except OSError as error:
        return error.errno
use_up()
assert error_of({str(tmp_path)!r}) == errno.EMFILE
give_back()
for _ in range(3):
    storage.sync_dir({str(tmp_path)!r})
    assert error_of({str(tmp_path / "missing")!r}) == errno.ENOENT
first = len(os.listdir("/proc/self/fd"))
storage.sync_dir({str(tmp_path)!r})
assert len(os.listdir("/proc/self/fd")) == first
for _ in range(3):
    use_up()
    storage.sync_dir({str(tmp_path)!r})
give_back()
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


@pytest.mark.parametrize("how", ["replaced", "removed"])
def test_a_file_that_goes_while_a_reader_waits_for_its_lock(path: str, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """The lock of a file without a name keeps nobody off, and is let go."""
    write_all(LocalStorage().open(path, create=True), b"old", 0)
    flock = fcntl.flock

    def late(fd: int, mode: int) -> None:
        flock(fd, mode)
        Path(path).unlink()
        if how == "replaced":
            Path(path).write_bytes(b"new")

    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", late)
        before = len([*Path("/proc/self/fd").iterdir()])
        with pytest.raises(FileNotFoundError):
            LocalStorage().share(path)
        assert len([*Path("/proc/self/fd").iterdir()]) == before
