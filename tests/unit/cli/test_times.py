"""Times, directories and tables on the command line."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from coordinator_server.cli.local_dir import local_dir
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


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "12:00"])
def test_anything_else_is_no_time(text: str) -> None:
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
def test_a_url_is_not(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is a URL: a local directory is required"):
        local_dir(text)


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    """And what does not print is escaped before it is measured."""
    rows = [("topic", "offset"), ("a\n", "12345678"), ("orders", "7")]

    assert list(columns(rows)) == ["topic   offset", "a\\x0a   12345678", "orders  7"]


def test_a_table_without_rows_has_no_lines() -> None:
    assert list(columns([("topic", "offset")])) == []
