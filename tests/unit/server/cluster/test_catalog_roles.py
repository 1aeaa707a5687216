"""The catalog moves: nodes lead and follow in turn, and none of them forgets what was answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.catalog.scram_users import SCRAM_USERS
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.catalog.topic_changes import TopicChanges
from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.config import Config
from coordinator_server.kinds import CATALOG
from coordinator_server.machine.errors import CoordinatorError
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

        own = OwnCatalog(self.runtime, store, loop.call_later)
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


def test_the_catalog_moves_to_a_node_that_followed() -> None:
    """All nodes have what was answered by each owner, and forward to the present one."""

    async def play(cluster: Cluster) -> None:
        await cluster.begin()
        assert (await cluster.create(cluster.nodes[1], "a")).is_answered
        await cluster.release()
        await cluster.acquire(1)
        await cluster.settle()
        assert (await cluster.create(cluster.nodes[0], "b")).is_answered
        assert (await cluster.create(cluster.nodes[2], "c")).is_answered
        await cluster.release()
        await cluster.acquire(0)
        await cluster.settle()

        assert (await cluster.create(cluster.nodes[1], "d")).is_answered
        assert [node.names for node in cluster.nodes] == [["a", "b", "c", "d"]] * NODES
        assert [node.roles.is_leading for node in cluster.nodes] == [True, False, False]
        assert all(node.roles.is_current for node in cluster.nodes)

    played(play)


def test_a_node_that_joins_anew_answers_nobody_until_it_is_attached() -> None:
    """As the process that it is now: what was granted to the one before is known to be over."""

    async def play(cluster: Cluster) -> None:
        owner = await cluster.begin()
        node = cluster.nodes[2]
        assert node.gate.is_open()
        node.who.incarnation = 2
        node.roles.begin_anew()
        assert not node.gate.is_open()
        await cluster.settle()

        assert {each.loop: each.incarnation for each in owner.server._sessions} == {1: 1, 2: 2}

    played(play)


def test_a_node_whose_lease_is_over_leads_when_it_has_one() -> None:
    """It has been given the catalog meanwhile. Until then it follows nobody, and is no controller."""

    async def play(cluster: Cluster) -> None:
        await cluster.create(await cluster.begin(), "a")
        await cluster.release()
        node = cluster.nodes[1]
        cluster.epoch, cluster.owner = cluster.epoch + 1, 1
        node.runtime.load(PARTITION, cluster.epoch)
        await cluster.settle()
        node.runtime.suspend(True)
        with pytest.raises(CoordinatorError):
            await node.roles.lead()
        assert not node.roles.is_leading

        node.runtime.suspend(False)
        await node.roles.lead()
        await cluster.settle()
        assert [each.names for each in cluster.nodes] == [["a"]] * NODES
        assert all(each.roles.is_current for each in cluster.nodes)

    played(play)


def test_a_follower_whose_lease_is_over_does_not_know_what_exists() -> None:
    """It is attached, and the owner goes on without it: shards must not remove what they have of topics that it lacks."""

    async def play(cluster: Cluster) -> None:
        await cluster.begin()
        node = cluster.nodes[2]
        node.roles._replica._lease.renew(node.gate.boot_ms(), 1000)
        assert node.roles.is_current
        node.roles._replica.end_lease()

        assert not node.roles.is_current

    played(play)


def test_a_follower_leaves_an_owner_that_is_none_any_more() -> None:
    """It may not know that yet, and would go on to grant leases."""

    async def play(cluster: Cluster) -> None:
        owner, node = await cluster.begin(), cluster.nodes[2]

        def links() -> set[object]:
            return {each for each in owner.server._sessions if each.loop == node.number}

        before = links()
        node.roles.look()
        await cluster.settle()
        assert links() == before
        cluster.owner = 1
        node.roles.look()
        await cluster.settle()
        assert before.isdisjoint(links())

    played(play)


def test_without_an_owner_nodes_answer_from_what_they_have() -> None:
    """They refuse changes, and do not say of an unknown topic that it does not exist."""

    async def play(cluster: Cluster) -> None:
        former = await cluster.begin()
        await cluster.create(former, "a")
        await cluster.release()
        outcome = await cluster.create(former, "b")

        assert outcome.error is ErrorCode.NOT_CONTROLLER
        assert [node.names for node in cluster.nodes] == [["a"]] * NODES
        assert not any(node.roles.is_current for node in cluster.nodes)

    played(play)


def test_a_former_owner_hears_of_what_it_misses() -> None:
    """Also of topics that were deleted meanwhile."""

    async def play(cluster: Cluster) -> None:
        former = await cluster.begin()
        await cluster.create(former, "a")
        await cluster.create(former, "b")
        await cluster.release()
        await cluster.acquire(2)
        await cluster.settle()
        await cluster.delete(cluster.nodes[1], "a")

        assert (former.names, former.deleted) == (["b"], ["a"])

    played(play)


def test_a_new_owner_hears_of_what_changed_before_it_led() -> None:
    """It was cut off from the former owner, and reads the log: its own groups have topics there, too."""

    async def play(cluster: Cluster) -> None:
        owner, behind = await cluster.begin(), cluster.nodes[2]
        await cluster.create(owner, "a")
        await behind.roles.stop()
        await cluster.settle(3)
        await cluster.create(owner, "b")
        await cluster.delete(owner, "a")
        await cluster.release()
        await cluster.acquire(2)

        assert (behind.names, behind.deleted, behind.changed) == (["b"], ["a"], ["a", "b"])

    played(play)


def test_a_change_that_waits_for_others_fails_when_the_owner_retires() -> None:
    """It is made, and nobody knows whether all nodes have it."""

    async def play(cluster: Cluster) -> None:
        owner, outcome = await cluster.begin(), Outcome()
        owner.roles.write(CREATE_TOPICS, CONTEXT, CreateTopicsRequest(topics=[CreatableTopic("a", 1, -1)]), outcome)
        for _ in range(10):
            await asyncio.sleep(0)
        assert not outcome.is_answered
        await owner.roles.follow()
        assert (outcome.error, owner.names) == (ErrorCode.REQUEST_TIMED_OUT, ["a"])

        await cluster.release()
        await cluster.acquire(1)
        await cluster.settle()
        assert [node.names for node in cluster.nodes] == [["a"]] * NODES

    played(play)


def test_a_change_that_the_owner_had_not_written_is_refused() -> None:
    """Its log has another owner: clients look for the new controller."""

    async def play(cluster: Cluster) -> None:
        owner = await cluster.begin()
        await cluster.create(owner, "a")
        cluster.nodes[1].runtime.load(PARTITION, 7)
        await cluster.settle()
        other = Outcome()
        request = CreateTopicsRequest(topics=[CreatableTopic("b", 1, -1)])
        cluster.nodes[1].runtime.write(PARTITION, CREATE_TOPICS, CONTEXT, request, other)
        await cluster.settle()
        outcome = await cluster.create(owner, "c")
        await owner.roles.follow()

        assert (outcome.error, owner.names) == (ErrorCode.NOT_CONTROLLER, ["a"])

    played(play)


@pytest.mark.parametrize("role", ["lead", "follow"])
def test_a_role_that_a_node_has_is_no_change(role: str) -> None:
    async def play(cluster: Cluster) -> None:
        owner = await cluster.begin()
        await cluster.create(owner, "a")
        node = owner if role == "lead" else cluster.nodes[1]
        before = node.roles.family_version(SCRAM_USERS)
        await getattr(node.roles, role)()
        await cluster.settle()

        assert node.roles.family_version(SCRAM_USERS) == before

    played(play)
