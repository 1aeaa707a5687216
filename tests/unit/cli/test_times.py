"""Times, directories and tables on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import pytest

from coordinator_server.cli import main
from coordinator_server.cli.local_dir import local_dir, location
from coordinator_server.cli.table import columns
from coordinator_server.cli.times import moment_ms, shown


@pytest.mark.parametrize(
    ("text", "at_ms"),
    [
        ("1970-01-01", 0),
        ("1970-01-01T00:00:01.234Z", 1234),
        ("2026-11-20T10:00Z", 1_795_168_800_000),
        ("2026-11-20T10:00", 1_795_168_800_000),
        ("2026-11-20T12:30+02:30", 1_795_168_800_000),
    ],
)
def test_a_time_is_iso_8601_and_utc_if_it_has_no_zone(text: str, at_ms: int) -> None:
    assert moment_ms(text) == at_ms


# Half past one in the afternoon.
NOW = "2026-11-20T13:30Z"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("5m ago", "2026-11-20T13:25"),
        ("90s ago", "2026-11-20T13:28:30"),
        ("2d-ago", "2026-11-18T13:30"),
        ("13:30", "2026-11-20T13:30"),
        ("9:05", "2026-11-20T09:05"),
        ("13:29:59", "2026-11-20T13:29:59"),
        ("13:40", "2026-11-19T13:40"),
        ("today 13:40", "2026-11-20T13:40"),
        ("yesterday 22:00", "2026-11-19T22:00"),
        ("Yesterday 08:00", "2026-11-19T08:00"),
    ],
)
def test_a_time_may_be_relative_or_a_time_of_day(text: str, moment: str) -> None:
    """A time of day is the last one of that name, in UTC, as times are shown."""
    assert moment_ms(text, moment_ms(NOW)) == moment_ms(moment)


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-13-01", "24:00", "12:60", "12", "5 ago", "0m ago", "5m", "99999999d ago"]
)
def test_a_text_that_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a time such as"):
        moment_ms(text)


@pytest.mark.parametrize("text", ["1970-01-01T00:00:01.234Z", "2026-11-20T10:00:00.000Z", "2026-11-20T10:00:00.009Z"])
def test_a_time_is_shown_to_the_millisecond(text: str) -> None:
    """As it can be given again."""
    assert shown(moment_ms(text)) == text


@pytest.mark.parametrize("text", ["data", "/var/lib/data", "./a:b", "c:/data", "1s://x"])
def test_a_path_is_a_local_directory(text: str) -> None:
    assert local_dir(text) == Path(text)


@pytest.mark.parametrize("text", ["s3://bucket/data", "file:///data", "s3a://b", "hdfs+x.y-z://host/"])
def test_a_url_is_no_local_directory(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is a URL: a local directory is required"):
        local_dir(text)


@pytest.mark.parametrize("parse", [local_dir, location])
def test_what_is_no_directory_is_refused(parse: Callable[[str], object], tmp_path: Path) -> None:
    """A file, what would be below one, and a link to nothing: before anything is done, and in a line."""
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    (tmp_path / "there").symlink_to(tmp_path)

    for name, problem in {"file": "file is not a directory", "file/x/y": "file is not", "link": "is a link to nothing"}.items():
        with pytest.raises(argparse.ArgumentTypeError, match=problem):
            parse(str(tmp_path / name))
    for name in ("new", "there", "there/new/er"):
        assert parse(str(tmp_path / name)) == tmp_path / name


@pytest.mark.parametrize(
    "words",
    [
        ["serve", "--data-dir"],
        ["serve", "--override", "listeners=PLAINTEXT://127.0.0.1:0", "--data-dir"],
        ["log", "verify", "--data-dir", "DIR", "--salvage"],
        ["backup", "--data-dir", "DIR", "--to"],
        ["restore", "--from", "DIR", "--data-dir"],
        ["history", "--data-dir", "DIR", "--out"],
        ["compact", "--data-dir"],
        ["replay", "--data-dir"],
        ["pipeline", "compact", "--data-dir", "DIR", "--out"],
        ["export", "--data-dir", "DIR", "--to"],
        ["import", "--from", "DIR", "--data-dir"],
        ["groups", "why", "g", "--data-dir"],
        ["users", "list", "--data-dir"],
        ["doctor", "--data-dir"],
    ],
    ids=" ".join,
)
def test_every_command_refuses_a_file_for_a_directory(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(SystemExit) as ended:
        main([*(word.replace("DIR", str(tmp_path)) for word in words), str(tmp_path / "file")])

    assert ended.value.code == 2
    assert "file is not a directory: name a directory that exists or can be made" in capsys.readouterr().err


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    """And what does not print is escaped before it is measured."""
    rows = [("topic", "offset"), ("a\n", "12345678"), ("orders", "7")]

    assert list(columns(rows)) == ["topic   offset", "a\\x0a   12345678", "orders  7"]


def test_a_table_without_rows_has_no_lines() -> None:
    assert list(columns([("topic", "offset")])) == []
