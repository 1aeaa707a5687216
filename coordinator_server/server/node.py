"""What the API handlers work with: this node's runtimes, its catalog, its name and its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.catalog.topics import Topic
from coordinator_server.config import Config
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.shard import CoordinatorResult, CoordinatorTimer
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.runtime.runtime import CoordinatorRuntime
from coordinator_server.server.connection import PendingReply
from protocol.error_codes import ErrorCode

CATALOG_PARTITION = 0


class Endpoint(NamedTuple):
    """Where clients reach this node."""

    host: str
    port: int


class Node(NamedTuple):
    """One node: handlers read it and keep nothing in it."""

    config: Config
    cluster_id: str
    partitions: int
    groups: CoordinatorRuntime[GroupShard]
    catalog: CoordinatorRuntime[CatalogShard]
    delays: CoordinatorTimer
    advertised: Endpoint | None

    def partition_of(self, group_id: str) -> int:
        """The shard that owns a group."""
        return partition_for(group_id, self.partitions)

    def topic(self, name: str) -> Topic | None:
        """A topic as committed. Raises CoordinatorError while the catalog loads."""
        return self.catalog.read(CATALOG_PARTITION, CatalogShard.topic, name)

    def topic_by_id(self, topic_id: bytes) -> Topic | None:
        """A topic as committed. Raises CoordinatorError while the catalog loads."""
        return self.catalog.read(CATALOG_PARTITION, CatalogShard.topic_by_id, topic_id)

    def endpoint(self, reply: PendingReply) -> Endpoint:
        """What to tell this client: the advertised address, or else the one it has reached us on."""
        return self.advertised or Endpoint(*reply.connection.local_address)

    def answer_after(self, delay_ms: int, reply: PendingReply, response: Any) -> None:
        """Hold a response back for a while."""

        def answer() -> CoordinatorResult[None]:
            reply.complete(response)
            return CoordinatorResult(None)

        self.delays.schedule(reply, delay_ms, answer)


class Then:
    """A Reply that goes on with something else instead of answering a client."""

    __slots__ = ("_completed", "_failed")

    def __init__(self, completed: Callable[[Any], None], failed: Callable[[ErrorCode, str | None], None]) -> None:
        self._completed = completed
        self._failed = failed

    def complete(self, response: Any, /) -> None:
        """Go on with the response."""
        self._completed(response)

    def fail(self, error: ErrorCode, message: str | None = None, /) -> None:
        """Go on without one."""
        self._failed(error, message)
