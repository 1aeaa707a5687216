"""What the API handlers work with: this node's runtimes, its catalog, its name and its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

from coordinator_server.catalog.topics import Topic
from coordinator_server.config import Config
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.provenance import SERVER_ORIGIN
from coordinator_server.machine.shard import CoordinatorResult, CoordinatorTimer, RequestContext
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.runtime.runtime import CoordinatorRuntime
from coordinator_server.server.cluster.catalog import Catalog
from coordinator_server.server.cluster.nodes import Endpoint, Nodes
from coordinator_server.server.connection import PendingReply
from coordinator_server.server.fetching import Fetches
from coordinator_server.server.internal import InternalTopics
from protocol.error_codes import ErrorCode

R = TypeVar("R")


class Node(NamedTuple):
    """One node: handlers read it and keep nothing in it.

    ``runtimes`` are those of all kinds that are served, by topic. ``groups`` is one of them, and ``partitions`` the number of its shards.
    """

    config: Config
    cluster_id: str
    partitions: int
    groups: CoordinatorRuntime[GroupShard]
    runtimes: Mapping[str, CoordinatorRuntime[Any]]
    catalog: Catalog
    delays: CoordinatorTimer
    nodes: Nodes
    internal: InternalTopics
    fetches: Fetches

    def partition_of(self, group_id: str) -> int:
        """The shard that owns a group."""
        return partition_for(group_id, self.partitions)

    @property
    def ourselves(self) -> RequestContext:
        """Who asks when the server itself does."""
        return RequestContext("", "", -1, 0, origin=SERVER_ORIGIN if self.config.log_provenance else None)

    def all_topics(self) -> list[Topic]:
        """Every topic: those of the catalog by name, then the internal ones that are always there. Raises CoordinatorError while the catalog loads."""
        return [*self.catalog.all_topics(), *self.internal]

    def topic(self, name: str) -> Topic | None:
        """A topic as committed. Raises CoordinatorError while the catalog loads."""
        return self.catalog.topic(name) or self.internal.named(name)

    def topic_by_id(self, topic_id: bytes) -> Topic | None:
        """A topic as committed. Raises CoordinatorError while the catalog loads."""
        return self.catalog.topic_by_id(topic_id) or self.internal.of_id(topic_id)

    def check_current(self) -> None:
        """Before a client is told for good that something does not exist. Raises CoordinatorError while this loop cannot know."""
        if not self.catalog.is_current:
            raise CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "the topics are not known here at the moment")

    def endpoint(self, reply: PendingReply[Any], loop: int) -> Endpoint:
        """Where this client reaches a loop."""
        return self.nodes.endpoint(loop, reply.connection.local_address)

    def answer_after(self, delay_ms: int, reply: PendingReply[R], response: R) -> None:
        """Hold a response back for a while."""

        def answer() -> CoordinatorResult[None]:
            reply.complete(response)
            return CoordinatorResult(None)

        self.delays.schedule(reply, delay_ms, answer)
