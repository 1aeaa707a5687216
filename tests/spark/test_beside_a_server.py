"""The job beside the running daemon."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.kinds import GROUPS as KIND
from coordinator_server.kinds import topic_of
from tests.support.client import Client
from tests.support.command_forks import run_command
from tests.support.server import Server
from tests.support.simple_requests import committed, make_topic, must_commit

pytest.importorskip("pyspark", reason="the spark extra is not installed: make test brings it")

from tests.support.spark_driver import SparkDriver

GROUPS = [f"group-{number}" for number in range(8)]


def run(server: Server, command: str, *options: str) -> Any:
    """The JSON result of a command on the server's data directory."""
    done = run_command(command, "--data-dir", server.data_dir, "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def replayed(states: Any) -> dict[str, dict[tuple[str, int], int]]:
    groups = [group for state in states for group in state["groups"]]
    return {group["group"]: {(at["topic"], at["partition"]): at["offset"] for at in group["offsets"]} for group in groups}


def test_compaction_changes_no_answer(jobs: SparkDriver, tmp_path: Path) -> None:
    """Sealed through the running server, compacted by Spark, killed, started from the layers:
    it answers the same; replay says so too.
    """
    with Server(tmp_path) as server:
        with Client(server.address) as client:
            make_topic(client, "orders", 4)
            for offset in range(10):
                for group in GROUPS:
                    must_commit(client, group, "orders", dict.fromkeys(range(4), offset))
            done = jobs.run("compact", "--data-dir", server.data_dir, "--json")
            assert (done.code, done.stderr) == (0, "")
            compacted = json.loads(done.stdout)
            must_commit(client, GROUPS[0], "orders", {1: 1000})
            before = {group: committed(client, group) for group in GROUPS}
        beside = replayed(run(server, "replay"))

        server.kill()
        alone = replayed(run(server, "replay"))
        server.start()

        with Client(server.address) as client:
            assert {group: committed(client, group) for group in GROUPS} == before
        assert beside == alone == before
        of_groups = [layer for layer in compacted["layers"] if topic_of(layer["shard"]) == KIND.topic]
        assert sum(layer["records_in"] for layer in of_groups) == 10 * len(GROUPS) * 4
        assert sum(layer["records"] for layer in of_groups) == len(GROUPS) * 4
