"""Files of days: lines that are appended, torn, read from a position, and removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator_server.log import day_files
from coordinator_server.log.day_files import DAY_MS, append_lines, begin_of_day_ms, day_ms, day_of, lines_in, remove_old

DAY = "2026-11-24"


def test_lines_are_read_from_a_position_and_torn_ones_are_left_out(tmp_path: Path) -> None:
    append_lines(tmp_path, DAY, "numbers.jsonl", b"1\n2\n")
    [(day, path)] = day_files.day_files(tmp_path, "*.jsonl")
    path.write_bytes(path.read_bytes() + b"[3")
    assert list(lines_in(path, int)) == [(1, 2), (2, 4)]

    append_lines(tmp_path, DAY, "numbers.jsonl", b"4\n")
    assert (day, list(lines_in(path, int)), list(lines_in(path, int, 2))) == (DAY, [(1, 2), (2, 4), (4, 9)], [(2, 4), (4, 9)])


def test_days_begin_at_midnight_in_utc() -> None:
    begin_ms = day_ms(DAY)

    assert [day_of(begin_ms + ms) for ms in (-1, 0, DAY_MS - 1)] == ["2026-11-23", DAY, DAY]
    assert [begin_of_day_ms(ms) for ms in (begin_ms, begin_ms + DAY_MS - 1, -5)] == [begin_ms, begin_ms, 0]


def test_files_go_whose_day_is_over_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another process has removed meanwhile is gone."""
    for day in ("2026-11-21", "2026-11-22", DAY):
        append_lines(tmp_path, day, "numbers.jsonl", b"1\n")
    remove_old(tmp_path, "numbers.jsonl", day_ms(DAY) + DAY_MS - 1, keep_days=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["date=2026-11-22", f"date={DAY}"]

    monkeypatch.setattr(day_files, "day_files", lambda *_: [("2020-01-01", tmp_path / "date=2020-01-01" / "numbers.jsonl")])
    remove_old(tmp_path, "numbers.jsonl", day_ms(DAY), keep_days=2)
