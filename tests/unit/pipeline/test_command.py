"""compact and replay as an operator runs them, with the plain engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coordinator_server.cli import main
from protocol.record_batch import Record
from tests.support.kind_logs import LOGS
from tests.support.segments import (
    START_MS,
    Batch,
    coordinator_log,
    group_key,
    group_value,
    offset_key,
    offset_value,
    write_meta,
    write_segments,
)


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    for number in range(2):
        write_segments(path / f"__consumer_offsets-{number}", coordinator_log(number, 20))
    write_meta(path)
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code, output, complaints."""
    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def compact(capsys: pytest.CaptureFixture[str], data_dir: Path, *options: str) -> tuple[int, str, str]:
    return run(capsys, "compact", "--engine", "python", "--data-dir", data_dir, *options)


def test_compact_prints_one_line(capsys: pytest.CaptureFixture[str], data_dir: Path) -> None:
    """One line, and nothing else in a pipe; the second time that there is nothing to do."""
    code, out, err = compact(capsys, data_dir)

    assert (code, err, out.count("\n")) == (0, "", 1)
    assert out.startswith("2 shards: ")
    assert compact(capsys, data_dir) == (0, "nothing to do: no records were sealed since the newest layers\n", "")


def test_compact_json(capsys: pytest.CaptureFixture[str], data_dir: Path) -> None:
    """The counts per shard."""
    code, out, _ = compact(capsys, data_dir, "--json", "--tombstone-cutoff-ms", str(2**60))

    result = json.loads(out)
    assert (code, result["engine"], result["left_alone"]) == (0, "python", [])
    assert [(layer["shard"], layer["tombstones"]) for layer in result["layers"]] == [
        ("__consumer_offsets-0", 0),
        ("__consumer_offsets-1", 0),
    ]


