"""Three nodes over a real PostgreSQL, with clients of librdkafka that commit all the time: one is killed, one is stopped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.eventually import eventually
from tests.support.node_cluster import GROUPS, Committer, NodeCluster
from tests.support.postgresql import PostgresqlServer
from tests.support.postgresql import postgresql as postgresql  # noqa: PLC0414 - a fixture

LEASE_S = 1.0
# Much longer than a takeover takes: the machine may be busy.
PATIENCE_S = 20.0


@pytest.fixture
def cluster(tmp_path: Path, postgresql: PostgresqlServer) -> Iterator[NodeCluster]:
    times = {"broker.session.timeout.ms": int(LEASE_S * 1000), "broker.heartbeat.interval.ms": 200}
    counts = {"offsets.topic.num.partitions": 12, "transaction.state.log.num.partitions": 4}
    cluster = NodeCluster(tmp_path, postgresql.url(postgresql.empty_database()), overrides=times | counts)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.close()


def test_commits_go_on_when_nodes_die_and_leave(cluster: NodeCluster) -> None:
    """Nothing that was acknowledged is lost after kill -9, and a SIGTERM fails no commit."""
    eventually(lambda: set(cluster.owners(1).values()) == {1, 2, 3}, PATIENCE_S)
    committers = [Committer(cluster.bootstrap, group_id) for group_id in GROUPS]
    for each in committers:
        each.start()
    go_on(committers)

    cluster.nodes[2].kill()
    eventually(lambda: set(cluster.owners(1).values()) == {1, 3}, PATIENCE_S)
    go_on(committers)
    for each in committers:
        each.begin_anew()
    assert cluster.nodes[3].stop() == 0
    go_on(committers)

    assert [each.failures for each in committers] == [[]] * len(committers)
    assert [each.finish() for each in committers] == [each.acknowledged for each in committers]


def go_on(committers: list[Committer]) -> None:
    """Return when each group has had another ten acknowledgements."""
    before = [each.acknowledged for each in committers]
    eventually(lambda: all(each.acknowledged >= old + 10 for each, old in zip(committers, before, strict=True)), PATIENCE_S)


def test_a_node_says_what_it_lacks(tmp_path: Path, postgresql: PostgresqlServer) -> None:
    """Before it touches the database, with exit code 2."""
    cluster = NodeCluster(tmp_path, postgresql.url(postgresql.empty_database()), nodes=1)
    server = cluster.nodes[1]
    missing = dict(server.overrides)

    for change, words in (
        ({"inter.node.listener.name": "OTHERS"}, "inter.node.listener.name=OTHERS"),
        ({"store": "mysql://here"}, "postgresql://USER@HOST/DATABASE"),
    ):
        server.overrides = missing | change
        ended = server.run_to_end()
        assert (ended.returncode, words in ended.stderr) == (2, True), ended.stderr
