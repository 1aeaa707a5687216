"""``coordinator-server history`` and ``export``: what they say of their work and of what went wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NoReturn

import pytest

from coordinator_server.cli import main
from coordinator_server.cli.files import export_kafka
from coordinator_server.pipeline.errors import Busy, CannotRun, PipelineError
from coordinator_server.pipeline.history.view_sql import DIALECTS, VIEWS, view_sql
from tests.support.segments import coordinator_log, write_meta, write_segments

SHARD = "__consumer_offsets-7"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_segments(tmp_path / "data" / SHARD, coordinator_log(1, 20))
    write_meta(tmp_path / "data")
    return tmp_path / "data"


def history(data: Path, *words: str) -> int:
    out = data.parent / "history"
    return main(["history", "--data-dir", str(data), "--out", str(out), "--engine", "python", *words])


def test_rows_are_counted_by_table(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of those that have got some; a second run finds nothing."""
    assert history(data) == 0
    first = capsys.readouterr()
    assert history(data) == 0
    second = capsys.readouterr()

    assert re.fullmatch(r"(\d+ \w+, )*\d+ \w+ in \d+\.\d s\n", first.out)
    assert " 0 " not in f" {first.out}"
    assert (first.err, second.out, second.err) == ("", "nothing new since the last run\n", "")


def test_what_retention_took_is_told(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With what to do about it; as JSON, too."""
    assert main(["compact", "--engine", "python", "--data-dir", str(data)]) == 0
    first, second, *_ = sorted((data / SHARD).glob("*.log"))
    first.unlink()
    capsys.readouterr()

    assert history(data, "--json") == 0
    printed = capsys.readouterr()
    assert printed.err == (
        f"coordinator-server: offsets 0 to {int(second.stem)} of {SHARD}: the history has only what compaction kept; "
        "run this more often than log.history.retention.ms\n"
    )
    assert json.loads(printed.out)["gaps"] == [{"shard": SHARD, "from_offset": 0, "to_offset": int(second.stem)}]


@pytest.mark.parametrize(
    ("failure", "code"), [(CannotRun("no such option"), 2), (PipelineError("no"), 1), (Busy("another"), 1), (OSError("disk"), 1)]
)
def test_an_export_that_fails_says_why(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, failure: Exception, code: int
) -> None:
    """Exit code 2 for what the command line can change."""

    def fail(*_: object) -> NoReturn:
        raise failure

    monkeypatch.setattr(export_kafka, "export_kafka", fail)

    assert main(["export", "--data-dir", str(data), "--to", str(data.parent)]) == code
    assert capsys.readouterr().err == f"coordinator-server: {failure}\n"


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_query_of_a_view_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str], view: str, dialect: str) -> None:
    """For the moment in --at. It needs no log, and makes no directory."""
    out = tmp_path / "history"

    assert main(["history", "--out", str(out), "--sql", view, "--dialect", dialect, "--at", "2026-11-21T15:06:36+01:00"]) == 0

    assert capsys.readouterr().out == view_sql(view, str(out), dialect, "2026-11-21T14:06:36Z")
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "history needs --data-dir DIR, the server's data directory"),
        (("--data-dir", "data", "--at", "2026-11-21"), "--at is for --sql: the tables get everything that is new"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], why: str
) -> None:
    assert main(["history", "--out", str(tmp_path / "out"), *words]) == 2
    assert capsys.readouterr().err == f"coordinator-server: {why}\n"
