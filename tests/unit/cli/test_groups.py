"""``coordinator-server groups``: the history of a group as text, line by line, and what is asked of a server."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.cli import group_history, log_actions, main
from coordinator_server.cli.group_words import event_line
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason
from coordinator_server.pipeline.input.topic_names import CATALOG_SHARD
from coordinator_server.pipeline.replay.group_events import MOST_APART, Event
from coordinator_server.pipeline.states.changes import Change
from coordinator_server.runtime.partitioner import partition_for
from protocol.coordinator_records import CLUSTER_METADATA_SERDE, CoordinatorRecord
from protocol.messages.cluster_metadata import TopicRecord
from protocol.record_batch import Record
from tests.support.consumer_records import ORDERS, current, left, member
from tests.support.segments import (
    START_MS,
    Batch,
    group_key,
    group_value,
    offset_key,
    offset_value,
    write_meta,
    write_segments,
)

SHARD = f"__consumer_offsets-{partition_for('g', 50)}"
BEGUN, BETWEEN, ENDED = "2025-11-24T16:00:00.000Z", "2025-11-24T16:00:30Z", "2025-11-24T16:01:00.000Z"
LATER_MS = START_MS + 60_000


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A group with a member and two offsets; a minute later without it, and with other offsets."""
    rows = [
        (START_MS, group_key("g"), group_value(3, ["client-0-aa"])),
        (START_MS, offset_key("g", "orders", 0), offset_value(5)),
        (START_MS, offset_key("g", "orders", 1), offset_value(6, "note")),
        (LATER_MS, offset_key("g", "orders", 0), offset_value(50, commit_ms=LATER_MS)),
        (LATER_MS, offset_key("g", "orders", 1), None),
        (LATER_MS, offset_key("g", "orders", 2), offset_value(70, commit_ms=LATER_MS)),
        (LATER_MS, group_key("g"), group_value(4, [], changed_ms=LATER_MS)),
    ]
    write_meta(tmp_path)
    write_segments(tmp_path / SHARD, [Batch((Record(number, *row),)) for number, row in enumerate(rows)])
    return tmp_path


class Server:
    """A server that answers what it is told to, and keeps what it is asked."""

    def __init__(self) -> None:
        self.asked: list[Mapping[str, Any]] = []
        self.answer: Mapping[str, Any] | None = None

    def ask(self, _data_dir: Path, request: Mapping[str, Any]) -> Mapping[str, Any] | None:
        self.asked.append(request)
        return self.answer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    monkeypatch.setattr(group_history, "ask_server", server.ask)
    return server


