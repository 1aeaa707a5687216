"""What a former owner of a shard has left in a socket changes nothing any more, and what it answers counts for nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from coordinator_server.kinds import GROUPS, TRANSACTIONS
from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.machine.shard import Producer
from coordinator_server.server.cluster.effects import Courier, Destinations
from coordinator_server.server.cluster.link import encode_message
from coordinator_server.server.cluster.link_transport import UnixLinks
from coordinator_server.server.cluster.messages import FORMAT, Hello
from coordinator_server.server.cluster.neighbours import Identity, Neighbours
from coordinator_server.server.cluster.view import Owner, View
from coordinator_server.server.hosting.transaction_messages import MARKERS
from coordinator_server.transaction.markers import WRITE_MARKER, Marker
from protocol.error_codes import ErrorCode
from tests.support.runtime import CONTEXT, Outcome, ToyRuntime
from tests.support.sockets import End, MemorySockets
from tests.support.views import loops_nodes

GROUP = ShardId(GROUPS.topic, 0)
IDS = ShardId(TRANSACTIONS.topic, 0)
PRODUCER = Producer(7, 0)
# The next transaction of a producer of version 1 has the same epoch.
MARKER = Marker("t", PRODUCER.id, PRODUCER.epoch, is_commit=True, version=1)


def path_of(loop: int) -> Path:
    return Path(f"/data/loop-{loop}.sock")


class Loop:
    """A process. Loop 0 has the group's shard; the shard of transactional ids moves from loop 1 to loop 2."""

    def __init__(self, number: int, sockets: MemorySockets, toy: ToyRuntime) -> None:
        self.nodes = loops_nodes(3, number)
        self.courier = Courier({GROUPS.topic: 3}, self.nodes, CONTEXT)
        rows = {GROUPS.topic: {WRITE_MARKER.name: MARKERS}}
        self.courier.deliver_to(Destinations({GROUPS.topic: toy.runtime}, rows, lambda _: True))
        self.neighbours = Neighbours(Identity(number, 1), UnixLinks(sockets, path_of, number), self.courier)
        self.courier.connect(self.neighbours)

    def hear(self, shard: ShardId, owner: Owner) -> None:
        """Use a view in which a shard has another owner."""
        view = self.nodes.view
        assert self.nodes.replace(View(view.version + 1, view.nodes, {**view.owners, shard: owner}))

    def end_transaction(self, epoch: int) -> Outcome:
        """Send the marker, as the owner of the transactional id at that epoch."""
        outcome = Outcome()
        self.courier.carry(Ownership(IDS, epoch), GROUP, WRITE_MARKER, MARKER, outcome)
        return outcome


class Cluster:
    """Three loops, of which 1 and 2 have a link to loop 0. A transaction is open in the group's log."""

    def __init__(self) -> None:
        self.sockets = MemorySockets()
        self.toy = ToyRuntime()
        self.toy.runtime.topic = GROUPS.topic
        self.toy.store.is_instant = True
        self.toy.load()
        self.loops = [Loop(number, self.sockets, self.toy) for number in range(3)]

    async def start(self) -> None:
        for loop in self.loops:
            await loop.neighbours.start()
        for loop in self.loops[1:]:
            loop.end_transaction(1)
            await self.carry()
        self.write()

    def write(self) -> None:
        """The producer writes in its transaction, which is the next one if the last one has ended."""
        outcome = self.toy.put("a", 1, producer=PRODUCER)
        self.toy.turn()
        assert outcome.is_answered

    @property
    def is_open(self) -> bool:
        return any(each.first_offset >= 0 for each in self.toy.runtime.active_producers(0))

    async def carry(self) -> None:
        """Let everything arrive, run, and be answered."""
        for _ in range(3):
            for _ in range(5):
                await asyncio.sleep(0)
            self.sockets.carry()
            self.toy.turn()

    def hold(self, loop: int) -> tuple[End, End]:
        """Let nothing of a loop arrive from now on; its end and that of loop 0."""
        return self.sockets.connections.pop(loop - 1)


