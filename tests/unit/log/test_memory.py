"""MemoryStorage does what the operating system's files do, as far as both can be asked; and a log in it is a log."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from coordinator_server.log.errors import LockedLog
from coordinator_server.log.local import LocalLogStore, LogOptions
from coordinator_server.log.memory import MemoryStorage
from coordinator_server.log.storage import (
    LocalStorage,
    Storage,
    make_dir_durably,
    read_file,
    remove_tree,
    replace_file,
    write_all,
)
from coordinator_server.log.write.journal_writer import Sync
from tests.support.log import append, shard, values

KINDS: dict[str, Callable[[], Storage]] = {"disk": LocalStorage, "memory": MemoryStorage}


@pytest.fixture(params=KINDS)
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    made = KINDS[request.param]()
    made.make_dir(str(tmp_path))
    return made


@pytest.fixture
def home(tmp_path: Path) -> str:
    return str(tmp_path)


def test_bytes_are_read_where_they_were_written(storage: Storage, home: str) -> None:
    """A gap reads as zeros, a read past the end is short, and a cut grows with zeros, too."""
    file = storage.open(f"{home}/file", create=True)
    write_all(file, b"head", 0)
    write_all(file, b"tail", 8)
    assert (file.pread(100, 0), file.size()) == (b"head\0\0\0\0tail", 12)
    write_all(file, b"HE", 0)
    file.truncate(2)
    file.truncate(4)
    file.sync()
    file.close()

    assert read_file(storage, f"{home}/file") == b"HE\0\0"
    assert storage.size(f"{home}/file") == 4


def test_a_removed_file_is_still_read_by_who_has_it_open(storage: Storage, home: str) -> None:
    file = storage.open(f"{home}/file", create=True)
    write_all(file, b"data", 0)
    storage.remove(f"{home}/file")
    storage.remove(f"{home}/file")

    assert not storage.exists(f"{home}/file")
    assert file.pread(4, 0) == b"data"
    file.close()


@pytest.mark.parametrize("path", ["missing", "no/where/file"])
def test_what_is_missing_is_not_found(storage: Storage, home: str, path: str) -> None:
    for call in (storage.open, storage.open_read_only, storage.size, storage.share):
        with pytest.raises(FileNotFoundError):
            call(f"{home}/{path}")
    assert not storage.exists(f"{home}/{path}")
    assert storage.list(f"{home}/{path}") == []


def test_no_file_is_made_in_a_directory_that_does_not_exist(storage: Storage, home: str) -> None:
    with pytest.raises(FileNotFoundError):
        storage.open(f"{home}/no/file", create=True)


def test_directories_list_their_names_in_order(storage: Storage, home: str) -> None:
    make_dir_durably(storage, f"{home}/b/inner")
    replace_file(storage, f"{home}/a", b"1")
    replace_file(storage, f"{home}/b/c", b"2")

    assert storage.list(home) == ["a", "b"]
    assert storage.list(f"{home}/b") == ["c", "inner"]
    assert (storage.is_dir(f"{home}/b"), storage.is_dir(f"{home}/a")) == (True, False)
    remove_tree(storage, f"{home}/b")
    assert storage.list(home) == ["a"]


def test_a_directory_with_something_in_it_is_not_removed(storage: Storage, home: str) -> None:
    storage.make_dir(f"{home}/b/c")
    with pytest.raises(OSError, match="not empty"):
        storage.remove_dir(f"{home}/b")
    with pytest.raises(FileNotFoundError):
        storage.remove_dir(f"{home}/d")


def test_a_rename_replaces_a_file_or_an_empty_directory(storage: Storage, home: str) -> None:
    """With everything in it; a directory that is not empty stays."""
    replace_file(storage, f"{home}/old", b"old")
    replace_file(storage, f"{home}/new", b"new")
    storage.rename(f"{home}/new", f"{home}/old")
    assert read_file(storage, f"{home}/old") == b"new"

    storage.make_dir(f"{home}/from/inner")
    replace_file(storage, f"{home}/from/inner/file", b"3")
    storage.make_dir(f"{home}/to")
    storage.rename(f"{home}/from", f"{home}/to")
    assert read_file(storage, f"{home}/to/inner/file") == b"3"
    assert storage.list(home) == ["old", "to"]

    storage.make_dir(f"{home}/other")
    with pytest.raises(OSError, match="not empty") as refused:
        storage.rename(f"{home}/other", f"{home}/to")
    assert refused.value.errno == errno.ENOTEMPTY
    with pytest.raises(FileNotFoundError):
        storage.rename(f"{home}/missing", f"{home}/to")


def test_a_file_is_no_directory(storage: Storage, home: str) -> None:
    replace_file(storage, f"{home}/file", b"")
    with pytest.raises(OSError, match=r"exists|Not a directory"):
        storage.make_dir(f"{home}/file/inner")


def test_a_file_that_is_read_is_not_removed(storage: Storage, home: str) -> None:
    """Also not by who had it for itself, until that is over."""
    replace_file(storage, f"{home}/file", b"")
    read = storage.share(f"{home}/file")
    assert storage.unshared(f"{home}/file") is None
    read.close()

    alone = storage.unshared(f"{home}/file")
    assert alone is not None
    alone.close()


def test_a_lock_is_held_once() -> None:
    storage = MemoryStorage()
    lock = storage.lock("/data/.lock")
    with pytest.raises(LockedLog, match="/data is in use"):
        storage.lock("/data/.lock")
    assert lock.fileno() == -1
    lock.close()

    storage.lock("/data/.lock").close()


def test_randomness_is_as_long_as_wanted() -> None:
    assert len(MemoryStorage().random(16)) == 16


def test_a_log_in_memory_is_there_when_it_is_opened_again() -> None:
    """With its real threads, over several segments."""
    storage = MemoryStorage()
    options = LogOptions(journal_bytes=1 << 16, segment_bytes=4096, sync=Sync.NEVER, storage=storage)
    posted: list[Callable[[], None]] = []
    outcomes: list[object] = []
    for start in range(0, 30, 10):
        store = LocalLogStore.open("/data", post=posted.append, options=options)
        for offset in range(start, start + 10):
            store.submit([append(3, offset, b"%d" % offset * 200)], outcomes.append)
        store.close()

    assert outcomes == [None] * 30
    assert values(LocalLogStore.open("/data", post=posted.append, options=options).read(shard(3), 0)) == [
        b"%d" % offset * 200 for offset in range(30)
    ]
