"""The node: what API handlers use of the server (runtimes, catalog, configuration, addresses)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

from coordinator_server.config import Config
from coordinator_server.group.common.settings import SettingsOf
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.provenance import SERVER_ORIGIN
from coordinator_server.machine.shard import CoordinatorResult, CoordinatorTimer, RequestContext
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.runtime.runtime import CoordinatorRuntime
from coordinator_server.security.authorizer import Authorizer
from coordinator_server.server.cluster.catalog import Catalog
from coordinator_server.server.cluster.effects import Courier
from coordinator_server.server.cluster.nodes import Nodes
from coordinator_server.server.cluster.view import Endpoint
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Steps
from coordinator_server.server.hosting.fetching import Fetches
from coordinator_server.server.hosting.internal_topics import InternalTopics
from coordinator_server.server.hosting.producer_ids import ProducerIds
from coordinator_server.server.hosting.share_sessions import ShareSessions
from coordinator_server.server.hosting.share_shards import ShareShards
from coordinator_server.server.hosting.streams_topics import StreamsTopics
from coordinator_server.server.hosting.topic_image import LoopTopics
from coordinator_server.share.shard import ShareShard
from coordinator_server.transaction.shard import TransactionShard

R = TypeVar("R")


def server_context(config: Config) -> RequestContext:
    """Return the context of operations that the server itself runs."""
    return RequestContext("", "", -1, 0, origin=SERVER_ORIGIN if config.log.log_provenance else None)


class AuditLog(Protocol):
    """The audit log as handlers see it; guard/audit.py writes it."""

    def administered(self, context: RequestContext, resources: Any, codes: Iterable[int], **fields: Any) -> None:
        """Write a line about an administrative request that was answered. ``codes`` are the error codes of the answer."""


class Node(NamedTuple):
    """The server as API handlers see it. Handlers never change it.

    ``image`` has the topics, ``catalog`` all else that loops share. ``runtimes`` has the runtimes of all served kinds, by topic.
    ``groups`` is the runtime of groups, and ``partitions`` is its number of shards; ``transactions`` and
    ``transaction_partitions`` are those of transactional ids. ``share_states`` is the runtime of share partitions' states, and
    ``share_shard`` finds the shard of one. ``authorizer`` is None where everybody may do everything, ``audit`` where nothing is
    audited.
    """

    config: Config
    cluster_id: str
    partitions: int
    groups: CoordinatorRuntime[GroupShard]
    transaction_partitions: int
    transactions: CoordinatorRuntime[TransactionShard]
    producer_ids: ProducerIds
    runtimes: Mapping[str, CoordinatorRuntime[Any]]
    catalog: Catalog
    image: LoopTopics
    delays: CoordinatorTimer
    nodes: Nodes
    internal: InternalTopics
    fetches: Fetches
    steps: Steps
    courier: Courier
    share_sessions: ShareSessions
    streams_topics: StreamsTopics
    group_settings: SettingsOf
    share_shard: ShareShards
    share_states: CoordinatorRuntime[ShareShard]
    authorizer: Authorizer | None = None
    audit: AuditLog | None = None

    def partition_of(self, group_id: str) -> int:
        """Return the partition that owns a group."""
        return partition_for(group_id, self.partitions)

    def transaction_partition_of(self, transactional_id: str) -> int:
        """Return the partition that owns a transactional id."""
        return partition_for(transactional_id, self.transaction_partitions)

    @property
    def ourselves(self) -> RequestContext:
        """The context of operations that the server itself runs."""
        return server_context(self.config)

    def share_lock_ms(self, group_id: str) -> int:
        """Return how long the members of a share group may hold a record that they were given."""
        return self.group_settings(group_id).share.record_lock_duration_ms

    def endpoint(self, reply: Exchange[Any], node_id: int) -> Endpoint:
        """Return the address at which this client can reach a node."""
        return self.nodes.endpoint(node_id, reply.connection.local_address, reply.connection.listener)

    def endpoints(self, reply: Exchange[Any]) -> list[tuple[int, Endpoint]]:
        """Return the id and the address of each node, for this client."""
        return [(node_id, self.endpoint(reply, node_id)) for node_id in self.nodes.view.node_ids]

    def answer_after(self, delay_ms: int, reply: Exchange[R], response: R) -> None:
        """Send a response after a delay, unless the connection ends before."""
        self.run_after(delay_ms, reply, partial(reply.complete, response))

    def run_after(self, delay_ms: int, reply: Exchange[Any], answer: Callable[[], None]) -> None:
        """Call ``answer``, which answers a request, after a delay, unless the connection ends before."""

        def run() -> CoordinatorResult[None]:
            reply.connection.unpark(reply)
            answer()
            return CoordinatorResult(None)

        self.delays.schedule(reply, delay_ms, run)
        reply.connection.park(reply, partial(self.delays.cancel, reply))
