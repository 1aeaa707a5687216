"""What ``doctor`` says of disk, clock and limits."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

import pytest

from coordinator_server.cli.diagnosis import machine
from coordinator_server.cli.diagnosis.finding import Finding
from coordinator_server.cli.diagnosis.machine import check_clock, check_disk, check_process

GIB = 1 << 30


def severities(findings: Iterable[Finding]) -> list[str]:
    return [each.severity for each in findings]


@pytest.mark.parametrize(
    ("free", "size", "inodes", "severity"),
    [
        (50 * GIB, 100 * GIB, 10**6, "ok"),
        (GIB // 2, 5 * GIB, 10**6, "ok"),
        (GIB // 2, 100 * GIB, 10**6, "warning"),
        (GIB // 100, 100 * GIB, 10**6, "problem"),
        (10 << 20, 12 << 20, 10**6, "ok"),
        (2 << 20, 12 << 20, 10**6, "problem"),
        (60 << 20, 1 << 40, 10**6, "problem"),
        (50 * GIB, 100 * GIB, 10, "warning"),
    ],
)
def test_room_is_judged_by_size_and_part(
    free: int, size: int, inodes: int, severity: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A small file system that is half empty is in order; a large one with as little is not."""
    found = SimpleNamespace(f_bavail=free, f_blocks=size, f_frsize=1, f_files=2 * 10**6, f_favail=inodes)
    monkeypatch.setattr(os, "statvfs", lambda _path: found)

    assert severities(check_disk(tmp_path)) == [severity]


def test_a_clock_that_went_back_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log has a file of the future then."""
    file = tmp_path / "log"
    file.touch()
    written = file.stat().st_mtime
    monkeypatch.setattr(machine, "_is_synchronized", lambda: True)

    assert severities(check_clock(tmp_path, written + 5)) == ["ok"]
    assert severities(check_clock(tmp_path, written - 3600)) == ["problem", "ok"]
    monkeypatch.setattr(machine, "_is_synchronized", lambda: False)
    assert severities(check_clock(tmp_path, written)) == ["note"]


@pytest.mark.parametrize(
    ("limit", "used", "severity"), [("100000", 3, "ok"), ("unlimited", 3, "ok"), ("1024", 3, "warning"), ("4", 4, "problem")]
)
def test_a_process_needs_files(limit: str, used: int, severity: str, tmp_path: Path) -> None:
    process = tmp_path / "77"
    (process / "fd").mkdir(parents=True)
    (process / "limits").write_text(
        f"Limit  Soft Limit  Hard Limit  Units\nMax open files            {limit}        100000    files\n"
    )
    for number in range(used):
        (process / "fd" / str(number)).touch()

    assert severities(check_process(77, tmp_path)) == [severity]
    assert severities(check_process(78, tmp_path)) == ["note"]
