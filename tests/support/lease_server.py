"""A server with leases (tests/leases) in use, and every tool on its directory."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from tests.leases.rows import LEASES, PARTITIONS
from tests.support.client import Client
from tests.support.command_forks import run_command
from tests.support.eventually import eventually
from tests.support.server import Server
from tests.toy.rows import ENVIRONMENT

NAMES: Final = [f"lock-{number}" for number in range(12)]
SHARDS: Final = [f"{LEASES.topic}-{partition}" for partition in range(PARTITIONS)]
LONG_MS: Final = 3_600_000


@contextlib.contextmanager
def lease_server(directory: Path, loops: int) -> Iterator[Server]:
    """Start it, and have all shards of leases loaded."""
    server = Server(directory, {"topics": "orders:6", "log.cleaner.enable": "false"}, loops=loops)
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
    """A command on the server's data directory; its JSON, a list if it has several lines."""
    done = run_command(*words, "--data-dir", server.data_dir, "--json", environment=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def fill(server: Server) -> None:
    """Take all, renew half of them, and forget one."""
    for name in NAMES:
        assert ask(server, name, owner="a", for_ms=LONG_MS)["lease"]["token"] == 1
    for name in NAMES[::2]:
        assert ask(server, name, owner="a", for_ms=2 * LONG_MS)["lease"]["token"] == 1
    assert ask(server, NAMES[-1], owner="a", for_ms=None)["lease"] is None


def assert_every_tool_agrees(server: Server, compact_and_verify: Callable[[Server], tuple[Any, Any]]) -> None:
    """Compaction, proof and replay beside the server, and after kill -9 a start from the layers with another number of loops."""
    fill(server)
    before, told = leases(server), digests(server)

    compacted, proven = compact_and_verify(server)
    ours = [each for each in compacted["layers"] if each["shard"] in SHARDS]
    verdicts = {each["shard"]: each for each in proven}
    replayed = {each["shard"]: each for each in run(server, "replay", "--digest")}

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
