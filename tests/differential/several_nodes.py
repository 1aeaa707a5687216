"""Nodes over a PostgreSQL that stand for our server: what Kafka does is what they do together."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from tests.differential.front import Front
from tests.support.eventually import eventually
from tests.support.node_cluster import NodeCluster
from tests.support.postgresql import PostgresqlServer
from tests.support.server import QUICK

_WITHIN_S: Final = 180.0
# Where the log is, is the database's.
_OF_A_DIRECTORY: Final = {"log.flush"}


class SeveralNodes:
    """Started, stopped and started again as a Server is. ``overrides`` are properties of each node, but for its own."""

    def __init__(self, directory: Path, nodes: int) -> None:
        self.overrides: Mapping[str, object] = {}
        self._database = PostgresqlServer()
        self._cluster = NodeCluster(directory, self._database.url(self._database.empty_database()), nodes)
        self._own = {node: {**server.overrides, "topics": ""} for node, server in self._cluster.nodes.items()}
        self._front: Front | None = None
        self._port = 0

    def __exit__(self, *_: object) -> None:
        if self._front is not None:
            self._front.close()
        self._cluster.close()
        self._database.remove()

    @property
    def address(self) -> tuple[str, int]:
        """Of the port that stands for all nodes."""
        assert self._front is not None, "it does not run"
        return self._front.address

    def start(self) -> None:
        """Return when each node has its part of the shards."""
        changes = {name: value for name, value in self.overrides.items() if name not in _OF_A_DIRECTORY}
        for node, server in self._cluster.nodes.items():
            server.overrides = self._own[node] | QUICK | changes
        self._cluster.start()
        eventually(
            lambda: all(self._seen(node) == self._seen(1) for node in self._cluster.nodes) and self._is_spread(), _WITHIN_S
        )
        self._front = Front({node: server.address for node, server in self._cluster.nodes.items()}, self._seen(1), self._port)
        self._port = self._front.address[1]

    def stop(self) -> None:
        """All at once: nobody gives anything away."""
        assert self._front is not None, "it does not run"
        self._front.close()
        with ThreadPoolExecutor() as pool:
            for done in [pool.submit(server.stop) for server in self._cluster.nodes.values()]:
                done.result()

    def _seen(self, node: int) -> dict[str, int]:
        return self._cluster.owners(node)

    def _is_spread(self) -> bool:
        return set(self._seen(1).values()) == set(self._cluster.nodes)
