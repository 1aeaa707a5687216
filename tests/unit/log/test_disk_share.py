"""What a loop takes of a small disk before anything is written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coordinator_server.log.disk_share import disk_share
from tests.support.configs import config_with

KIB, MIB = 1 << 10, 1 << 20


@pytest.mark.parametrize(
    ("disk", "loops", "journal", "reserved"),
    [
        (1 << 40, 1, 16 * MIB, 256 * KIB),
        (256 * MIB, 1, 16 * MIB, 256 * KIB),
        (256 * MIB, 2, 8 * MIB, 256 * KIB),
        (5 * MIB, 1, 320 * KIB, 16 * KIB),
        (1 * MIB, 8, 64 * KIB, 8 * KIB),
        (0, 1, 16 * MIB, 256 * KIB),
    ],
)
def test_journals_and_reserved_room_fit_their_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disk: int, loops: int, journal: int, reserved: int
) -> None:
    """Whether the data directory exists or not. A file system that does not know its size changes nothing."""

    def statvfs(path: Path) -> os.statvfs_result:
        assert path == tmp_path
        return os.statvfs_result((4096, 1024, disk // 1024, 0, 0, 0, 0, 0, 0, 255))

    monkeypatch.setattr(os, "statvfs", statvfs)

    assert disk_share(config_with(loops=loops), tmp_path / "a" / "data") == (journal, reserved)


def test_a_journal_is_never_larger_than_configured(tmp_path: Path) -> None:
    assert disk_share(config_with(log_journal_bytes=1 << 16), tmp_path).journal_bytes == 1 << 16
