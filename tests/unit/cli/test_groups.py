"""``coordinator-server groups``: the history of a group as text, line by line, and what is asked of a server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.cli import groups, main
from coordinator_server.runtime.partitioner import partition_for
from protocol.record_batch import Record
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
    monkeypatch.setattr(groups, "ask_server", server.ask)
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
    assert shown(data, capsys, "why", "g") == [
        f"{BEGUN}  generation 3, 1 member",
        f"{ENDED}  1 offsets deleted",
        f"{ENDED}  empty 4",
    ]


def test_events_as_json(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads("".join(shown(data, capsys, "why", "g", "--json"))) == [
        {"at_ms": START_MS, "what": "generation", "generation": 3, "members": 1},
        {"at_ms": LATER_MS, "what": "offsets deleted", "offsets": 1},
        {"at_ms": LATER_MS, "what": "empty", "generation": 4, "members": 0},
    ]


def test_a_group_at_a_moment(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(data, capsys, "at", "g", BETWEEN) == [
        "group g: generation 3, consumer/range, members 1",
        "member client-0-aa of client-0 at /127.0.0.1",
        "topic   partition  offset  committed",
        f"orders  0          5       {BEGUN}",
        f"orders  1          6       {BEGUN}",
    ]
    assert shown(data, capsys, "at", "g", "2026-01-01") == [
        "group g: generation 4, consumer/-, members 0",
        "topic   partition  offset  committed",
        f"orders  0          50      {ENDED}",
        f"orders  2          70      {ENDED}",
    ]


def test_a_group_that_was_not_there(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON has a null for it."""
    assert "group g did not exist at 2001-01-01T00:00:00.000Z" in refused(data, capsys, "at", "g", "2001-01-01")
    assert json.loads("".join(shown(data, capsys, "at", "g", "2001-01-01", "--json")))["group"] is None
    problem = refused(data, capsys, "restore", "g", "--at", "2001-01-01")
    assert "group g did not exist at 2001-01-01T00:00:00.000Z: nothing to restore" in problem


def test_a_restore_shows_what_it_would_change(data: Path, capsys: pytest.CaptureFixture[str], server: Server) -> None:
    """No server is asked."""
    assert shown(data, capsys, "restore", "g", "--at", BETWEEN) == [
        "topic   partition  before  after",
        "orders  0          50      5",
        "orders  1          none    6",
        "orders  2          70      none",
        "nothing was changed; use --execute to restore",
    ]
    assert server.asked == []


def test_a_restore_asks_the_server_for_all_offsets_of_the_moment(
    data: Path, capsys: pytest.CaptureFixture[str], server: Server
) -> None:
    server.answer = {"restored": {"written": 2, "deleted": 1}}

    assert shown(data, capsys, "restore", "g", "--at", BETWEEN, "--execute")[-1] == "done: 2 offsets written, 1 deleted"
    common = {"topic": "orders", "leader_epoch": -1}
    offsets = [
        {**common, "partition": 0, "offset": 5, "metadata": ""},
        {**common, "partition": 1, "offset": 6, "metadata": "note"},
    ]
    group = {"group_id": "g", "offsets": offsets, "as_of": "2025-11-24T16:00:30.000Z"}
    assert server.asked == [{"op": "restore", "shards": [SHARD], "group": group}]


def test_what_expires_is_asked_of_the_server(data: Path, capsys: pytest.CaptureFixture[str], server: Server) -> None:
    server.answer = {"expiring": [{"at_ms": LATER_MS, "topic": "orders", "partition": 2}]}

    assert shown(data, capsys, "expiring", "g") == [
        "expires                   topic   partition",
        f"{ENDED}  orders  2",
    ]
    assert server.asked == [{"op": "expiring", "shards": [SHARD], "group": "g"}]
    server.answer = {"expiring": []}
    assert shown(data, capsys, "expiring", "g") == ["no offset of this group expires in its present state"]
    assert json.loads("".join(shown(data, capsys, "expiring", "g", "--json"))) == []


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
