"""A share group from all sides that look at its logs: control.sock, groups, share, replay, verify, compaction and the history."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from coordinator_server.cli import main
from protocol.error_codes import ErrorCode
from protocol.fields import uuid_text
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.server import Server
from tests.support.share_state import errors_of, writing
from tests.support.simple_requests import make_topic

GROUP = "workers"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One member has both partitions of a topic. Records 3-4 of the first one came back twice. There are two loops."""
    properties = {"group.share.assignment.interval.ms": 0, "share.coordinator.state.topic.num.partitions": 4}
    with Server(tmp_path_factory.mktemp("views"), properties, loops=2) as server:
        with Client(server.address) as client:
            topic_id = make_topic(client, "jobs", 2)
            of_group, of_state = (_home(client, 0, GROUP), _home(client, 2, f"{GROUP}:{uuid_text(topic_id)}:0"))
        with Client(of_group) as client:
            _join(client)
        with Client(of_state) as client:
            for batch in ((3, 4, 1, 0), (3, 4, 2, 0), (5, 5, 1, 2)):
                written = client.call(writing(GROUP, [(topic_id, 0)], batch, state_epoch=-1), 0)
                assert set(errors_of(written).values()) == {ErrorCode.NONE}
                # The next one has another time, in ms.
                time.sleep(0.002)
        yield server


def _home(client: Client, key_type: int, key: str) -> tuple[str, int]:
    request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
    [found] = client.ask(request, 6, FindCoordinatorResponse).coordinators
    assert found.error_code == ErrorCode.NONE
    return found.host, found.port


def _join(client: Client) -> None:
    epoch = 0

    def has_all() -> bool:
        nonlocal epoch
        request = ShareGroupHeartbeatRequest(GROUP, "m", epoch, None, ["jobs"])
        answer = client.ask(request, 1, ShareGroupHeartbeatResponse)
        if answer.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            return False
        assert answer.error_code == ErrorCode.NONE
        epoch = answer.member_epoch
        topics = [] if answer.assignment is None else answer.assignment.topic_partitions
        return [sorted(each.partitions) for each in topics] == [[0, 1]]

    eventually(has_all)


def run(server: Server, capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """What a command prints."""
    capsys.readouterr()
    assert main([*words, "--data-dir", str(server.data_dir)]) == code, capsys.readouterr().err
    printed = capsys.readouterr()
    return printed.err if code else printed.out


def test_a_share_group_on_the_control_socket(server: Server) -> None:
    """Its epoch and members, and the digest of both of its logs."""
    [group] = server.control(op="groups")["groups"]
    shards = server.control(op="digest")["shards"]

    assert group.pop("generation") >= 2
    assert group == {"group_id": GROUP, "type": "share", "state": "Stable", "protocol_type": "share", "members": 1}
    assert {name.partition("-")[0] for name in shards} >= {"__consumer_offsets", "__share_group_state"}


def test_groups_tells_of_a_share_group(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    """How its member came to its partitions, what it has now, and that there are no offsets to restore or to expire."""
    why = run(server, capsys, "groups", "why", GROUP)
    at = run(server, capsys, "groups", "at", GROUP, datetime.now(UTC).isoformat())

    for said in (
        "initializes share partitions jobs-0, jobs-1",
        "share partitions jobs-0, jobs-1 are initialized",
        "gets jobs-0, jobs-1",
        "settled in epoch ",
    ):
        assert said in why
    assert f"group {GROUP}: epoch " in at
    assert "Stable, members 1" in at
    assert "share partitions initialized: jobs 0,1" in at
    assert "jobs 0,1\n" in at.partition("member m of tests")[2]
    now = datetime.now(UTC).isoformat()
    refused = run(server, capsys, "groups", "restore", GROUP, "--at", now, code=1)
    assert f"group {GROUP} is a share group, which commits no offsets: nothing to restore" in refused
    assert run(server, capsys, "groups", "expiring", GROUP, "-o", "json") == "[]\n"


def test_share_tells_of_what_its_coordinator_wrote(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    """The batch that is stuck, and who wrote what. It is asked by the id of the group, wherever its share partitions are."""
    lines = run(server, capsys, "share", "describe", GROUP).splitlines()
    why = run(server, capsys, "share", "why", GROUP, "--partition", "0")

    assert lines[0] == f"group {GROUP}: 2 share partitions"
    assert lines[-1].startswith("  jobs-0: 3-4 delivered 2 times, the last time at ")
    assert "3-4 came back after delivery 2 (WriteShareGroupState v0 of tests at 127.0.0.1)" in why
    assert "5 acknowledged after delivery 1" in why
    assert why.splitlines()[0].partition("jobs-0: ")[2].startswith("initialized; ")


def test_the_history_has_its_members_and_deliveries(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(server, capsys, "history", "--engine", "python", "--out", str(tmp_path))

    tables: dict[str, list[dict[str, Any]]] = {
        name: [each for each in pq.read_table(tmp_path / name).to_pylist() if each["group_id"] == GROUP]
        for name in ("generations", "members", "reconciliations", "share_state")
    }
    assert {each["group_type"] for each in tables["generations"]} == {"share"}
    assert [(each["member_id"], each["topics"]) for each in tables["members"]] == [("m", ["jobs"])]
    assert [each["what"] for each in tables["share_state"]].count("initialized") == 2
    last = [each for each in tables["share_state"] if each["partition"] == 0][-1]
    assert (last["topic"], last["in_flight"], last["acknowledged"], last["most_deliveries"]) == ("jobs", 2, 1, 2)
    steps = [each for each in tables["reconciliations"] if each["what"] == "assigned"]
    assert [(each["topic"], each["partition"]) for each in steps[-1]["partitions"]] == [("jobs", 0), ("jobs", 1)]


def test_a_layer_and_a_kill_change_nothing(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    """The digest of groups and share partitions says something of each record, and is the same by every way to it."""
    before = json.loads(run(server, capsys, "replay", "--json"))
    run(server, capsys, "compact", "--engine", "python")
    assert "the server agree on" in run(server, capsys, "verify", "--engine", "python")
    server.kill()
    server.start()

    after = json.loads(run(server, capsys, "replay", "--json"))

    assert "the server agree on" in run(server, capsys, "verify", "--engine", "python")
    assert states(after) == states(before)
    [group] = [each for state in after for each in state["groups"]]
    assert (group["type"], group["state"], len(group["members"]), group["share_partitions"].keys()) == (
        "share",
        "Stable",
        1,
        {"initialized"},
    )
    assert len([each for each in group["records"] if each.startswith("ShareGroup")]) == 6


def states(replayed: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        each["shard"]: (each["digest"], each["groups"], each["contents"])
        for each in replayed
        if each["groups"] or each["contents"]
    }
