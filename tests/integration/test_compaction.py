"""Compaction beside a running server: clients notice nothing, the next start loads the layers and answers the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from protocol.error_codes import ErrorCode
from tests.support.client import Client
from tests.support.command_forks import run_command
from tests.support.members import Member, form_group
from tests.support.producer import Producer
from tests.support.server import Server
from tests.support.simple_requests import commit_alone, committed, must_commit

GROUPS = [f"group-{number}" for number in range(20)]
REWRITES = 10

Positions = dict[str, dict[tuple[str, int], int]]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path, {"topics": "orders:6"}) as server:
        yield server


def run(command: str, server: Server, *options: str) -> Any:
    """A command on the server's data directory; its JSON."""
    done = run_command(command, "--data-dir", server.data_dir, "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def rewrite(server: Server, times: range) -> None:
    """Commit every position of every group again and again."""
    with Client(server.address) as client:
        for offset in times:
            for group in GROUPS:
                assert commit_alone(client, group, "orders", {0: offset, 1: offset}) == {0: ErrorCode.NONE, 1: ErrorCode.NONE}


def read_all(server: Server) -> Positions:
    with Client(server.address) as client:
        return {group: committed(client, group) for group in GROUPS}


def test_a_compacted_log_answers_the_same(server: Server) -> None:
    """Positions before and after a compaction that ran beside the server, members in their generation, and a crash at the end.

    Layers of Spark have the same bytes (``spark/test_compact.py``).
    """
    members = form_group(server.address, "workers", 2, session_timeout_ms=600_000)
    rewrite(server, range(REWRITES))

    result = run("compact", server, "--engine", "python")
    rewrite(server, range(REWRITES, REWRITES + 2))
    server.kill()
    server.start()

    kept, read = (sum(layer[what] for layer in result["layers"]) for what in ("records", "records_in"))
    assert read >= REWRITES * len(GROUPS) * 2
    assert kept < read / 2
    assert list(server.data_dir.glob("*/layer-*/manifest.json"))
    assert read_all(server) == {group: {("orders", 0): REWRITES + 1, ("orders", 1): REWRITES + 1} for group in GROUPS}
    for member in members:
        member.reconnect()
    assert [member.heartbeat() for member in members] == [ErrorCode.NONE, ErrorCode.NONE]


def digests(server: Server) -> dict[str, tuple[str, dict[str, str]]]:
    """The digest of each shard that has records, with its parts."""
    shards = server.control(op="shards")["shards"]
    found = server.control(op="digest", shards=list(shards), parts=True)["shards"]
    return {name: (each["digest"], each["parts"]) for name, each in found.items() if each["offset"]}


@pytest.mark.parametrize("is_commit", [True, False])
def test_a_transaction_stays_open_over_compaction_and_a_crash(server: Server, is_commit: bool) -> None:
    """The layers have checkpoints. Afterwards it is ended as if nothing had been; ended ones stay ended, and old epochs fenced."""
    with Producer(server.address, "ended") as ended, Producer(server.address, "open") as still:
        for producer, group in ((ended, "done"), (still, "later")):
            assert producer.init().error == ErrorCode.NONE
            assert producer.commit(group, "orders", {0: 5, 1: 6}) == {ErrorCode.NONE}
        fenced = ended.producer_id, ended.epoch
        assert ended.end().error == ErrorCode.NONE
        ended.until("CompleteCommit")
        before = digests(server)
        run("compact", server, "--engine", "python")
        assert len(list(server.data_dir.glob("__consumer_offsets-*/layer-*/groups.index"))) == 2
        assert len(list(server.data_dir.glob("__transaction_state-*/layer-*"))) == 2

        server.kill()
        server.start()

    assert digests(server) == before
    with Producer(server.address, "open") as again, Producer(server.address, "ended") as old:
        again.producer_id, again.epoch = still.producer_id, still.epoch
        assert again.end(is_commit=is_commit).error == ErrorCode.NONE
        again.until("CompleteCommit" if is_commit else "CompleteAbort")
        old.producer_id, old.epoch = fenced
        assert old.commit("done", "orders", {0: 9}) != {ErrorCode.NONE}
    with Client(server.address) as client:
        assert committed(client, "done") == {("orders", 0): 5, ("orders", 1): 6}
        assert committed(client, "later") == ({("orders", 0): 5, ("orders", 1): 6} if is_commit else {})


def test_a_log_is_compacted_again_and_again(server: Server) -> None:
    """Layer upon layer, with writes between: the newest stands for all before it."""
    for number in range(3):
        rewrite(server, range(number * 10, number * 10 + 3))
        run("compact", server, "--engine", "python")
        server.kill()
        server.start()

    assert read_all(server) == {group: {("orders", 0): 22, ("orders", 1): 22} for group in GROUPS}


def test_replay_prints_what_the_server_answers(server: Server) -> None:
    """The state rebuilt from the log, beside the running server, is the state that clients see."""
    [member] = form_group(server.address, "workers", 1)
    rewrite(server, range(2))

    groups = {group["group"]: group for shard in run("replay", server) for group in shard["groups"]}

    replayed = {name: {(one["topic"], one["partition"]): one["offset"] for one in groups[name]["offsets"]} for name in GROUPS}
    assert replayed == read_all(server)
    assert replayed_membership(groups["workers"]) == (member.generation_id, [member.member_id])


def replayed_membership(group: dict[str, Any]) -> tuple[int, list[str]]:
    return group["generation"], [member["member_id"] for member in group["members"]]


def test_replay_shows_an_earlier_state(server: Server) -> None:
    """--at an offset of a shard: the state before the records from there on."""
    with Client(server.address) as client:
        for offset in (10, 20, 30):
            must_commit(client, "workers", "orders", {0: offset})
    [shard] = [shard for shard in run("replay", server) if shard["groups"]]

    seen = []
    for at in range(shard["seen_to"] + 1):
        [then] = run("replay", server, "--shard", shard["shard"], "--at", str(at))
        seen.append([one["offset"] for group in then["groups"] for one in group["offsets"]])

    assert seen == [[], [10], [20], [30]]


def test_a_member_that_left_is_gone_from_the_compacted_log(server: Server) -> None:
    """Compaction keeps the last word on a group, not an earlier one."""
    stays, leaves = form_group(server.address, "workers", 2)
    assert leaves.leave() == ErrorCode.NONE
    rejoin_alone(stays)
    run("compact", server, "--engine", "python")

    server.kill()
    server.start()

    stays.reconnect()
    leaves.reconnect()
    assert (stays.heartbeat(), leaves.heartbeat()) == (ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID)


def rejoin_alone(member: Member) -> None:
    member.await_rebalance()
    member.start_join()
    member.finish_join()
    assert member.sync({member.member_id: b"all of it"}) == ErrorCode.NONE
