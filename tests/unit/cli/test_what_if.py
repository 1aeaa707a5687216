"""``groups what-if`` and ``pipeline what-if`` over a directory: what they print, and what they refuse."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.cli import main
from coordinator_server.client.consumer.assignors import RangeAssignor
from tests.support.group_lives import GROUP, ClassicGroup, Consumer
from tests.support.life_directory import write_life
from tests.support.page_log import Story, write_stories


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three members that restart one after the other: each leaves, and comes back three seconds later."""
    group = ClassicGroup(1, RangeAssignor(), is_alike=True, with_static=False)
    group.members = [Consumer(group, f"worker-{number}", group.lives.wants) for number in range(3)]
    group.settle()
    for number in range(3):
        group.wait(60_000)
        group.restart_of(number, away_ms=3_000)
        group.settle()
    path = tmp_path_factory.mktemp("what-if") / "data"
    write_life(path, group.lives)
    return path


def answer(data: Path, *words: str, capsys: pytest.CaptureFixture[str]) -> Any:
    assert main(["groups", "what-if", GROUP, *words, "--json", "--data-dir", str(data)]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_text_says_what_was_what_would_have_been_and_what_helps(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["groups", "what-if", GROUP, "--static", "--each", "--data-dir", str(data)]) == 0
    lines = capsys.readouterr().out.splitlines()

    assert lines[0].startswith("group g from ")
    assert lines[2].split("  ")[-1] == "with the same assignor, static members"
    assert lines[3].split() == ["rebalances", "7", "1"]
    assert "the rule in force gives what was recorded in 7 of 7 generations" in lines
    assert sum("no change" in line for line in lines) == 6
    [advice] = [line for line in lines if line.startswith("static members: ")]
    assert "6 of 7 changes were restarts: 3 times a member came back; static members (group.instance.id) would have" in advice


def test_json_has_every_figure_with_its_certainty(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(data, "--assignor", "uniform", capsys=capsys)

    assert found["question"]["assignor"] == "uniform"
    assert found["verdict"]["recorded"]["rebalances"] == {"value": 7, "certainty": "known"}
    assert found["verdict"]["what_if"]["rebalances"] == {"value": 7, "certainty": "bound"}
    assert found["verdict"]["what_if"]["standstill_ms"]["value"] == 0
    assert found["verdict"]["reproduced"]["same"] == 7
    assert {each["rule"] for each in found["advice"]} >= {"static members", "uniform", "cooperative-sticky"}


def test_a_shorter_session_of_members_that_do_not_commit_is_not_judged(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where members do not commit: no figure is known, and the answer says why."""
    words = ["groups", "what-if", GROUP, "--session-timeout", "5s", "--data-dir", str(data)]
    assert main(words) == 0
    text = capsys.readouterr().out

    assert "members had sessions of up to 10 s: whether one of 5 s would have ended is not known" in text
    assert {line.split()[-1] for line in text.splitlines()[3:9]} == {"unknown"}
    found = answer(data, "--session-timeout", "10s", capsys=capsys)["verdict"]
    assert (found["shortened_ms"], found["what_if"]["rebalances"]["certainty"]) == (0, "known")


@pytest.mark.parametrize(
    ("session", "said"),
    [
        ("6s", "no session of 6 s would have ended: no member was silent for so long"),
        ("5s", "4 times a member was silent for 5 s, or may have been: its session is taken to have ended"),
        ("1s", "members had sessions of up to 45 s: whether one of 1 s would have ended is not known"),
    ],
)
def test_commits_say_what_a_shorter_session_would_have_ended(
    session: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, _ = write_stories(tmp_path, [Story("billing").join("a", "b").commit(times=3)])
    assert main(["groups", "what-if", "billing", "--session-timeout", session, "--data-dir", str(data)]) == 0

    assert said in capsys.readouterr().out


def test_a_period_has_its_changes_only(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The members at its beginning have what they had."""
    changes = answer(data, capsys=capsys)["verdict"]["changes"]
    second = changes[1]["at_ms"] / 1000
    from_then = answer(data, "--from", _moment(second), "--to", "now", "--static", capsys=capsys)["verdict"]

    assert [each["generation"] for each in from_then["changes"]] == [each["generation"] for each in changes[1:]]
    assert from_then["what_if"]["rebalances"]["value"] == 0
    assert from_then["changes"][0]["recorded"] == changes[1]["recorded"]


def test_what_is_not_there_is_said(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["groups", "what-if", GROUP, "--to", "2001-01-01", "--data-dir", str(data)]) == 1
    assert "did not change in this period" in capsys.readouterr().err
    assert main(["groups", "what-if", "no-such-group", "--data-dir", str(data)]) == 1
    assert "no-such-group" in capsys.readouterr().err


def test_a_group_of_commits_alone_has_no_rebalance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, _ = write_stories(tmp_path, [Story("billing").reset(5)])

    assert main(["groups", "what-if", "billing", "--data-dir", str(data)]) == 1
    assert "the log has no rebalance of group billing" in capsys.readouterr().err


def test_the_job_writes_the_table_of_all_groups(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And says which would gain most. It needs --out."""
    table = pytest.importorskip("pyarrow.parquet", reason="the spark extra is not installed: make test brings it")
    words = ["pipeline", "what-if", "--engine", "python", "--data-dir", str(data)]
    assert main(words) == 2
    assert "what-if needs --out DIR" in capsys.readouterr().err

    assert main([*words, "--out", str(tmp_path / "out")]) == 0
    first, heading, best = capsys.readouterr().out.splitlines()
    rows = table.read_table(tmp_path / "out/what_if.parquet").to_pylist()

    assert first.startswith("1 group, ")
    assert heading.split()[:2] == ["group", "rule"]
    assert best.split()[0] == GROUP
    assert rows[0]["rule"] == "as it was"
    assert (rows[0]["group"], rows[0]["rebalances"], rows[0]["reproduced"]) == (GROUP, 7, 7)
    [static] = [row for row in rows if row["rule"] == "static members"]
    assert (static["rebalances"], static["saved_rebalances"], static["certainty"]) == (1, 6, "known")
    assert (tmp_path / "out/what_if.parquet").stat().st_mode & 0o077 == 0


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
