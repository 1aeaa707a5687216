"""How long clients have no acknowledged commit when something ends: python -m bench.outages [--rounds N] [--lease-ms MS]

Three nodes over one PostgreSQL on this machine. Groups with librdkafka commit all the time, each offset synchronously, and two
members of one more group poll. Then, one after the other:

    kill      kill -9 of the node that has most of the groups; it is started again
    restart   SIGTERM and a start of each node, one after the other
    pause     SIGSTOP of a node for --pause seconds
    database  the PostgreSQL is stopped (fast) and started again

Of each round it prints the longest time in which a group had no acknowledged commit, the commits that failed, and the rebalances of
the members. The exit code is 1 if an acknowledged offset is lost, a restart fails a commit, or anything puts a member out.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

from confluent_kafka import Consumer, TopicPartition

from tests.support.eventually import eventually
from tests.support.node_cluster import GROUPS, TOPIC, Committer, NodeCluster
from tests.support.postgresql import PostgresqlServer

SETTLED_S: Final = 3.0
PATIENCE_S: Final = 90.0


class Member(threading.Thread):
    """A member of a group that polls. ``rebalances`` counts what it was told of."""

    def __init__(self, bootstrap: str, group_id: str) -> None:
        super().__init__(name=group_id, daemon=True)
        self.rebalances = 0
        self.is_assigned = threading.Event()
        self._is_over = threading.Event()
        self._consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group_id, "session.timeout.ms": 45_000})

    def run(self) -> None:
        """Poll until ``finish``."""
        self._consumer.subscribe([TOPIC], on_assign=self._changed, on_revoke=self._changed)
        while not self._is_over.is_set():
            self._consumer.poll(0.1)
        self._consumer.close()

    def finish(self) -> None:
        """Leave the group."""
        self._is_over.set()
        self.join(60)

    def _changed(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self.rebalances += 1
        if partitions:
            self.is_assigned.set()


class Play:
    """The nodes, and their clients."""

    def __init__(self, cluster: NodeCluster, database: PostgresqlServer, pause_s: float) -> None:
        self.cluster = cluster
        self.database = database
        self.pause_s = pause_s
        self.committers = [Committer(cluster.bootstrap, group_id) for group_id in GROUPS]
        self.members = [Member(cluster.bootstrap, "members") for _ in range(2)]
        self.wrong: list[str] = []

    def begin(self) -> None:
        """Start the clients, and wait until all of them are served."""
        for client in (*self.committers, *self.members):
            client.start()
        self.go_on()
        for member in self.members:
            assert member.is_assigned.wait(PATIENCE_S)
        time.sleep(SETTLED_S)

    def go_on(self) -> None:
        """Return when each group has had another hundred acknowledgements."""
        before = [each.acknowledged for each in self.committers]
        eventually(
            lambda: all(each.acknowledged >= old + 100 for each, old in zip(self.committers, before, strict=True)), PATIENCE_S
        )

    def round(self, name: str, happen: Callable[[], None]) -> float:
        """Let something happen. Print and return the longest time without an acknowledged commit."""
        known = [each.rebalances for each in self.members]
        for committer in self.committers:
            committer.begin_anew()
        happen()
        self.go_on()
        longest = max(each.longest_s for each in self.committers)
        failures = [failure for each in self.committers for failure in each.failures]
        failed = len(failures)
        rebalances = sum(each.rebalances for each in self.members) - sum(known)
        if rebalances or (failed and name == "restart"):
            self.wrong.append(f"{name}: {failed} failed, {rebalances} rebalances")
        load = os.getloadavg()[0]
        print(f"{name:9} {longest:6.2f} s   {failed} failed   {rebalances} rebalances   load {load:.1f}", flush=True)
        for failure, number in Counter(failures).items():
            print(f"          {number} x {failure}", flush=True)
        time.sleep(SETTLED_S)
        return longest

    def kill(self) -> None:
        """Kill the node that has most groups, and start it when the others serve."""
        [(node, _)] = Counter(self.cluster.owner_of(group_id) for group_id in GROUPS).most_common(1)
        self.cluster.nodes[node].kill()
        self.go_on()
        self._start(node)

    def restart(self) -> None:
        """Restart each node after the other."""
        for node, server in self.cluster.nodes.items():
            server.stop()
            self._start(node)

    def pause(self) -> None:
        """Let a node stand still."""
        [(node, _)] = Counter(self.cluster.owner_of(group_id) for group_id in GROUPS).most_common(1)
        self.cluster.nodes[node].send_signal(signal.SIGSTOP)
        time.sleep(self.pause_s)
        self.cluster.nodes[node].send_signal(signal.SIGCONT)
        self._spread()

    def stop_database(self) -> None:
        """Stop the database, and start it again."""
        self.database.stop()
        self.database.start()

    def _start(self, node: int) -> None:
        self.cluster.nodes[node].start()
        self._spread()

    def _spread(self) -> None:
        eventually(lambda: set(self.cluster.owners(1).values()) == set(self.cluster.nodes), PATIENCE_S)
        time.sleep(1)


def main() -> int:
    """Print the times, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.outages", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="(%(default)s)")
    parser.add_argument("--pause", type=float, default=8.0, metavar="S", help="(%(default)s)")
    parser.add_argument("--lease-ms", type=int, default=9000, metavar="MS", help="broker.session.timeout.ms (%(default)s)")
    parser.add_argument("--only", default="kill,restart,pause,database", metavar="NAMES", help="(%(default)s)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="outages-") as directory:
        database = PostgresqlServer(on_disk=True)
        times = {"broker.session.timeout.ms": options.lease_ms}
        cluster = NodeCluster(Path(directory), database.url(database.empty_database()), overrides=times)
        try:
            cluster.start()
            return _measure(Play(cluster, database, options.pause), options)
        finally:
            cluster.close()
            database.remove()


def _measure(play: Play, options: argparse.Namespace) -> int:
    play._spread()
    play.begin()
    kinds = {"kill": play.kill, "restart": play.restart, "pause": play.pause, "database": play.stop_database}
    for name in options.only.split(","):
        times = [play.round(name, kinds[name]) for _ in range(options.rounds)]
        print(f"{name:9} median {statistics.median(times):.2f} s, worst {max(times):.2f} s, of {len(times)}\n", flush=True)
    for member in play.members:
        member.finish()
    play.wrong += [
        f"{each.name}: an acknowledged commit is lost" for each in play.committers if each.finish() != each.acknowledged
    ]
    print(f"{sum(each.acknowledged for each in play.committers):,} commits; wrong: {'; '.join(play.wrong) or 'nothing'}")
    return 1 if play.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
