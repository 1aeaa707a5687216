"""What a running server says of its state is what its directory says once it is gone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from coordinator_server.machine.digest import FORMAT
from coordinator_server.pipeline.replay.shard_states import replay
from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from tests.support.client import Client
from tests.support.command_forks import run_command
from tests.support.eventually import eventually
from tests.support.members import form_group
from tests.support.server import Server
from tests.support.simple_requests import commit_alone, make_topic

Digests = dict[str, tuple[int, str, dict[str, str]]]
CATALOG = "__cluster_metadata-0"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path, {"topics": "orders:6"}) as server:
        yield server


def told(server: Server) -> Digests:
    """By the running server."""
    answer = server.control(op="digest", parts=True)
    assert (answer["ok"], answer["format"]) == (True, FORMAT)
    return {name: (shard["offset"], shard["digest"], shard.get("parts", {})) for name, shard in answer["shards"].items()}


def run(server: Server, command: str, *options: str) -> Any:
    done = run_command(command, "--data-dir", server.data_dir, "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def replayed(server: Server) -> Digests:
    """By its directory."""
    return {
        state["shard"]: (state["seen_to"], state["digest"], {group["group"]: group["digest"] for group in state["groups"]})
        for state in run(server, "replay", "--digest")
    }


def commit(server: Server, offset: int, *groups: str) -> None:
    with Client(server.address) as client:
        for group in groups:
            assert commit_alone(client, group, "orders", {0: offset, 1: offset}) == {0: ErrorCode.NONE, 1: ErrorCode.NONE}


def shard_of(group_id: str) -> str:
    return f"__consumer_offsets-{partition_for(group_id, 50)}"


def test_live_replayed_compacted_and_started_again(server: Server) -> None:
    """Members, generations, offsets and topics; kept up while it runs, with the log whole, and as a layer with a tail."""
    form_group(server.address, "workers", 2, session_timeout_ms=600_000)
    commit(server, 1, "a", "b", "c")
    first = told(server)
    commit(server, 2, "b")
    with Client(server.address) as client:
        make_topic(client, "payments", 3)
    second = told(server)

    assert {name for name in second if first[name] != second[name]} == {shard_of("b"), CATALOG}
    assert {group for _, _, groups in second.values() for group in groups} == {"workers", "a", "b", "c"}
    assert len(second) == 51
    assert server.stop() == 0
    assert replayed(server) == {name: second[name] for name in second if (server.data_dir / name).exists()}
    assert all(second[name] == (0, "0" * 32, {}) for name in second if not (server.data_dir / name).exists())
    run(server, "compact", "--engine", "python")
    server.start()
    commit(server, 3, "c")
    third = told(server)
    server.kill()
    assert {name for name in third if second[name][1] != third[name][1]} == {shard_of("c")}
    assert replayed(server) == {name: third[name] for name in third if (server.data_dir / name).exists()}


def test_shards_are_asked_by_name(server: Server) -> None:
    """Groups only where they are asked for; a shard that is not there is told as such."""
    commit(server, 1, "a")
    answer = server.control(op="digest", shards=[shard_of("a")])
    unknown = server.control(op="digest", shards=["__consumer_offsets-99"])

    assert answer["shards"].keys() == {shard_of("a")}
    assert answer["shards"][shard_of("a")].keys() == {"offset", "digest"}
    assert not unknown["ok"]
    assert "no shard __consumer_offsets-99 here" in unknown["error"]


def test_a_server_under_load_is_proven_beside_it(server: Server) -> None:
    """Ask, seal, and replay up to where each shard was asked: the same, although clients go on committing all the time."""
    is_over = Event()
    groups = ("a", "b", "c", "d")
    commit(server, 0, *groups)  # A shard that nobody has written to has no files to replay.

    def load() -> None:
        for offset in count(1):
            if is_over.is_set():
                return
            commit(server, offset, *groups)

    def is_past(earlier: Digests) -> bool:
        now = told(server)
        return all(now[shard][0] > earlier[shard][0] for shard in map(shard_of, groups))

    with ThreadPoolExecutor() as pool:
        running = pool.submit(load)
        try:
            for _ in range(3):
                live = told(server)
                assert server.control(op="seal")["ok"]
                for group in groups:
                    offset, digest, parts = live[shard_of(group)]
                    [found] = replay(server.data_dir, [shard_of(group)], offset)
                    assert (found.is_whole, found.digest) == (True, digest)
                    assert {each.group_id: each.digest for each in found.groups} == parts
                eventually(partial(is_past, live))
                assert not running.done()
        finally:
            is_over.set()
        running.result()
