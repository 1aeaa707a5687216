"""Three nodes over a real PostgreSQL, with clients of librdkafka that commit all the time: one is killed, one is stopped, the
database goes away and comes back. Leases are longer than the tests: nothing here may wait for the end of one.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from tests.support.client import Client
from tests.support.command_forks import run_command
from tests.support.eventually import eventually
from tests.support.members import form_group
from tests.support.node_cluster import GROUP_SHARDS, GROUPS, GROUPS_TOPIC, TOPIC, Committer, NodeCluster
from tests.support.postgresql import PostgresqlServer
from tests.support.postgresql import postgresql as postgresql  # noqa: PLC0414 - a fixture
from tests.support.prometheus import OF_STORE, Prometheus, Target, metrics_address, targets
from tests.support.simple_requests import must_commit

LEASE_S = 300
# Much longer than a takeover takes: the machine may be busy.
PATIENCE_S = 30.0
# What does not happen before a node is killed. Such a query has a result, too: 0.
QUIET = {
    "coordinator_cluster_unowned_shards",
    "coordinator_node_takeovers_total",
    "coordinator_store_statements_in_doubt_total",
    "coordinator_cluster_epochs",
    "coordinator_store_clock_difference_seconds",
}


def _query_of(target: Target) -> str:
    """What was counted is more than 0, unless nothing happened that counts it."""
    return target.query if target.names & QUIET else f"({target.query}) > 0"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, postgresql: PostgresqlServer) -> Iterator[NodeCluster]:
    times = {"broker.session.timeout.ms": LEASE_S * 1000, "broker.heartbeat.interval.ms": 500, "offsets.commit.timeout.ms": 500}
    counts = {"offsets.topic.num.partitions": GROUP_SHARDS, "transaction.state.log.num.partitions": 4}
    store = postgresql.url(postgresql.empty_database())
    cluster = NodeCluster(tmp_path_factory.mktemp("nodes"), store, overrides=times | counts)
    cluster.nodes[1].overrides["metrics.listener"] = "127.0.0.1:0"
    try:
        cluster.start()
        eventually(lambda: set(cluster.owners(1).values()) == {1, 2, 3}, PATIENCE_S)
        yield cluster
    finally:
        cluster.close()


def group_of_node(cluster: NodeCluster, name: str, node: int) -> tuple[str, str]:
    """The id of a group of a node, which begins with a name, and its shard."""
    owners = cluster.owners(1)
    ids = (f"{name}-{number}" for number in count())
    placed = ((group_id, f"{GROUPS_TOPIC}-{partition_for(group_id, GROUP_SHARDS)}") for group_id in ids)
    return next((group_id, shard) for group_id, shard in placed if owners[shard] == node)


def described(cluster: NodeCluster, node: int) -> Any:
    [found] = cluster.nodes[node].control(op="cluster")["cluster"]
    return found


def warnings(log: str) -> list[str]:
    """Its lines that are more than information."""
    return [line for line in log.splitlines() if '"level": "info"' not in line]


def test_nodes_that_start_warn_of_nothing(cluster: NodeCluster) -> None:
    """They have no lease yet, look for the controller, and connect to nodes that have not read that they are there."""
    assert [warnings(server.log()) for server in cluster.nodes.values()] == [[], [], []]


def test_a_node_describes_its_cluster(cluster: NodeCluster) -> None:
    """Nodes, owners, its lease, the store: for doctor, which finds nothing wrong but what is so."""
    # Shards are on their way for a while, and have no owner meanwhile.
    found: Any = eventually(lambda: (now := described(cluster, 1)) and not now["unowned"] and now, PATIENCE_S)

    assert [(each["node_id"], each["is_dead"], each["is_connected"]) for each in found["nodes"]] == [
        (node, False, True) for node in (1, 2, 3)
    ]
    assert sum(each["shards"] for each in found["nodes"]) == found["shards"]
    assert 0 < found["lease_s"] <= found["lease_length_s"] == LEASE_S
    assert found["store"]["state"]["standbys"] == ""
    assert {"writes", "renews", "moves"} <= found["store"]["statements"].keys()

    done = run_command("doctor", "--data-dir", str(cluster.nodes[1].data_dir), "--offline", "--all", "-o", "json")
    rows = [json.loads(line) for line in done.stdout.splitlines()] if done.stdout.startswith("{") else json.loads(done.stdout)
    assert [each["what"] for each in rows if each["severity"] == "problem"] == []
    assert {"nodes", "store", "shards", "standby"} <= {each["check"] for each in rows}
    at = ("--data-dir", str(cluster.nodes[1].data_dir))
    done = run_command("shards", "list", "--group", GROUPS[0], "-o", "jsonl", *at)
    assert json.loads(done.stdout)["node_id"] == cluster.owner_of(GROUPS[0]), done.stderr
    elsewhere, _ = group_of_node(cluster, "elsewhere", 2)
    done = run_command("groups", "waiting", elsewhere, *at)
    assert (done.returncode, "node 2 has __consumer_offsets-" in done.stderr) == (1, True), done.stderr
    done = run_command("groups", "why", GROUPS[0], *at)
    assert (done.returncode, "name that with --store" in done.stderr) == (2, True), done.stderr


def test_top_shows_the_nodes(cluster: NodeCluster) -> None:
    done = run_command(
        "top", "--count", "1", "--interval", "0.1", "--data-dir", str(cluster.nodes[1].data_dir), "--bootstrap", cluster.bootstrap
    )
    assert re.search(
        r"^seen by node 1: node 1 \d+ shards, node 2 \d+ shards, node 3 \d+ shards; lease ", done.stdout, re.MULTILINE
    )


@pytest.mark.skipif(shutil.which("prometheus") is None, reason="prometheus is not installed")
def test_every_query_of_the_dashboard_about_nodes_shows_something(cluster: NodeCluster, tmp_path: Path) -> None:
    left = [each for each in targets() if each.names & OF_STORE]
    assert left
    with closing(Prometheus(tmp_path, metrics_address(cluster.nodes[1]))) as prometheus:
        eventually(lambda: prometheus.show_all(left, _query_of), describe=lambda: left)
        assert prometheus.ask("min(coordinator_store_connected)")[0]["value"][1] == "1"


def test_the_certificate_of_the_listener_for_nodes_is_read_again(cluster: NodeCluster) -> None:
    """SIGHUP: its end is that of the new one."""

    def days_left() -> dict[str, int]:
        [status] = cluster.nodes[1].control(op="status")["status"]
        return {each["listener"]: each["days_left"] for each in status["certificates"]}

    assert days_left() == {"NODES": 99}
    cluster.renew_certificate(1, days=50)
    cluster.nodes[1].send_signal(signal.SIGHUP)
    eventually(lambda: days_left() == {"NODES": 49}, PATIENCE_S)


def test_nobody_is_put_out_while_the_database_is_away(cluster: NodeCluster, postgresql: PostgresqlServer) -> None:
    """Heartbeats are answered, commits time out as in Kafka, and all goes on by itself."""
    owners = cluster.owners(1)
    group_id, _ = group_of_node(cluster, "away", 1)
    members = form_group(cluster.nodes[1].address, group_id, 2)
    first = members[0]
    assert first.commit(TOPIC, {0: 1}) == {0: ErrorCode.NONE}

    postgresql.stop()
    try:
        assert first.commit(TOPIC, {0: 2}) == {0: ErrorCode.COORDINATOR_NOT_AVAILABLE}
        assert [member.heartbeat() for member in members for _ in range(3)] == [ErrorCode.NONE] * 6
        eventually(lambda: described(cluster, 1)["store"]["refuses"] is not None, PATIENCE_S)
        done = run_command("doctor", "--data-dir", str(cluster.nodes[1].data_dir), "--offline")
        assert (done.returncode, "problem: store: there is no connection to write" in done.stdout) == (1, True), done.stdout
    finally:
        postgresql.start()

    eventually(lambda: first.commit(TOPIC, {0: 3}) == {0: ErrorCode.NONE}, PATIENCE_S)
    generation = first.generation_id
    assert [member.heartbeat() for member in members] == [ErrorCode.NONE] * 2
    assert (first.generation_id, cluster.owners(1)) == (generation, owners)
    for member in members:
        member.client.close()


def test_commits_go_on_when_nodes_die_and_leave(cluster: NodeCluster) -> None:
    """Nothing that was acknowledged is lost after kill -9, which costs no lease, and a SIGTERM fails no commit.

    Whoever takes a shard begins with its layer.
    """
    committers = [Committer(cluster.bootstrap, group_id) for group_id in GROUPS]
    for each in committers:
        each.start()
    go_on(committers)
    # None of the groups that commit need be in a shard of the node that is killed.
    group_id, shard = group_of_node(cluster, "layered", 2)
    with Client(cluster.nodes[2].address) as client:
        must_commit(client, group_id, TOPIC, {0: 1})
    done = run_command("compact", "--engine", "python", "--store", str(cluster.nodes[1].overrides["store"]))
    assert done.returncode == 0, done.stderr
    go_on(committers)

    cluster.nodes[2].kill()
    eventually(lambda: set(cluster.owners(1).values()) == {1, 3}, PATIENCE_S)
    layers = [cluster.nodes[node].data_dir / "layers" for node in (1, 3)]
    eventually(lambda: any([*each.glob(f"{shard}/layer-*/manifest.json")] for each in layers), PATIENCE_S)
    assert "node-is-gone" in cluster.nodes[1].log() + cluster.nodes[3].log()
    go_on(committers)
    for each in committers:
        each.begin_anew()
    before = cluster.nodes[3].log()
    assert cluster.nodes[3].stop() == 0
    assert warnings(cluster.nodes[3].log()[len(before) :]) == []
    go_on(committers)

    assert [each.failures for each in committers] == [[]] * len(committers)
    assert [each.finish() for each in committers] == [each.acknowledged for each in committers]


def test_a_node_is_ready_when_it_has_its_part(cluster: NodeCluster) -> None:
    """A rolling restart goes on to the next node then."""
    back = cluster.nodes[3]
    if back.is_running:
        assert back.stop() == 0
    back.start()

    shards = [shard for name, shard in back.control(op="shards")["shards"].items() if name.startswith(GROUPS_TOPIC)]
    assert {shard["state"] for shard in shards} == {"active"}
    assert len(shards) >= GROUP_SHARDS // 3
    [health] = back.control(op="health")["health"]
    assert (health["stage"], health["awaited"]) == ("serving", None)


def go_on(committers: list[Committer]) -> None:
    """Return when each group has had another ten acknowledgements."""
    before = [each.acknowledged for each in committers]
    eventually(lambda: all(each.acknowledged >= old + 10 for each, old in zip(committers, before, strict=True)), PATIENCE_S)


def test_a_node_says_what_it_lacks(tmp_path: Path, postgresql: PostgresqlServer) -> None:
    """Before it touches the database, with exit code 2; and if the database is wrong, with 1."""
    database = postgresql.database()
    postgresql.sql("UPDATE meta SET format = 0", database=database)
    cluster = NodeCluster(tmp_path, postgresql.url(database), nodes=1)
    server = cluster.nodes[1]
    given = dict(server.overrides)

    for change, code, words in (
        ({"inter.node.listener.name": "OTHERS"}, 2, "inter.node.listener.name=OTHERS"),
        ({"store": "mysql://here"}, 2, "postgresql://USER@HOST/DATABASE"),
        ({"store.password": "${env:NOWHERE}"}, 2, "store.password: ${env:NOWHERE} is no variable"),
        ({}, 1, "the tables have format 0, this node needs 1"),
    ):
        server.overrides = given | change
        ended = server.run_to_end()
        assert (ended.returncode, words in ended.stderr) == (code, True), ended.stderr
