"""Which rebalances go on: the running server is asked, for all viewers at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.page.progress import InProgress
from coordinator_server.page.summaries import Progress
from coordinator_server.pipeline.errors import ServerRefused
from tests.support.index import make_directory


def held(member: str, **fields: object) -> dict[str, object]:
    found = {"group_id": "g", "type": "classic", "state": "PreparingRebalance", "what": "has not joined again"}
    return found | {"member_id": f"{member}-1", "client_id": member, "client_host": "/10.0.0.7"} | fields


class Server:
    def __init__(self, *holdups: dict[str, object]) -> None:
        self.asked = 0
        self.holdups = holdups
        self.fails = False

    def ask(self, data_dir: Path, request: Mapping[str, object]) -> dict[str, Any]:
        assert request == {"op": "holdups"}
        self.asked += 1
        if self.fails:
            raise ServerRefused("it is busy")
        return {"holdups": list(self.holdups)}


def test_a_group_in_progress_says_whom_it_waits_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coordinator_server.page.progress.time.time", lambda: 5.0)
    server = Server(held("a", out_in_ms=2000), *(held(each) for each in "bcd"))
    found = InProgress(make_directory(tmp_path), server.ask)
    found.refresh()

    [row] = found.rows().values()
    assert row == Progress("rebalancing", "a has not joined again; b has not joined again; c has not joined again; and 1 more")
    assert (found.waits("g")[0].until_ms, found.waits("g")[0].host) == (7000, "10.0.0.7")
    assert found.waits("other") == []


def test_the_server_is_asked_no_more_than_a_hundredth_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server for which the question is work is asked less often, but for no more than five seconds not at all."""
    now = iter([0.0, 0.02, 1.9, 2.1, 2.6, 7.5, 7.7, 7.8])
    monkeypatch.setattr("coordinator_server.page.progress.time.monotonic", lambda: next(now))
    server = Server()
    found = InProgress(make_directory(tmp_path), server.ask)
    asked = []
    for _ in range(5):
        found.refresh()
        asked.append(server.asked)

    assert asked == [1, 1, 2, 2, 3]


def test_without_an_answer_nothing_is_in_progress(tmp_path: Path) -> None:
    server = Server(held("a"))
    found = InProgress(make_directory(tmp_path), server.ask)
    found.refresh()
    assert found.rows()
    server.fails, found._next_s = True, 0
    found.refresh()

    assert (found.rows(), found.waits("g")) == ({}, [])
