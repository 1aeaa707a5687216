"""A kind with a clock, timers and tools at work (tests/leases): what the tests of kinds do not ask of totals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from tests.leases.rows import LEASES, PARTITIONS
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.server import ROOT, Server
from tests.toy.rows import ENVIRONMENT

# Loops of the server, and the engine. Spark reads the same directory, whichever number of loops has written it.
ENGINES = [(1, "python"), (2, "python"), pytest.param(2, "spark", marks=[pytest.mark.spark, pytest.mark.slow])]
NAMES = [f"lock-{number}" for number in range(12)]
SHARDS = [f"{LEASES.topic}-{partition}" for partition in range(PARTITIONS)]
LONG_MS = 3_600_000


@pytest.fixture(params=[1, 2])
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Server]:
    """In which leases are in use."""
    server = Server(tmp_path, {"topics": "orders:6", "log.cleaner.enable": "false"}, loops=request.param)
    server.environment = ENVIRONMENT
    with server:
        with Client(server.address) as client:
            find = FindCoordinatorRequest(key_type=LEASES.key_type or 0, coordinator_keys=NAMES)
            assert client.ask(find, 4, FindCoordinatorResponse).coordinators[0].error_code == ErrorCode.NONE
        eventually(
            lambda: {each["state"] for each in server.control(op="shards", shards=SHARDS)["shards"].values()} == {"active"}
        )
        yield server


def ask(server: Server, name: str, **fields: Any) -> dict[str, Any]:
    shard = f"{LEASES.topic}-{partition_for(name, PARTITIONS)}"
    answer: dict[str, Any] = server.control(op=LEASES.topic, shards=[shard], name=name, **fields)
    return answer


def leases(server: Server) -> dict[str, Any]:
    return {name: ask(server, name)["lease"] for name in NAMES}


def digests(server: Server) -> dict[str, str]:
    """Of the shards that have a log."""
    found = server.control(op="digest", shards=SHARDS)["shards"]
    return {name: each["digest"] for name, each in found.items() if (server.data_dir / name).exists()}


def run(server: Server, *words: str) -> Any:
    """A command on the server's data directory; its JSON."""
    command = [sys.executable, "-m", "coordinator_server", *words, "--data-dir", str(server.data_dir), "--json"]
    env = os.environ | ENVIRONMENT
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def fill(server: Server) -> None:
    """Take all, renew half of them, and forget one."""
    for name in NAMES:
        assert ask(server, name, owner="a", for_ms=LONG_MS)["lease"]["token"] == 1
    for name in NAMES[::2]:
        assert ask(server, name, owner="a", for_ms=2 * LONG_MS)["lease"]["token"] == 1
    assert ask(server, NAMES[-1], owner="a", for_ms=None)["lease"] is None


@pytest.mark.parametrize(("server", "engine"), ENGINES, indirect=["server"])
def test_every_tool_comes_to_the_state_of_the_server(server: Server, engine: str) -> None:
    """Beside it, and after kill -9 and a start from the layers with another number of loops."""
    fill(server)
    before, told = leases(server), digests(server)

    compacted = run(server, "compact", "--engine", engine)
    ours = [each for each in compacted["layers"] if each["shard"] in SHARDS]
    verdicts = {each["shard"]: each for each in run(server, "verify", "--engine", engine)}
    replayed = {each["shard"]: each for each in run(server, "replay", "--seal", "--digest")}

    assert (sum(each["records_in"] for each in ours), sum(each["records"] for each in ours)) == (19, 12)
    assert {name: (each["full"], each["live"]) for name, each in verdicts.items() if name in told} == {
        name: (digest, digest) for name, digest in told.items()
    }
    assert {name: replayed[name]["digest"] for name in told} == told
    assert run(server, "log", "verify")["damage"] == []
    server.kill()
    server.loops, server.port = 3 - server.loops, 0
    server.start()
    assert (leases(server), digests(server)) == (before, told)
    assert ask(server, NAMES[0], owner="b", for_ms=1)["error"] == ErrorCode.FENCED_INSTANCE_ID.name


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