def shown(data: Path, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(["groups", *words, "--data-dir", str(data)]) == 0
    return capsys.readouterr().out.splitlines()


def refused(data: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["groups", *words, "--data-dir", str(data)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    return printed.err


def test_every_event_has_a_line(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Commits and deletions with the offsets before and after."""
    assert shown(data, capsys, "why", "g") == [
        f"{BEGUN}  generation 3, 1 member: client-0-aa at 127.0.0.1 joined (derived)",
        f"{BEGUN}  committed orders-0 none → 5",
        f"{BEGUN}  committed orders-1 none → 6",
        f"{ENDED}  committed orders-0 5 → 50",
        f"{ENDED}  1 offset deleted, orders-1 6 → none",
        f"{ENDED}  committed orders-2 none → 70",
        f"{ENDED}  generation 4, empty: client-0-aa at 127.0.0.1 left, or timed out (derived)",
    ]


def test_groups_why_shows_the_events_of_a_time_range(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By time, and the newest. What is left out of the newest is said; offsets before are those before all the same."""
    assert shown(data, capsys, "why", "g", "--until", BETWEEN, "--limit", "0")[-1] == f"{BEGUN}  committed orders-1 none → 6"
    assert shown(data, capsys, "why", "g", "--since", BETWEEN)[0] == f"{ENDED}  committed orders-0 5 → 50"
    assert shown(data, capsys, "why", "g", "--since", "2029-01-01") == []
    main(["groups", "why", "g", "--since", "2029-01-01", "--data-dir", str(data)])
    assert capsys.readouterr().err == "coordinator-server: nothing in the log happened in this period\n"
    assert main(["groups", "why", "g", "--limit", "2", "--data-dir", str(data)]) == 0
    printed = capsys.readouterr()
    assert printed.out.count("\n") == 2
    assert printed.err == "coordinator-server: left out 5 earlier events: --limit 0 shows all, --since and --until a part\n"


def test_events_as_json(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clients = {"clients": {"client-0-aa": {"client_id": "client-0", "client_host": "127.0.0.1"}}}

    found = json.loads("".join(shown(data, capsys, "why", "g", "-o", "json")))

    assert (found[0], *found[-3:]) == (
        {"at_ms": START_MS, "what": "generation", "generation": 3, "members": 1, "joined": ["client-0-aa"], **clients},
        {
            "at_ms": LATER_MS,
            "what": "offsets deleted",
            "changes": [{"topic": "orders", "partition": 1, "before": 6, "after": None}],
        },
        {
            "at_ms": LATER_MS,
            "what": "offsets committed",
            "changes": [{"topic": "orders", "partition": 2, "before": None, "after": 70}],
        },
        {"at_ms": LATER_MS, "what": "empty", "generation": 4, "members": 0, "gone": ["client-0-aa"], **clients},
    )
    assert [json.loads(line) for line in shown(data, capsys, "why", "g", "-o", "jsonl")] == found
    assert main(["groups", "why", "g", "-o", "csv", "--data-dir", str(data)]) == 2


def test_a_group_at_a_moment(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(data, capsys, "at", "g", BETWEEN) == [
        "group g: generation 3, consumer/range, members 1",
        "member client-0-aa of client-0 at /127.0.0.1",
        "topic   partition  offset  committed                 member       client    host",
        f"orders  0          5       {BEGUN}  client-0-aa  client-0  127.0.0.1",
        f"orders  1          6       {BEGUN}  -            -         -",
    ]
    assert shown(data, capsys, "at", "g", "2026-01-01") == [
        "group g: generation 4, consumer/-, members 0",
        "topic   partition  offset  committed                 member  client  host",
        f"orders  0          50      {ENDED}  -       -       -",
        f"orders  2          70      {ENDED}  -       -       -",
    ]


def test_groups_at_says_that_a_group_did_not_exist(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The form of the answer does not change the exit code."""
    for form in ((), ("--json",), ("-o", "jsonl")):
        told = refused(data, capsys, "at", "g", "2001-01-01", *form)
        assert "group g did not exist at 2001-01-01T00:00:00.000Z" in told
    problem = refused(data, capsys, "restore", "g", "--at", "2001-01-01")
    assert "group g did not exist at 2001-01-01T00:00:00.000Z: nothing to restore" in problem


def test_a_restore_shows_what_it_would_change(data: Path, capsys: pytest.CaptureFixture[str], server: Server) -> None:
    """No server is asked."""
    assert main(["groups", "restore", "g", "--at", BETWEEN, "--data-dir", str(data)]) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        "group  topic   partition  before  after  outcome",
        "g      orders  0          50      5      would be set",
        "g      orders  1          -       6      would be set",
        "g      orders  2          70      -      would be deleted",
    ]
    assert printed.err == "coordinator-server: nothing was changed: --execute makes the change\n"
    assert server.asked == []
    assert main(["groups", "restore", "g", "--at", ENDED, "-o", "json", "--data-dir", str(data)]) == 0
    printed = capsys.readouterr()
    assert [(row["before"], row["after"], row["outcome"]) for row in json.loads(printed.out)] == [
        (50, 50, "unchanged"),
        (70, 70, "unchanged"),
    ]
    assert printed.err == "coordinator-server: already so: no offset would change\n"


def test_a_dry_run_says_what_the_server_would_refuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(START_MS, group_key("g"), group_value(3, ["a", "b"])), (START_MS, offset_key("g", "orders", 0), offset_value(5))]
    write_meta(tmp_path)
    write_segments(tmp_path / SHARD, [Batch((Record(number, *row),)) for number, row in enumerate(rows)])

    assert main(["groups", "restore", "g", "--at", ENDED, "--data-dir", str(tmp_path), "-o", "jsonl"]) == 1
    printed = capsys.readouterr()
    [row] = map(json.loads, printed.out.splitlines())
    assert (row["outcome"], row["error"]) == ("refused", "the group has 2 members: stop them first")
    assert [line.partition(" of ")[0] for line in printed.err.splitlines()] == [
        "coordinator-server: group g has member a",
        "coordinator-server: group g has member b",
    ]


def test_a_moment_that_has_not_come_is_refused(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["groups", "restore", "g", "--at"],
        ["groups", "at", "g"],
        ["replay", "--at"],
        ["transactions", "list", "--at"],
    ):
        with pytest.raises(SystemExit, match="2"):
            main([*words, "2999-01-01", "--data-dir", str(data)])
        assert "'2999-01-01' is in the future: 2999-01-01T00:00:00.000Z, and now it is 20" in capsys.readouterr().err


@pytest.mark.parametrize("count", [MOST_APART, MOST_APART + 1])
def test_a_group_of_offsets_alone_has_every_commit(tmp_path: Path, capsys: pytest.CaptureFixture[str], count: int) -> None:
    """Many of one client are one line, and their own lines with ``--each``."""
    rows = [(START_MS + number, offset_key("g", "orders", number % 2), offset_value(number)) for number in range(count)]
    write_meta(tmp_path)
    write_segments(tmp_path / SHARD, [Batch((Record(number, *row),)) for number, row in enumerate(rows)])

    lines = shown(tmp_path, capsys, "why", "g")

    if count > MOST_APART:
        run = f"{count} commits until 2025-11-24T16:00:00.005Z, orders-0 none → 4, orders-1 none → 5"
        assert lines == [f"{BEGUN}  {run}"]
        lines = shown(tmp_path, capsys, "why", "g", "--each")
    assert len(lines) == count
    assert lines[-1] == f"2025-11-24T16:00:00.00{count - 1}Z  committed orders-{(count - 1) % 2} {count - 3} → {count - 1}"


@pytest.mark.parametrize(
    "words", [["groups", "at", "g", BETWEEN], ["replay"], ["history", "--out", "h", "--sql", "current_offsets"]]
)
def test_the_reader_of_the_answer_may_go(
    data: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], words: list[str]
) -> None:
    """``… | head`` ends without a word, also if Python notices as it writes."""

    def gone(_lines: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(sys.stdout, "writelines", gone)
    monkeypatch.setattr(sys.stdout, "write", gone)
    monkeypatch.setattr("os.dup2", lambda _one, _two: None)
    assert main([*words, "--data-dir", str(data)]) == 0
    assert capfd.readouterr().err == ""


def test_a_restore_asks_the_server_for_all_offsets_of_the_moment(
    data: Path, capsys: pytest.CaptureFixture[str], server: Server
) -> None:
    server.answer = {"restored": {"written": 2, "deleted": 1}}

    assert main(["groups", "restore", "g", "--at", BETWEEN, "--execute", "--data-dir", str(data)]) == 0
    printed = capsys.readouterr()
    assert [line.split()[-1] for line in printed.out.splitlines()] == ["outcome", "set", "set", "deleted"]
    assert printed.err == "coordinator-server: 2 offsets written, 1 deleted\n"
    common = {"topic": "orders", "leader_epoch": -1}
    offsets = [
        {**common, "partition": 0, "offset": 5, "metadata": ""},
        {**common, "partition": 1, "offset": 6, "metadata": "note"},
    ]
    group = {"group_id": "g", "offsets": offsets, "as_of": "2025-11-24T16:00:30.000Z"}
    assert server.asked == [{"op": "restore", "shards": [SHARD], "group": group}]


def test_what_expires_is_asked_of_the_server(data: Path, capsys: pytest.CaptureFixture[str], server: Server) -> None:
    server.answer = {"expiring": [{"at_ms": LATER_MS, "topic": "orders", "partition": 2}], "is_known": True}

    assert shown(data, capsys, "expiring", "g") == [
        "group  topic   partition  expires",
        f"g      orders  2          {ENDED}",
    ]
    assert server.asked == [{"op": "expiring", "shards": [SHARD], "group": "g"}]
    server.answer = {"expiring": [], "is_known": True}
    assert main(["groups", "expiring", "g", "--data-dir", str(data)]) == 0
    assert capsys.readouterr() == ("", "coordinator-server: no offset of this group expires in its present state\n")
    assert json.loads("".join(shown(data, capsys, "expiring", "g", "--json"))) == []
    server.answer = {"expiring": [], "is_known": False}
    assert "there is no group nobody" in refused(data, capsys, "expiring", "nobody")


def test_a_server_that_takes_long_is_waited_for_with_a_word(
    data: Path, capsys: pytest.CaptureFixture[str], server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To those who wait, not to those who do not."""
    server.answer = {"expiring": [], "is_known": True}
    shown(data, capsys, "expiring", "g")
    monkeypatch.setattr(log_actions, "SILENCE_S", 0.01)
    said: list[str] = []
    ask, told = server.ask, threading.Event()

    def note(text: str) -> None:
        said.append(text)
        told.set()

    def slow(data_dir: Path, request: Mapping[str, Any]) -> Mapping[str, Any] | None:
        assert told.wait(10)
        return ask(data_dir, request)

    monkeypatch.setattr(log_actions, "note", note)
    monkeypatch.setattr(group_history, "ask_server", slow)
    shown(data, capsys, "expiring", "g")
    assert said == [f"waiting for the server on {data} to answer"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["restore", "g", "--at", BETWEEN, "--execute"], "start it, then restore"),
        (["expiring", "g"], "start it first, because its members decide what expires"),
    ],
)
def test_without_a_server_it_is_to_be_started(
    data: Path, capsys: pytest.CaptureFixture[str], server: Server, words: list[str], problem: str
) -> None:
    assert problem in refused(data, capsys, *words)


@pytest.mark.parametrize("action", ["why", "at", "restore", "expiring"])
def test_the_help_of_an_action_has_its_examples_line_by_line(action: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["groups", action, "--help"])

    lines = capsys.readouterr().out.splitlines()
    examples = lines[lines.index("examples:") + 1 :]
    assert examples
    assert all(f"coordinator-server groups {action} " in line for line in examples)


@pytest.mark.parametrize("why", Why)
def test_every_reason_has_words(why: Why) -> None:
    """And not its name."""
    event = Event(START_MS, "epoch", members=1, epoch=3, by=Change(0, START_MS, "timer", reasons=(Reason(why, "m", "said"),)))

    line = event_line(event)

    assert ": " in line.partition("Z  ")[2]
    assert str(why) not in line


def test_the_log_has_the_views_of_a_server(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the same columns; who coordinates is not in the log."""
    listed = json.loads("".join(shown(data, capsys, "list", "-o", "json")))
    described = shown(data, capsys, "describe", "g", "-o", "csv")
    offsets = json.loads("".join(shown(data, capsys, "offsets", "g", "-o", "json")))

    assert listed == [{"group": "g", "type": "classic", "state": "Empty", "protocol_type": "consumer", "coordinator": None}]
    assert described[1].startswith("g,classic,Empty,")
    assert [(each["partition"], each["offset"], each["lag"], each["member"]) for each in offsets] == [
        (0, 50, None, None),
        (2, 70, None, None),
    ]
    assert shown(data, capsys, "members", "g") == []
    assert shown(data, capsys, "list", "--state", "stable", "-o", "csv") == []
    assert "there is no group nobody" in refused(data, capsys, "offsets", "nobody")


def test_the_log_or_a_server_is_asked(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["groups", "list", "--data-dir", str(data), "--bootstrap", "h:1"]) == 2
    assert main(["topics", "list", "--data-dir", str(data), "--bootstrap", "h:1"]) == 2
    assert "exclude each other" in capsys.readouterr().err


def test_who_owned_a_partition_and_for_how_long_nobody_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a period, with the gaps; a partition that is named has a gap even if it never had an owner."""
    first, second = (current("g", each, 1, {ORDERS: [0, 1]}) for each in "ab")
    rows = [member("g", "a"), member("g", "b"), first, left("g", "a"), second]
    times = [0, 0, 0, 10_000, 15_000]
    write_meta(tmp_path)
    batches = [Batch((Record(number, START_MS + times[number], *row),)) for number, row in enumerate(rows)]
    write_segments(tmp_path / SHARD, batches)
    topic = CLUSTER_METADATA_SERDE.encode_value(CoordinatorRecord(TopicRecord("orders", ORDERS), None))
    write_segments(tmp_path / CATALOG_SHARD, [Batch((Record(0, START_MS, None, topic),))])
    period = ("--since", "2025-11-24T15:59:00Z", "--until", "2025-11-24T16:00:20Z")

    assert main(["groups", "owners", "g", "--topic", "orders:1,7", *period, "--data-dir", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    found = json.loads("".join(shown(tmp_path, capsys, "owners", "g", "--topic", "orders:1", "-o", "json")))

    assert [line.split()[2:5] + line.split()[-1:] for line in printed.out.splitlines()[1:]] == [
        ["1", "-", "-", "60.0"],
        ["1", "a", "client", "10.0"],
        ["1", "-", "-", "5.0"],
        ["1", "b", "client", "5.0"],
        ["7", "-", "-", "80.0"],
    ]
    assert "orders-1 had no owner for 65.0 of 80.0 s" in printed.err
    assert [(each["member"], each["host"], each["until"]) for each in found] == [
        ("a", "10.0.0.7", "2025-11-24T16:00:10.000Z"),
        (None, None, "2025-11-24T16:00:15.000Z"),
        ("b", "10.0.0.7", None),
    ]
    assert "orders-7 never had an owner" in refused(tmp_path, capsys, "owners", "g", "--topic", "orders:7")
    assert "does not mention group nobody" in refused(tmp_path, capsys, "owners", "nobody")
    for mistaken in ("other", "other:1"):
        told = refused(tmp_path, capsys, "owners", "g", "--topic", mistaken, *period)
        assert "no partition of other ever had an owner in group g: it had those of orders" in told
