"""A node that moves its history to an object store while clients commit: nothing of it is lost, whenever the node dies."""

from __future__ import annotations

from pathlib import Path

from pyarrow import parquet

from coordinator_server.runtime.partitioner import partition_for
from tests.support.command_forks import run_command
from tests.support.eventually import eventually
from tests.support.node_cluster import GROUPS_TOPIC, Committer, NodeCluster
from tests.support.postgresql import PostgresqlServer
from tests.support.postgresql import postgresql as postgresql  # noqa: PLC0414 - a fixture

GROUP = "readers-1"
SHARDS = 3
QUICK = {
    "broker.session.timeout.ms": 1500,
    "broker.heartbeat.interval.ms": 300,
    "offsets.topic.num.partitions": SHARDS,
    "transaction.state.log.num.partitions": 1,
    "log.cleaner.backoff.ms": 300,
    "log.cleaner.min.bytes": 1,
    "log.retention.check.interval.ms": 400,
    "log.history.retention.ms": -1,
    "log.local.retention.ms": 100,
}


def test_history_moves_while_clients_commit(tmp_path: Path, postgresql: PostgresqlServer) -> None:
    """The node is killed, and begins with a layer whose rows are not there any more."""
    database = postgresql.empty_database()
    url = postgresql.url(database)
    cluster = NodeCluster(tmp_path, url, 1, {**QUICK, "store.objects": f"file://{tmp_path}/objects"})
    [node] = cluster.nodes.values()
    shard = GROUPS_TOPIC, partition_for(GROUP, SHARDS)

    def moved() -> int:
        statement = "SELECT log_start FROM shard WHERE (topic, partition) = ($1, $2)"
        return int(postgresql.sql(statement, *shard, database=database)[0][0])

    try:
        cluster.start()
        committer = Committer(cluster.bootstrap, GROUP)
        committer.start()
        eventually(moved, 60)
        node.kill()
        before = committer.acknowledged
        node.start()
        eventually(lambda: committer.acknowledged > before, 60)
        last = committer.finish()
        assert last >= committer.acknowledged > 2
    finally:
        cluster.close()

    done = run_command("history", "--engine", "python", "--out", str(tmp_path / "history"), "--store", url)
    assert done.returncode == 0, done.stderr
    commits = parquet.read_table(tmp_path / "history" / "commits", columns=["group_id", "offset"]).to_pylist()
    missing = set(range(1, last + 1)) - {each["offset"] for each in commits if each["group_id"] == GROUP}
    # What was not acknowledged when the node was killed may be there, or not.
    assert len(missing) <= len(committer.failures) < 100
