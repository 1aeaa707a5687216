"""The operations ``status``, ``loops`` and ``groups`` of ``control.sock``, with one loop and with two."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coordinator_server.kinds import GROUPS
from coordinator_server.runtime.partitioner import partition_for
from tests.support.client import Client
from tests.support.command_forks import run_command
from tests.support.members import form_group
from tests.support.server import Server
from tests.support.simple_requests import coordinator, make_topic, must_commit


@pytest.mark.parametrize("loops", [1, 2])
def test_what_each_loop_says_of_itself(tmp_path: Path, loops: int) -> None:
    with Server(tmp_path, loops=loops) as server, Client(server.address) as client:
        make_topic(client, "orders", 1)
        status = server.control(op="status")["status"]
        described = server.control(op="loops")["loops"]
        assert server.control(op="cluster")["cluster"] == [], "it is none of several nodes"
        doctor = run_command("doctor", "--data-dir", str(server.data_dir), "--all", "-o", "json")

        assert [each["node_id"] for each in sorted(status, key=lambda each: each["node_id"])] == [1, 2][:loops]
        assert {each["pid"] for each in status} == (set(server.loop_pids()) if loops > 1 else {server.pid})
        assert [(each["is_loaded"], each["log_failure"], each["cluster_id"]) for each in status] == [
            (True, None, server.cluster_id)
        ] * loops
        assert sum(each["shards"]["active"] for each in status) >= 51
        assert sum(each["connections"] for each in status) >= 1
        assert all(each["uptime_ms"] >= 0 and each["topics"] >= 1 for each in status)
        assert [(each["loop"], each["node_id"], each["stage"], each["starts"]) for each in described] == [
            (loop, 1 + loop, "serving", 1) for loop in range(loops)
        ]
        assert [each["listeners"] for each in described] == [
            [{"name": "PLAINTEXT", "protocol": "PLAINTEXT", "host": host, "port": port}] for host, port in server.addresses
        ]
        assert {each["pid"] for each in described} == {each["pid"] for each in status}
        # Without --bootstrap it asks the server of the directory, and not the usual port.
        answering = [each["what"] for each in json.loads(doctor.stdout) if each["check"] == "servers"]
        assert [each.rpartition(" answers in ")[0] for each in answering] == [
            f"node {1 + loop} at {host}:{port}" for loop, (host, port) in enumerate(server.addresses)
        ]


@pytest.mark.parametrize("loops", [1, 2])
def test_every_group_of_all_loops(tmp_path: Path, loops: int) -> None:
    with Server(tmp_path, loops=loops) as server:
        with Client(server.address) as client:
            make_topic(client, "orders", 1)
            for group in ("simple-0", "simple-1", "simple-2"):
                with Client(coordinator(client, group)) as home:
                    must_commit(home, group, "orders", {0: 5})
        members = form_group(server.address, "readers", 2)
        groups = {each.pop("group_id"): each for each in server.control(op="groups")["groups"]}
        shard = f"{GROUPS.topic}-{partition_for('readers', 50)}"
        of_a_shard = server.control(op="groups", shards=[shard])["groups"]
        refused = server.control(op="groups", shards=[f"{GROUPS.topic}-50"])
        of_loops = [each["groups"] for each in server.control(op="status")["status"]]
        assert {name: sum(each[name] for each in of_loops) for name in of_loops[0]}.items() >= {
            "classic": 1,
            "consumer": 0,
        }.items()
        for member in members:
            member.client.close()

    assert "readers" in {each["group_id"] for each in of_a_shard} != groups.keys()
    assert (refused["ok"], f"{GROUPS.topic}-50" in refused["error"]) == (False, True)
    simple = {"type": "classic", "state": "Empty", "protocol_type": "", "generation": 0, "members": 0}
    assert groups == {
        "readers": {
            "type": "classic",
            "state": "Stable",
            "protocol_type": "consumer",
            "generation": members[0].generation_id,
            "members": 2,
        },
        "simple-0": simple,
        "simple-1": simple,
        "simple-2": simple,
    }
