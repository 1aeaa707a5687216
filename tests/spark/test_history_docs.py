"""The three questions of docs/history.md, as they are printed there, asked of a history that a server's log made."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

from coordinator_server.cli import main
from protocol.error_codes import ErrorCode
from tests.support.asking import must_commit
from tests.support.client import Client
from tests.support.members import form_group
from tests.support.server import ROOT, Server

# The moment that is printed, and one that is later than whatever these tests do.
PRINTED, LATE = "2026-11-21 14:06:36Z", "2100-01-01 00:00:00Z"
DOC = (ROOT / "docs/history.md").read_text()


def blocks(language: str) -> list[str]:
    found = re.findall(rf"```{language}\n(.*?)```", DOC, re.DOTALL)
    return [block.replace(PRINTED, LATE) for block in found]


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory in which ``history`` is; group billing has had two members, who committed, and left."""
    directory = tmp_path_factory.mktemp("docs")
    with Server(directory, {"topics": "orders:6,payments:2"}) as server:
        members = form_group(server.address, "billing", 2)
        for offset in (7, 122):
            assert set(members[0].commit("orders", {0: offset, 1: offset + 10}).values()) == {ErrorCode.NONE}
        for member in members:
            assert member.leave() == ErrorCode.NONE
        with Client(server.address) as client:
            must_commit(client, "audit", "payments", {0: 1})
        words = ["history", "--data-dir", str(server.data_dir), "--out", str(directory / "history"), "--engine", "python"]
        assert main(words) == 0
    return directory


def test_with_duckdb(history: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(history)

    why, then, who = (duckdb.execute(query).fetchall() for query in blocks("sql"))

    assert [reason for _, _, _, reason, _ in why][:3] == ["group-created", "member-joined", "member-joined"]
    assert [reason for _, _, _, reason, _ in why][-1] == "member-left"
    assert [(partition, committed) for partition, committed, _ in then] == [(0, 122), (1, 132)]
    assert [(group, topic, count) for _, _, group, topic, count, _ in who] == [("billing", "orders", 4), ("audit", "payments", 1)]


@pytest.mark.parametrize("number", [0, 1])
def test_with_pandas_and_with_spark(
    history: Path, spark: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    """Both print their answers."""
    monkeypatch.chdir(history)

    # The JVM has a working directory of its own.
    exec(blocks("python")[number].replace('"history/', f'"{history}/history/'), {"spark": spark})

    said = capsys.readouterr().out
    assert re.search(r"group-created.*member-joined.*member-left", said, re.DOTALL)
    assert re.search(r"\b0\b\D+\b122\b.*\b1\b\D+\b132\b", said, re.DOTALL)
    assert re.search(r"billing\W+orders\W+4\b.*audit\W+payments\W+1\b", said, re.DOTALL)
