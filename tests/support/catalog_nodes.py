"""Nodes over one database, each with its own catalog: they lead and follow in turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.catalog.topic_changes import TopicChanges
from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.config import Config
from coordinator_server.kinds import CATALOG
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.runtime.flush import Flusher
from coordinator_server.runtime.lease import Gate
from coordinator_server.runtime.loads import LoadQueue
from coordinator_server.runtime.runtime import CoordinatorRuntime
from coordinator_server.runtime.services import LoopServices, ShardServices, following
from coordinator_server.runtime.timers import ShardTimers, TimerQueue
from coordinator_server.server.cluster.catalog import PARTITION, Notices, OwnCatalog
from coordinator_server.server.cluster.catalog_feed import FeedClient, FeedServer
from coordinator_server.server.cluster.catalog_replica import CatalogReplica
from coordinator_server.server.cluster.catalog_roles import RoledCatalog
from coordinator_server.server.cluster.link_transport import UnixLinks
from coordinator_server.server.cluster.neighbours import Identity
from coordinator_server.server.cluster.operations import CREATE_TOPICS, DELETE_TOPICS
from protocol.error_codes import ErrorCode
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from tests.support.clock import ManualClock
from tests.support.loops import CONTEXT
from tests.support.runtime import Outcome
from tests.support.shared_store import Database, SharedLog
from tests.support.sockets import MemorySockets
from tests.support.virtual_time import run_virtual

NODES = 3


class Node:
    """A node: its runtime on the shared log, and its catalog. ``changed`` and ``deleted`` have what its rooms hear of."""

    def __init__(self, number: int, cluster: Cluster) -> None:
        self.number = number
        loop, clock = asyncio.get_running_loop(), ManualClock()
        store = SharedLog(cluster.database, loop.call_soon)
        flusher = Flusher(store, loop.call_soon, cluster.failures.append)
        services = LoopServices(
            store,
            flusher,
            TimerQueue(),
            clock,
            LoadQueue(loop.call_soon, clock),
            has_provenance=False,
        )
        self._changes = TopicChanges()
        build = partial(cluster.build, changes=self._changes)
        self.runtime = CoordinatorRuntime(CATALOG.topic, CATALOG.serde, build, services, max_batch_bytes=1 << 20)
        timers = ShardTimers(services.timers, clock, lambda _operation: None)

        def new_shard() -> CatalogShard:
            return build(partition=PARTITION, registry=SnapshotRegistry(), services=following(timers))

        own = self.own = OwnCatalog(self.runtime, store, loop.call_later)
        self.who, self.gate = Identity(number, 1), Gate(clock.boot_ms)
        replica = CatalogReplica(self.who, new_shard, CATALOG.serde, loop.call_later, cluster.failures.append, self.gate)
        links = UnixLinks(cluster.sockets, lambda _loop: Path("/data/cluster.sock"), number)
        self.server = FeedServer(links, own, has_provenance=False)
        self.roles = RoledCatalog(
            own,
            replica,
            self.server,
            FeedClient(links, replica, lambda: cluster.owner),
            lambda: cluster.others(number),
        )
        self.changed, self.deleted = list[str](), list[str]()
        self.missing = 0
        self.roles.notify(Notices(self._changed, self._deleted))
        self._cluster = cluster

    def _changed(self) -> None:
        """What a room that follows the catalog sees: never less than what was answered."""
        known = {topic.name for topic in self.roles.read(CatalogShard.all_topics)}
        self.missing += len(self._cluster.answered - known)
        self.changed += self._changes.take(self.roles.version)[0]

    def _deleted(self, topics: Any) -> None:
        self.deleted += [each.name for each in topics if isinstance(each, DeletedTopic)]

    @property
    def names(self) -> list[str]:
        return [topic.name for topic in self.roles.read(CatalogShard.all_topics)]


class Cluster:
    """Nodes over one database. ``answered`` are the topics whose creation was answered, and that are not being deleted."""

    def __init__(self) -> None:
        self.database = Database()
        self.sockets = MemorySockets()
        self.failures: list[Any] = []
        self.answered: set[str] = set()
        self.owner = -1
        self.epoch = 0
        self._ids = count(1)
        self.nodes = [Node(number, self) for number in range(NODES)]

    def others(self, number: int) -> set[int]:
        return {each.number for each in self.nodes} - {number}

    def build(
        self, *, partition: int, registry: SnapshotRegistry, services: ShardServices, changes: TopicChanges
    ) -> CatalogShard:
        def new_topic_id() -> bytes:
            return next(self._ids).to_bytes(16, "big")

        return CatalogShard(config=Config(), registry=registry, timer=services.timer, new_topic_id=new_topic_id, changes=changes)

    async def settle(self, seconds: float = 0.1) -> None:
        """Let messages arrive, and connections end."""
        for _ in range(20):
            await asyncio.sleep(seconds / 20)
            self.sockets.carry()
            for one, two in self.sockets.connections:
                for end, other in ((one, two), (two, one)):
                    if end.is_open and not other.is_open:
                        end.lose()

    async def release(self) -> Node:
        """The owner leaves the catalog, in the order of a move."""
        node = self.nodes[self.owner]
        node.runtime.unload(PARTITION)
        await self.settle()
        await node.roles.follow()
        self.owner = -1
        return node

    async def acquire(self, number: int) -> Node:
        """A node becomes the owner."""
        self.epoch += 1
        self.owner, node = number, self.nodes[number]
        node.runtime.load(PARTITION, self.epoch)
        await self.settle()
        await node.roles.lead()
        return node

    async def begin(self) -> Node:
        """The first node leads, and all follow it."""
        for node in self.nodes[1:]:
            await node.roles.follow()
        owner = await self.acquire(0)
        await self.settle()
        return owner

    async def create(self, node: Node, name: str) -> Outcome:
        outcome = Outcome()
        node.roles.write(CREATE_TOPICS, CONTEXT, CreateTopicsRequest(topics=[CreatableTopic(name, 1, -1)]), outcome)
        await self.settle()
        if outcome.is_answered and outcome.error is ErrorCode.NONE:
            self.answered.add(name)
        return outcome

    async def delete(self, node: Node, name: str) -> Outcome:
        outcome = Outcome()
        self.answered.discard(name)
        node.roles.write(DELETE_TOPICS, CONTEXT, DeleteTopicsRequest(topics=[DeleteTopicState(name)]), outcome)
        await self.settle()
        return outcome

    async def stop(self) -> None:
        for node in self.nodes:
            await node.roles.stop()
            node.runtime.close()
        assert self.failures == []
        assert [node.missing for node in self.nodes] == [0] * NODES


def played(play: Callable[[Cluster], Coroutine[Any, Any, None]]) -> None:
    """Run it on a new cluster, and see that nobody has missed anything."""

    async def main() -> None:
        cluster = Cluster()
        await play(cluster)
        await cluster.stop()

    run_virtual(main())
