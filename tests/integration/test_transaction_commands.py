"""``coordinator-server transactions`` beside a running server with two loops: what is open, and its end by an administrator."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from protocol.error_codes import ErrorCode
from tests.support.command_forks import run_command
from tests.support.eventually import eventually
from tests.support.producer import Producer
from tests.support.server import Server


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
    aborted = ask(server, "abort", "tx")
    eventually(lambda: ask(server, "list")[0]["state"] == "CompleteAbort")
    steps = ask(server, "why", "tx")
    with Producer(server.address, "tx") as again:
        again.producer_id, again.epoch = producer.producer_id, producer.epoch
        late = again.end()

    assert (before["transactional_id"], before["groups"]) == ("tx", ["g"])
    assert aborted == {"producer_id": producer.producer_id, "producer_epoch": producer.epoch}
    assert [each["what"] for each in steps] == ["producer", "begun", "abort decided", "aborted"]
    assert (steps[1]["by"]["operation"], steps[2]["why"]) == ("TxnOffsetCommit v5", "asked by an administrator")
    assert late.error == ErrorCode.INVALID_TXN_STATE
    assert ask(server, "hanging") == []


def test_only_an_open_transaction_is_aborted(server: Server) -> None:
    begin(server)
    ask(server, "abort", "tx")
    eventually(lambda: ask(server, "list")[0]["state"] == "CompleteAbort")

    assert "no transaction is open" in ask(server, "abort", "tx", code=1)
    assert "there is no such transactional id" in ask(server, "abort", "nobody", code=1)
