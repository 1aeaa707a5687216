"""Real nodes over a real PostgreSQL, on the loopback: daemons that share a database, with certificates for each other."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from confluent_kafka import Consumer, KafkaException, TopicPartition

from coordinator_server import kinds
from coordinator_server.runtime.partitioner import partition_for
from tests.support.certificates import Authority
from tests.support.ports import free_port
from tests.support.server import Server

TOPIC: Final = "orders"
GROUPS_TOPIC: Final = kinds.GROUPS.topic
GROUP_SHARDS: Final = 12
GROUPS: Final = tuple(f"readers-{number}" for number in range(6))


class NodeCluster:
    """Servers of one store. ``overrides`` are properties of all of them, besides their own."""

    def __init__(self, directory: Path, store: str, nodes: int = 3, overrides: Mapping[str, object] = {}) -> None:
        self.authority = authority = Authority()
        trusted = authority.write(directory / "nodes.pem")
        self.nodes: dict[int, Server] = {}
        for node in range(1, nodes + 1):
            own = directory / f"node-{node}"
            own.mkdir()
            port, for_nodes = free_port(), free_port()
            properties = {
                "store": store,
                "node.id": node,
                "listeners": f"PLAINTEXT://127.0.0.1:{port},NODES://127.0.0.1:{for_nodes}",
                "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,NODES:SSL",
                "inter.node.listener.name": "NODES",
                "listener.name.nodes.ssl.keystore.location": authority.issue(f"node-{node}").write(own / "node.pem"),
                "listener.name.nodes.ssl.truststore.location": trusted,
                "topics": f"{TOPIC}:6",
                **overrides,
            }
            self.nodes[node] = Server(own, properties)
            self.nodes[node].ports = [port]

    def start(self) -> None:
        """Start all at once, and wait until they serve."""
        for server in self.nodes.values():
            server.launch()
        for server in self.nodes.values():
            server.await_ready()

    def close(self) -> None:
        """Kill whatever runs."""
        for server in self.nodes.values():
            if server.is_running:
                server.kill()

    @property
    def bootstrap(self) -> str:
        """The addresses of all nodes."""
        return ",".join(server.bootstrap for server in self.nodes.values())

    def renew_certificate(self, node: int, days: float) -> None:
        """Put another certificate of the same node in the place of the present one."""
        path = str(self.nodes[node].overrides["listener.name.nodes.ssl.keystore.location"])
        self.authority.issue(f"node-{node}", days).write(Path(path))

    def owner_of(self, group_id: str) -> int:
        """Return the node that owns a group, as the first one that runs knows it."""
        first = next(node for node, server in self.nodes.items() if server.is_running)
        owners = self.owners(first)
        shards = sum(shard.startswith(f"{GROUPS_TOPIC}-") for shard in owners)
        return owners[f"{GROUPS_TOPIC}-{partition_for(group_id, shards)}"]

    def owners(self, node: int) -> dict[str, int]:
        """Return the owners of shards as a node knows them."""
        found = self.nodes[node].control(op="owners")["owners"]
        return {shard: owner["node_id"] for shard, owner in found.items()}


class Committer(threading.Thread):
    """A client that commits the next offset of a group again and again, each synchronously, and notes when it was acknowledged."""

    def __init__(self, bootstrap: str, group_id: str) -> None:
        super().__init__(name=group_id, daemon=True)
        self.acknowledged = 0
        self.longest_s = 0.0
        self.failures: list[str] = []
        self._is_over = threading.Event()
        self._last_s = time.monotonic()
        # Lost connections are what its tests make happen: thousands of lines.
        settings = {"bootstrap.servers": bootstrap, "group.id": group_id, "enable.auto.commit": False, "log_level": 0}
        self._consumer = Consumer(settings)

    def run(self) -> None:
        offset = 0
        while not self._is_over.is_set():
            offset += 1
            try:
                [done] = self._consumer.commit(offsets=[TopicPartition(TOPIC, 0, offset)], asynchronous=False) or []
            except KafkaException as failed:
                self.failures.append(str(failed))
                time.sleep(0.02)
                continue
            if done.error is not None:
                self.failures.append(str(done.error))
                continue
            now_s = time.monotonic()
            self.longest_s, self._last_s = max(self.longest_s, now_s - self._last_s), now_s
            self.acknowledged = offset
            time.sleep(0.005)

    def begin_anew(self) -> None:
        """Measure from now on."""
        self.failures, self.longest_s, self._last_s = [], 0.0, time.monotonic()

    def finish(self) -> int:
        """Stop. Return the offset that is committed now."""
        self._is_over.set()
        self.join(60)
        assert not self.is_alive()
        [found] = self._consumer.committed([TopicPartition(TOPIC, 0)], timeout=30)
        self._consumer.close()
        return int(found.offset)
