"""``coordinator-server transactions``: states, histories and reasons from the log, and what is asked of a server."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.cli import main, transaction_history
from coordinator_server.machine.provenance import SHARD_ORIGIN, TIMER_ORIGIN, request_origin
from coordinator_server.transaction.state import TransactionState
from tests.support.segments import START_MS
from tests.support.transaction_logs import (
    ADMIN,
    APP,
    EMPTY,
    OFFSETS,
    POSITION,
    SECOND,
    SHARD,
    Log,
    opened,
    then,
    write_properties,
)

AT = [f"2025-11-24T16:00:{second:02d}.000Z" for second in range(10)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Transaction 1 of ``tx`` is committed, 2 is aborted by its timeout, 3 fenced, 4 open. Another producer's hangs."""
    state = TransactionState
    log, groups = Log(), Log()
    log.state(0, request_origin(22, 5, *APP), EMPTY)
    one = opened(1)
    log.state(1, request_origin(28, 5, *APP), one)
    groups.commit(1, ["g", "h"])
    log.state(2, request_origin(26, 5, *APP), then(one, state.PREPARE_COMMIT, 1))
    groups.marker(2)
    log.state(2, SHARD_ORIGIN, then(one, state.COMPLETE_COMMIT, 1))
    two = opened(3, 1)
    log.state(3, request_origin(25, 3, *APP), two)
    log.state(4, TIMER_ORIGIN, then(two, state.PREPARE_ABORT, 2))
    log.state(4, SHARD_ORIGIN, then(two, state.COMPLETE_ABORT, 2))
    three = opened(5, 2)
    log.state(5, None, three)
    log.state(6, request_origin(22, 4, *ADMIN), then(three, state.PREPARE_ABORT, 3))
    log.state(6, SHARD_ORIGIN, then(three, state.COMPLETE_ABORT, 3))
    log.state(7, None, opened(7, 3, [POSITION, ("orders", 1)]))
    groups.commit(7, ["g"], (7, 3))
    log.state(7, None, opened(7, 3, [POSITION, ("orders", 1), ("orders", 2)]))
    log.state(8, TIMER_ORIGIN, None)
    log.state(8, None, opened(7, 3, [POSITION]))
    groups.commit(8, ["left"], (9, 4))
    write_properties(tmp_path)
    log.write(tmp_path / SHARD)
    groups.write(tmp_path / OFFSETS)
    return tmp_path


