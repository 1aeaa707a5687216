"""``coordinator-server transactions`` beside a running server with two loops: what is open, and its end by an administrator."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.cli import main
from coordinator_server.cli.diagnosis import cluster
from protocol.error_codes import ErrorCode
from tests.support.client import Client
from tests.support.cluster_commands import Command, join_consumer
from tests.support.command_forks import run_command
from tests.support.eventually import eventually
from tests.support.producer import Producer
from tests.support.server import Server
from tests.support.simple_requests import coordinator


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path, {"topics": "t:1"}, loops=2) as server:
        yield server


def begin(server: Server) -> Producer:
    """A producer of ``tx``, with an offset of the group ``g`` in its open transaction."""
    with Producer(server.address, "tx") as producer:
        assert producer.init().error == ErrorCode.NONE
        assert producer.commit("g", "t", {0: 5}) == {ErrorCode.NONE}
    return producer


def ask(server: Server, *words: str, code: int = 0) -> Any:
    done = run_command("transactions", *words, "--json", "--data-dir", server.data_dir)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if code == 0 else done.stderr


def test_an_administrator_ends_an_open_transaction(server: Server) -> None:
    """The log says so, and its producer is fenced."""
    producer = begin(server)
    [before] = ask(server, "list", "--open")
    [aborted] = ask(server, "abort", "tx", "--execute")
    eventually(lambda: ask(server, "list")[0]["state"] == "CompleteAbort")
    steps = ask(server, "why", "tx")
    with Producer(server.address, "tx") as again:
        again.producer_id, again.epoch = producer.producer_id, producer.epoch
        late = again.end()

    assert (before["transactional_id"], before["groups"]) == ("tx", ["g"])
    assert (aborted["producer_id"], aborted["producer_epoch"]) == (producer.producer_id, producer.epoch)
    assert (aborted["groups"], aborted["outcome"]) == (["g"], "aborted")
    assert [each["what"] for each in steps] == ["producer", "begun", "abort decided", "aborted"]
    assert (steps[1]["by"]["operation"], steps[2]["why"]) == ("TxnOffsetCommit v5", "asked by an administrator")
    assert late.error == ErrorCode.INVALID_TXN_STATE
    assert ask(server, "hanging") == []


def test_only_an_open_transaction_is_aborted(server: Server) -> None:
    begin(server)
    ask(server, "abort", "tx", "--execute")
    eventually(lambda: ask(server, "list")[0]["state"] == "CompleteAbort")

    assert "no transaction of tx is open" in ask(server, "abort", "tx", "--execute", code=1)
    assert "transactional id nobody is not known" in ask(server, "abort", "nobody", "--execute", code=1)


def test_an_administrator_without_the_directory(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    """The same over Kafka's protocol, at any loop: the open transaction is listed, described, shown before its end, and ended."""
    producer = begin(server)
    command = Command(server.bootstrap.split(",")[1], capsys)

    opened = command.rows("transactions", "list", "--open")
    [described] = command.rows("transactions", "describe", "tx")
    preview = command("transactions", "abort", "tx")
    untouched = command.rows("transactions", "list", "--open")
    [aborted] = command.rows("transactions", "abort", "tx", "--execute")
    eventually(lambda: command.rows("transactions", "list")[0]["state"] in ("CompleteAbort", "Empty"))

    assert [(each["transactional_id"], each["producer_id"]) for each in opened] == [("tx", producer.producer_id)]
    assert opened == untouched
    assert list(described["partitions"]) == ["__consumer_offsets"]
    assert (preview.code, "would be aborted" in preview.out) == (0, True)
    assert aborted["outcome"] == "aborted"
    assert command("transactions", "abort", "tx").err.startswith("coordinator-server: no transaction of tx is open")
    assert command("transactions", "describe", "nobody").code == 1


def test_a_transaction_that_has_ended_is_not_open(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    """Kafka's answer says of it when it began; no command calls it open for that."""
    with Producer(server.address, "tx") as producer:
        assert producer.init().error == ErrorCode.NONE
        assert producer.commit("g", "t", {0: 5}) == {ErrorCode.NONE}
        assert producer.end().error == ErrorCode.NONE
    command = Command(server.bootstrap, capsys)
    eventually(lambda: command.rows("transactions", "list")[0]["state"] == "CompleteCommit")

    [described] = command.rows("transactions", "describe", "tx")
    assert (described["state"], described["open_since"], described["open_for_ms"]) == ("CompleteCommit", None, None)
    assert command.rows("transactions", "list", "--open") == []
    assert "no transaction of tx is open: it is CompleteCommit" in command("transactions", "abort", "tx", "--execute").err


def test_the_log_of_a_running_server_has_what_the_server_says(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    """Topics, groups, members and offsets: the same columns, and the same values where the log has them."""
    with Client(server.address) as client:
        home = coordinator(client, "both")
    with Client(home) as client:
        join_consumer(client, "both", "m1", "t", [0])
    command = Command(server.bootstrap, capsys)

    for words in (
        ["topics", "list"],
        ["groups", "list"],
        ["groups", "describe", "both"],
        ["groups", "members", "both"],
        ["groups", "offsets", "both"],
    ):
        live = command.rows(*words)
        assert main([*words, "--data-dir", str(server.data_dir), "-o", "json"]) == 0
        logged = json.loads(capsys.readouterr().out)

        assert len(live) == len(logged) > 0
        for row, said in zip(logged, live, strict=True):
            assert {name: value for name, value in row.items() if value is not None} == {
                name: said[name] for name, value in row.items() if value is not None
            }


def test_a_loop_that_hangs_is_found(server: Server, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """By the doctor and by health, beside the one that serves; the supervisor says so of the directory."""
    monkeypatch.setattr(cluster, "PROBE_S", 0.5)
    command = Command(server.bootstrap.split(",")[0], capsys)
    pid = server.loop_pids()[1]
    os.kill(pid, signal.SIGSTOP)
    try:
        health, doctor = command("health", "-o", "json"), command("doctor", "-o", "json", "--data-dir", str(server.data_dir))
    finally:
        os.kill(pid, signal.SIGCONT)

    assert (health.code, doctor.code) == (1, 1)
    assert [each["state"] for each in health.rows] == ["serving", "unreachable"]
    problems = [(each["check"], each["what"]) for each in doctor.rows if each["severity"] == "problem"]
    assert [check for check, _ in problems] == ["server", "servers"]
    assert "loop 1 does not serve" in problems[0][1]
    assert "node 2 at" in problems[1][1]