@pytest.fixture
async def cluster() -> Cluster:
    cluster = Cluster()
    await cluster.start()
    return cluster


async def test_a_marker_of_a_former_owner_does_not_end_the_next_transaction(cluster: Cluster) -> None:
    """Loop 1 is frozen with a marker in its socket; the shard moves to loop 2, which ends the transaction."""
    _, arrived = cluster.hold(1)
    late = cluster.loops[1].end_transaction(1)
    present = cluster.loops[2].end_transaction(2)
    await cluster.carry()
    assert (present.response, cluster.is_open) == (True, False)
    cluster.write()

    arrived.read()
    cluster.toy.turn()
    arrived.other.read()

    assert cluster.is_open
    assert late.error is ErrorCode.NOT_COORDINATOR
    # It knows now that it is not the owner any more, and sends nothing.
    assert cluster.loops[1].courier.epochs.newest(IDS) == 2
    again = cluster.loops[1].end_transaction(1)
    assert (again.error, bytes(arrived.arrived)) == (ErrorCode.NOT_COORDINATOR, b"")


async def test_the_memory_of_later_owners_moves_with_the_shard(cluster: Cluster) -> None:
    """The group's shard has a new owner, which has seen no message of loop 2. It has the view of its acquisition."""
    _, arrived = cluster.hold(1)
    cluster.loops[1].end_transaction(1)
    cluster.loops[0].hear(IDS, Owner(3, 2))

    arrived.read()
    cluster.toy.turn()

    assert cluster.is_open


async def test_a_message_for_a_former_owner_does_not_run(cluster: Cluster) -> None:
    """Nor one from an owner that is known there no more; what is sent with present epochs does."""
    _, arrived = cluster.hold(1)
    late = cluster.loops[1].end_transaction(1)
    cluster.toy.load(0, epoch=2)
    arrived.read()
    cluster.toy.turn()
    assert cluster.is_open
    arrived.other.read()
    assert late.error is ErrorCode.NOT_COORDINATOR

    again = cluster.loops[1].end_transaction(1)
    arrived.read()
    cluster.toy.turn()
    arrived.other.read()

    assert (again.response, cluster.is_open) == (True, False)


async def test_an_owner_that_is_fenced_answers_nothing(cluster: Cluster) -> None:
    """Somebody else has its shard, and it has not heard of that but from the message."""
    cluster.loops[2].hear(GROUP, Owner(1, 5))
    outcome = cluster.loops[2].end_transaction(1)
    await cluster.carry()
    assert (outcome.error, cluster.is_open) == (ErrorCode.NOT_COORDINATOR, True)

    own = cluster.loops[0].end_transaction(1)

    assert (own.error, cluster.is_open) == (ErrorCode.NOT_COORDINATOR, True)


async def test_what_a_former_owner_has_answered_counts_for_nothing(cluster: Cluster) -> None:
    """Its answer was under way when the shard moved."""
    outcome = cluster.loops[2].end_transaction(1)
    near, far = cluster.hold(2)
    far.read()
    cluster.toy.turn()
    cluster.loops[2].hear(GROUP, Owner(2, 2))

    near.read()

    assert (outcome.response, outcome.error) == (None, ErrorCode.NOT_COORDINATOR)


async def test_a_message_within_a_loop_has_epochs_too(cluster: Cluster) -> None:
    """A former owner may be the loop of the receiver itself."""
    cluster.loops[0].courier.epochs.note(Ownership(IDS, 2))
    late = cluster.loops[0].end_transaction(1)
    assert (late.error, cluster.is_open) == (ErrorCode.NOT_COORDINATOR, True)

    cluster.loops[0].end_transaction(2)
    cluster.toy.turn()

    assert not cluster.is_open


async def test_loops_of_different_versions_do_not_talk(cluster: Cluster) -> None:
    await cluster.sockets.connect(path_of(0), asyncio.Protocol)
    near, far = cluster.sockets.connections[-1]
    near.write(encode_message(Hello(3, 1, 1, FORMAT + 1)))
    far.read()

    assert (far.is_open, bytes(near.arrived)) == (False, b"")
