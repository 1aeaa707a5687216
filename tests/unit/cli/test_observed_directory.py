"""What commands say about a directory that follows another cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator_server.cli import main
from coordinator_server.cli.diagnosis.finding import NOTE, OK, WARNING
from coordinator_server.cli.observed_directory import check_observed, refuse_observed, say_what_is_missing
from coordinator_server.log.meta import write_meta
from coordinator_server.log.storage import LOCAL
from coordinator_server.log.store import Meta
from coordinator_server.observe.facts import Facts, SetAside, ShardFacts, write_facts
from coordinator_server.pipeline.errors import CannotRun

GROUPS = "__consumer_offsets"


@pytest.fixture
def observed(tmp_path: Path) -> Path:
    write_meta(LOCAL, str(tmp_path), Meta("theirs", 1, {GROUPS: 2}, is_observed=True))
    shards = {f"{GROUPS}-0": ShardFacts(upto=100, missing=1200, missing_to=90), f"{GROUPS}-1": ShardFacts(upto=7)}
    write_facts(tmp_path, Facts(shards=shards, set_aside=[SetAside(f"{GROUPS}-1", 7, 9, "kept", 0, "an election")]))
    return tmp_path


def test_what_the_cleaner_had_removed_is_said(observed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the shard, or of all shards of a topic; nothing where nothing is missing."""
    say_what_is_missing(observed, GROUPS, f"{GROUPS}-1")
    say_what_is_missing(observed, "__share_group_state")
    assert capsys.readouterr().err == ""

    say_what_is_missing(observed, GROUPS, f"{GROUPS}-0")
    say_what_is_missing(observed, GROUPS)

    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0] == lines[1]
    assert "__consumer_offsets-0 lacks 1,200 offsets before offset 90" in lines[0]


def test_a_servers_directory_lacks_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_meta(LOCAL, str(tmp_path), Meta("ours", 1, {GROUPS: 2}))

    say_what_is_missing(tmp_path, GROUPS)
    refuse_observed(tmp_path)

    assert capsys.readouterr().err == ""


def test_what_needs_a_server_names_the_cluster(observed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A later start of a server would not help."""
    with pytest.raises(CannotRun, match="follows the cluster theirs"):
        refuse_observed(observed)

    assert main(["groups", "expiring", "g", "--data-dir", str(observed)]) == 2
    assert "follows the cluster theirs" in capsys.readouterr().err


def test_doctor_says_whether_it_is_followed_and_what_is_missing(observed: Path) -> None:
    idle, followed = list(check_observed(observed, is_followed=False)), list(check_observed(observed, is_followed=True))

    assert [each.severity for each in idle] == [WARNING, NOTE, NOTE]
    assert [each.severity for each in followed] == [OK, NOTE, NOTE]
    assert "coordinator-server observe" in str(idle[0].action)
    assert "1,200 offsets" in idle[1].what
    assert "offsets 7 to 9 of __consumer_offsets-1" in idle[2].what
    assert "set-aside/kept" in str(idle[2].action)