@pytest.mark.parametrize("command", ["compact", "replay"])
def test_jobs_refuse_a_directory_that_is_no_data_directory(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    """Exit code 2, one line that says what to check."""
    code, out, err = run(capsys, command, "--data-dir", tmp_path)

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "--data-dir" in err


def test_damage(capsys: pytest.CaptureFixture[str], data_dir: Path) -> None:
    """Exit code 1, one line with file and position."""
    segment = min((data_dir / "__consumer_offsets-1").glob("*.log"))
    segment.write_bytes(segment.read_bytes()[:-1] + b"\xff")

    code, out, err = compact(capsys, data_dir)

    assert (code, out, err.count("\n")) == (1, "", 1)
    assert f"{segment} at byte" in err


def test_replay_prints_groups(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A table a person can read."""
    rows = [
        (group_key("billing"), group_value(4, ["app-1", "app-2"])),
        (offset_key("billing", "orders", 0), offset_value(17, "m" * 100)),
        (offset_key("simple", "payments", 3), offset_value(8)),
    ]
    records = tuple(Record(offset, START_MS, key, value) for offset, (key, value) in enumerate(rows))
    write_segments(tmp_path / "__consumer_offsets-7", [Batch(records)])
    write_meta(tmp_path)

    code, out, err = run(capsys, "replay", "--data-dir", tmp_path)

    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "__consumer_offsets-7, before offset 3",
        "  group billing: generation 4, consumer/range, members 2",
        "    member app-1 (leader) at /127.0.0.1: orders 0",
        "    member app-2 at /127.0.0.1: orders 1",
        "    topic   partition  offset  metadata",
        f"    orders  0          17      {'m' * 59}…",
        "  group simple: offsets only",
        "    topic     partition  offset  metadata",
        "    payments  3          8",
    ]


def test_replay_json_at_an_offset(capsys: pytest.CaptureFixture[str], data_dir: Path) -> None:
    """The same facts, whole, for programs; compaction changes none of them."""
    before = run(capsys, "replay", "--data-dir", data_dir, "--json")
    compact(capsys, data_dir)
    after = run(capsys, "replay", "--data-dir", data_dir, "--json")
    past = run(capsys, "replay", "--data-dir", data_dir, "--json", "--shard", "__consumer_offsets-1", "--at", 0)

    assert before == after
    assert [state["shard"] for state in json.loads(after[1])] == ["__consumer_offsets-0", "__consumer_offsets-1"]
    [past_state] = json.loads(past[1])
    assert (past_state["shard"], past_state["seen_to"], past_state["is_whole"]) == ("__consumer_offsets-1", 0, True)
    assert (past_state["groups"], past_state["digest"]) == ([], "0" * 32)


def test_replay_tells_who_and_why(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The reasons of the present generation, and who committed; the same when the log has been compacted."""
    by_leader = (("op1", b"14/5"), ("client", b"app"), ("host", b"10.0.0.7"), ("member", b"app-1"))
    reasons = (("why", b"member-left"), ("whom", b"app-3"), ("said", b"bye"), ("why", b"session-timeout"), ("whom", b"app-4"))
    rows: list[tuple[bytes, bytes, tuple[tuple[str, bytes | None], ...]]] = [
        (group_key("billing"), group_value(3, ["app-1", "app-3", "app-4"]), by_leader),
        (group_key("billing"), group_value(4, ["app-1"]), by_leader + reasons),
        (offset_key("billing", "orders", 0), offset_value(17), (("op1", b"8/9"), ("by", b"User:alice"), ("client", b"app"))),
        (offset_key("billing", "orders", 1), offset_value(18), ()),
        (offset_key("simple", "payments", 3), offset_value(8), (("theirs", None),)),
    ]
    records = tuple(Record(offset, START_MS, *row) for offset, row in enumerate(rows))
    write_segments(tmp_path / "__consumer_offsets-7", [Batch(records)])
    write_meta(tmp_path)

    code, out, err = run(capsys, "replay", "--data-dir", tmp_path, "--why")
    [state] = json.loads(run(capsys, "replay", "--data-dir", tmp_path, "--why", "--json")[1])
    compact(capsys, tmp_path)

    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "__consumer_offsets-7, before offset 5",
        "  group billing: generation 4, consumer/range, members 1",
        (
            "    since 2025-11-24T16:00:00.000Z: SyncGroup v5 of app at 10.0.0.7 as app-1, "
            'because of member-left app-3 "bye", session-timeout app-4'
        ),
        "    member app-1 (leader) at /127.0.0.1: orders 0",
        "    topic   partition  offset  metadata  changed",
        "    orders  0          17                2025-11-24T16:00:00.000Z OffsetCommit v9 by User:alice of app",
        "    orders  1          18                2025-11-24T16:00:00.000Z OffsetCommit v9 by User:alice of app",
        "  group simple: offsets only",
        "    topic     partition  offset  metadata",
        "    payments  3          8",
    ]
    assert state["groups"][0]["changed"]["reasons"][0] == {"why": "member-left", "whom": "app-3", "said": "bye"}
    assert state["groups"][0]["offsets"][0]["changed"]["principal"] == "User:alice"
    assert run(capsys, "replay", "--data-dir", tmp_path, "--why") == (0, out, "")


def test_replay_prints_digests(capsys: pytest.CaptureFixture[str], data_dir: Path) -> None:
    """A line for each shard and each of its groups, the same after compaction."""
    code, out, err = run(capsys, "replay", "--data-dir", data_dir, "--digest")
    states = json.loads(run(capsys, "replay", "--data-dir", data_dir, "--json")[1])
    compact(capsys, data_dir)

    assert (code, err) == (0, "")
    lines = []
    for state in states:
        lines.append(f"{state['digest']}  {state['shard']}, before offset {state['seen_to']}")
        lines += [f"{group['digest']}    group {group['group']}" for group in state["groups"]]
    assert out.splitlines() == lines
    assert len(set(out.split())) > len(states) * 3
    assert run(capsys, "replay", "--data-dir", data_dir, "--digest") == (0, out, "")


def test_replay_of_a_shard_that_is_not_there(capsys: pytest.CaptureFixture[str], data_dir: Path) -> None:
    """Exit code 2."""
    code, _, err = run(capsys, "replay", "--data-dir", data_dir, "--shard", "orders-1")

    assert (code, err.count("\n")) == (2, 1)


@pytest.mark.parametrize("command", ["compact", "replay", "verify", "history"])
def test_a_directory_of_no_kind_is_reported_and_skipped(
    capsys: pytest.CaptureFixture[str], data_dir: Path, tmp_path: Path, command: str
) -> None:
    """One line; the rest is done."""
    write_segments(data_dir / "orders-3", coordinator_log(1, 3))
    options = {"replay": [], "history": ["--out", tmp_path / "out", "--engine", "python"]}
    before = sorted((data_dir / "orders-3").iterdir())

    code, _, err = run(capsys, command, "--data-dir", data_dir, *options.get(command, ["--engine", "python"]))

    assert code == 0
    assert err == "coordinator-server: orders-3 is of no kind that this version knows: it is left as it is\n"
    assert sorted((data_dir / "orders-3").iterdir()) == before


def test_replay_prints_the_state_of_every_kind(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Topics, and part by part what has no words of its own."""
    write_meta(tmp_path)
    for topic, log in LOGS.items():
        write_segments(tmp_path / f"{topic}-0", log(1, 40, 0))

    code, out, _ = run(capsys, "replay", "--data-dir", tmp_path)
    digests = run(capsys, "replay", "--data-dir", tmp_path, "--digest")[1]

    assert code == 0
    assert "  topic topic-1-" in out
    assert "  transactional id transfers-" in out
    assert "  share partition group-0:MDEyMzQ1Njc4OWFiY2RlZg:0: {" in out
    assert [line.partition("  ")[2].partition(",")[0] for line in digests.splitlines()] == [
        f"{topic}-0" for topic in sorted(LOGS)
    ]
