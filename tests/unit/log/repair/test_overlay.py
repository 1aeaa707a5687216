"""Changes in memory over files that stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator_server.log.errors import LogError
from coordinator_server.log.repair.overlay import OverlayStorage
from coordinator_server.log.storage import read_file


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "file").write_bytes(b"0123456789")
    return str(tmp_path / "file")


def test_what_is_written_is_read_and_the_file_is_as_it_was(path: str) -> None:
    """Within it, over its end, behind its end, where zeros fill the gap."""
    storage = OverlayStorage()
    file = storage.open(path)
    for data, position in ((b"ab", 2), (b"xyz", 9), (b"!", 14)):
        assert file.pwrite(data, position) == len(data)

    assert file.size() == storage.size(path) == 15
    assert file.pread(100, 0) == read_file(storage, path) == b"01ab45678xyz\0\0!"
    assert file.pread(3, 8) == b"8xy"
    assert Path(path).read_bytes() == b"0123456789"


def test_a_file_that_is_only_opened_is_as_it_was(path: str) -> None:
    """Its size and its content."""
    storage = OverlayStorage()
    file = storage.open(path)

    assert file.size() == storage.size(path) == 10
    assert file.pread(100, 3) == read_file(storage, path)[3:] == b"3456789"
    made = storage.open(f"{path}-2", create=True)
    assert made.size() == storage.size(f"{path}-2") == 0


def test_a_file_is_cut_and_grows_again(path: str) -> None:
    """What was behind the cut does not come back."""
    file = OverlayStorage().open(path)
    file.pwrite(b"ab", 5)
    file.truncate(6)
    assert (file.size(), file.pread(100, 0)) == (6, b"01234a")
    file.truncate(9)

    assert (file.size(), file.pread(100, 0)) == (9, b"01234a\0\0\0")


def test_files_are_made_and_removed(path: str) -> None:
    """For those who look through the same storage."""
    storage, made = OverlayStorage(), f"{path}-2"
    directory = str(Path(path).parent)
    with pytest.raises(FileNotFoundError):
        storage.open(made)
    storage.open(made, create=True).pwrite(b"new", 0)
    assert storage.list(directory) == ["file", "file-2"]
    assert read_file(storage, made) == b"new"
    storage.remove(path)

    assert storage.list(directory) == ["file-2"]
    assert not storage.exists(path)
    with pytest.raises(FileNotFoundError):
        storage.open_read_only(path)
    assert OverlayStorage().exists(path)
    assert not Path(made).exists()


def test_what_a_start_does_not_do_cannot_be_tried(path: str) -> None:
    """It neither renames nor locks: that would not stay in memory."""
    storage = OverlayStorage()
    with pytest.raises(LogError, match=f"would rename {path}"):
        storage.rename(path, f"{path}-2")
    with pytest.raises(LogError, match=f"does not lock {path}"):
        storage.lock(path)

    assert Path(path).exists()


def test_a_file_that_is_closed_holds_no_descriptor(path: str) -> None:
    """A start that is tried opens every file there is. One that was made in memory has none."""
    storage = OverlayStorage()
    storage.open(f"{path}-2", create=True).close()
    before = len([*Path("/proc/self/fd").iterdir()])
    file = storage.open(path)
    assert len([*Path("/proc/self/fd").iterdir()]) == before + 1
    file.close()

    assert len([*Path("/proc/self/fd").iterdir()]) == before
