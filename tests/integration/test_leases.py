"""A kind with a clock, timers and tools at work (tests/leases): what the tests of kinds do not ask of totals."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.eventually import eventually
from tests.support.lease_server import LONG_MS, NAMES, ask, assert_every_tool_agrees, lease_server, run
from tests.support.server import Server


@pytest.fixture(params=[1, 2])
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Server]:
    """In which leases are in use."""
    with lease_server(tmp_path, request.param) as server:
        yield server


def compact_and_verify(server: Server) -> tuple[Any, Any]:
    return run(server, "compact", "--engine", "python"), run(server, "verify", "--engine", "python")


def test_every_tool_comes_to_the_state_of_the_server(server: Server) -> None:
    """Beside it, and after kill -9 and a start from the layers with another number of loops.

    ``spark/test_kinds.py`` has the jobs on Spark.
    """
    assert_every_tool_agrees(server, compact_and_verify)


def test_a_lease_runs_out_after_kill_9(server: Server) -> None:
    """A timer that was armed when the log was loaded; the next owner has the next token."""
    name = NAMES[0]
    assert ask(server, name, owner="a", for_ms=1500)["lease"]["token"] == 1
    server.kill()
    server.start()
    eventually(lambda: ask(server, name)["lease"]["owner"] == "")

    lease = ask(server, name, owner="b", for_ms=LONG_MS)["lease"]
    assert (lease["owner"], lease["token"]) == ("b", 2)
    assert lease["expires_ms"] > time.time() * 1000