def shown(data: Path, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(["transactions", *words, "--data-dir", str(data)]) == 0
    return capsys.readouterr().out.splitlines()


def test_every_step_has_its_reason(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Who did it, and for an end why."""
    mine, other = "of app at 10.0.0.1", "of other at 10.0.0.2"

    assert shown(data, capsys, "why", "tx") == [
        f"{AT[0]}  producer; producer 7 epoch 0  InitProducerId v5 {mine}",
        f"{AT[1]}  begun; producer 7 epoch 0; groups g, h  TxnOffsetCommit v5 {mine}",
        f"{AT[2]}  commit decided, because asked by its producer; producer 7 epoch 1; groups g, h  EndTxn v5 {mine}",
        f"{AT[2]}  committed; producer 7 epoch 1  shard",
        f"{AT[3]}  begun; producer 7 epoch 1  AddOffsetsToTxn v3 {mine}",
        f"{AT[4]}  abort decided, because open for longer than its 60000 ms; producer 7 epoch 2  timer",
        f"{AT[4]}  aborted; producer 7 epoch 2  shard",
        f"{AT[5]}  begun; producer 7 epoch 2",
        f"{AT[6]}  abort decided, because fenced by a new producer; producer 7 epoch 3  InitProducerId v4 {other}",
        f"{AT[6]}  aborted; producer 7 epoch 3  shard",
        f"{AT[7]}  begun; producer 7 epoch 3; groups g",
        f"{AT[7]}  partitions added; producer 7 epoch 3; groups g",
        f"{AT[8]}  forgotten, because not used for transactional.id.expiration.ms  timer",
        f"{AT[8]}  begun; producer 7 epoch 3; groups g",
    ]


def test_an_open_transaction_says_who_waits(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(data, capsys, "describe", "tx") == [
        f"transactional id tx: Ongoing since {AT[7]}",
        "producer 7 epoch 3, timeout 60000 ms",
        f"open since {AT[7]}: {OFFSETS}",
        "groups that wait for it: g",
    ]


@pytest.mark.parametrize(
    ("second", "row"),
    [
        (0, ["tx", "Empty", "7", "0", "-", "-"]),
        (1, ["tx", "Ongoing", "7", "0", AT[1], "g, h"]),
        (4, ["tx", "CompleteAbort", "7", "2", "-", "-"]),
        (5, ["tx", "Ongoing", "7", "2", AT[5], "-"]),
        (9, ["tx", "Ongoing", "7", "3", AT[7], "g"]),
    ],
)
def test_the_ids_of_a_moment(data: Path, capsys: pytest.CaptureFixture[str], second: int, row: list[str]) -> None:
    lines = shown(data, capsys, "list", "--at", f"2025-11-24T16:00:{second:02d}Z")
    known = json.loads(shown(data, capsys, "list", "--at", f"2025-11-24T16:00:{second:02d}Z", "--json")[0])

    assert [line.split("  ")[0] for line in lines] == ["transactional id", "tx"]
    assert [cell.strip() for cell in lines[1].split("  ") if cell.strip()] == row
    assert [(each["transactional_id"], each["state"]) for each in known] == [("tx", row[1])]


def test_transactions_list_open_shows_only_open_transactions(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(shown(data, capsys, "list", "--open")) == 2
    assert main(["transactions", "list", "--open", "--at", AT[0], "--data-dir", str(data)]) == 0
    assert capsys.readouterr() == ("", "coordinator-server: there are no such transactional ids\n")


def test_a_transaction_that_nobody_ends_hangs(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """That of ``tx`` does not: its transactional id waits for the same partition."""
    [found] = json.loads(shown(data, capsys, "hanging", "--json")[0])

    assert found == {
        "partition": OFFSETS,
        "producer_id": 9,
        "producer_epoch": 4,
        "first_offset": 4,
        "last_ms": START_MS + 8 * SECOND,
        "groups": ["left"],
    }
    assert shown(data, capsys, "hanging")[1].startswith(OFFSETS)


def test_transactions_hanging_lists_none_if_all_have_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = Log()
    log.commit(1, ["g"])
    log.marker(2)
    write_properties(tmp_path)
    log.write(tmp_path / OFFSETS)

    assert main(["transactions", "hanging", "--data-dir", str(tmp_path)]) == 0
    assert capsys.readouterr() == ("", "coordinator-server: no transaction hangs\n")


@pytest.mark.parametrize(
    ("words", "why"), [(("why", "nobody"), "does not mention transactional id nobody"), (("describe", "nobody"), "is not known")]
)
def test_transactions_commands_refuse_an_unknown_id(
    data: Path, capsys: pytest.CaptureFixture[str], words: Sequence[str], why: str
) -> None:
    assert main(["transactions", *words, "--data-dir", str(data)]) == 1
    assert why in capsys.readouterr().err


class Server:
    """A server that answers what it is told to, and keeps what it is asked."""

    def __init__(self, answer: Mapping[str, Any] | None) -> None:
        self.asked: list[Mapping[str, Any]] = []
        self._answer = answer

    def ask(self, _data_dir: Path, request: Mapping[str, Any]) -> Mapping[str, Any] | None:
        self.asked.append(request)
        return self._answer


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Callable[[Mapping[str, Any] | None], Server]:
    def answering(answer: Mapping[str, Any] | None) -> Server:
        server = Server(answer)
        monkeypatch.setattr(transaction_history, "ask_server", server.ask)
        return server

    return answering


def test_a_running_server_aborts(data: Path, capsys: pytest.CaptureFixture[str], ask: Any) -> None:
    server = ask({"aborted": {"producer_id": 7, "producer_epoch": 3}})

    [row] = json.loads("".join(shown(data, capsys, "abort", "tx", "--execute", "-o", "json")))
    assert (row["transactional_id"], row["producer_epoch"], row["groups"], row["outcome"]) == ("tx", 3, ["g"], "aborted")
    assert server.asked == [{"op": "abort-transaction", "shards": [SHARD], "transactional_id": "tx"}]


def test_without_a_server_nothing_is_aborted(data: Path, capsys: pytest.CaptureFixture[str], ask: Any) -> None:
    ask(None)

    assert main(["transactions", "abort", "tx", "--execute", "--data-dir", str(data)]) == 1
    assert "start it, then abort" in capsys.readouterr().err


def test_an_abort_is_shown_before_it_is_made(data: Path, capsys: pytest.CaptureFixture[str], ask: Any) -> None:
    """With what it would end; an id without an open transaction has nothing to abort."""
    server = ask(None)

    assert main(["transactions", "abort", "tx", "--data-dir", str(data)]) == 0
    printed = capsys.readouterr()
    assert [line.split()[0] for line in printed.out.splitlines()] == ["transactional", "tx"]
    assert printed.out.endswith("would be aborted\n")
    assert printed.err == "coordinator-server: nothing was changed: --execute makes the change\n"
    assert server.asked == []


@pytest.mark.parametrize(
    "words",
    [
        ["list", "--at", "2026-11-20"],
        ["list", "--data-dir", "d", "--bootstrap", "h:1"],
        ["describe", "tx", "--data-dir", "d", "-o", "csv"],
    ],
)
def test_the_log_or_a_server_is_asked(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Only the log has the past; and only answers that are rows can be CSV."""
    assert main(["transactions", *words]) == 2
    assert capsys.readouterr().out == ""


def test_transactions_that_are_alike_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is between them is told as ever, and so are few of them."""
    state = TransactionState
    log, groups = Log(), Log()
    for number in (*range(6), 10, 12):
        transaction = opened(number, number)
        log.state(number, request_origin(28, 5, *APP), transaction)
        groups.commit(number, ["g"] if number < 12 else ["other"])
        log.state(number, request_origin(26, 5, *APP), then(transaction, state.PREPARE_COMMIT, number + 1))
        groups.marker(number)
        log.state(number + (number == 4), SHARD_ORIGIN, then(transaction, state.COMPLETE_COMMIT, number + 1))
        if number == 5:
            log.state(9, request_origin(22, 5, *APP), EMPTY)
    write_properties(tmp_path)
    log.write(tmp_path / SHARD)
    groups.write(tmp_path / OFFSETS)

    lines = shown(tmp_path, capsys, "why", "tx")

    run = f"6 transactions committed until {AT[5]}, the longest was open for 1.0 s; producer 7 epoch 6; groups g"
    assert lines[0] == f"{AT[0]}  {run}  TxnOffsetCommit v5 of app at 10.0.0.1"
    assert [line.split("  ")[1].split(";")[0].split(",")[0] for line in lines[1:]] == [
        "producer",
        *["begun", "commit decided", "committed"] * 2,
    ]
    assert len(shown(tmp_path, capsys, "why", "tx", "--each")) == 25
    [first] = json.loads(shown(tmp_path, capsys, "why", "tx", "--until", AT[8], "-o", "json")[0])
    assert (first["transactions"], first["until_ms"], first["longest_ms"]) == (6, START_MS + 5 * SECOND, SECOND)
