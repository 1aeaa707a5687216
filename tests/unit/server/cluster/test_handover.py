"""What nodes say to each other while shards are given away: who is told what, and when an offer counts as accepted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest

from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.server.cluster import handover
from coordinator_server.server.cluster.handover import Handovers
from coordinator_server.server.cluster.link_transport import UnixLinks
from coordinator_server.server.cluster.nodes import Nodes
from coordinator_server.server.cluster.unix import UnixSockets
from coordinator_server.server.cluster.view import NO_NODE, Owner, View, ViewNode

A, B = ShardId("t", 0), ShardId("t", 1)
SHARDS = (Ownership(A, 3), Ownership(B, 5))


class Node:
    """What a node hears. It answers offers when ``ready`` is called."""

    def __init__(self, number: int, directory: Path) -> None:
        self.heard: list[object] = []
        self.ready: list[Callable[[bool], None]] = []
        self.handovers = Handovers(UnixLinks(UnixSockets(), lambda node: directory / f"handover-{node}", number))

    def offered(self, shards: Sequence[Ownership], done: Callable[[bool], None]) -> None:
        self.heard.append(("offered", tuple(shards)))
        self.ready.append(done)

    def moving(self, to: int, shards: Sequence[Ownership]) -> None:
        self.heard.append((to, tuple(shards)))

    def given(self, to: int, shards: Sequence[Ownership]) -> None:
        self.heard.append(("given", to, tuple(shards)))


@pytest.fixture
async def nodes(tmp_path: Path) -> AsyncIterator[tuple[Node, Node, Node]]:
    one, two, three = all_nodes = tuple(Node(number, tmp_path) for number in (1, 2, 3))
    for each in all_nodes:
        await each.handovers.start(each)
    yield one, two, three
    for each in all_nodes:
        each.handovers.stop()
    await asyncio.sleep(0)


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not is_so():  # noqa: ASYNC110 - another process of the loop changes it
            await asyncio.sleep(0.001)


async def test_an_offer_that_is_accepted_is_told_to_all(nodes: tuple[Node, Node, Node]) -> None:
    """Before the giver goes on, and again when the gifts of all shards have outcomes."""
    one, two, three = nodes
    offer = asyncio.ensure_future(one.handovers.offer(2, [2, 3], SHARDS))
    await until(lambda: bool(two.ready))
    assert (two.heard, three.heard, offer.done()) == ([("offered", SHARDS)], [], False)

    two.ready[0](True)
    assert await offer
    await until(lambda: bool(two.heard[1:] and three.heard))
    assert (two.heard[1:], three.heard) == ([(2, SHARDS)], [(2, SHARDS)])

    one.handovers.settle(A)
    await asyncio.sleep(0.01)
    assert (two.heard[2:], three.heard[1:]) == ([], [])
    one.handovers.settle(B)
    one.handovers.settle(B)
    await until(lambda: bool(two.heard[2:] and three.heard[1:]))
    assert (two.heard[2:], three.heard[1:]) == ([("given", 2, SHARDS)], [("given", 2, SHARDS)])


@pytest.mark.parametrize("how", ["refused", "ended", "absent", "silent"])
async def test_whoever_does_not_accept_gets_nothing(
    nodes: tuple[Node, Node, Node], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says no, or ends, or does not listen, or says nothing in time: nobody is told anything."""
    one, two, three = nodes
    if how == "silent":
        monkeypatch.setattr(handover, "READY_S", 0.01)
    if how == "absent":
        two.handovers.stop()
    offer = asyncio.ensure_future(one.handovers.offer(2, [2, 3], SHARDS))
    if how in ("refused", "ended"):
        await until(lambda: bool(two.ready))
    if how == "refused":
        two.ready[0](False)
    elif how == "ended":
        two.handovers.stop()

    assert not await offer
    for shard, _ in SHARDS:
        one.handovers.settle(shard)
    assert await _reaches(one, three) == [("offered", SHARDS)]


async def _reaches(one: Node, other: Node) -> list[object]:
    """What a node has heard when the next offer arrives."""
    offer = asyncio.ensure_future(one.handovers.offer(3, [3], SHARDS))
    await until(lambda: bool(other.ready))
    offer.cancel()
    return other.heard


async def test_a_node_that_cannot_be_told_keeps_nobody(nodes: tuple[Node, Node, Node]) -> None:
    one, two, three = nodes
    three.handovers.stop()
    offer = asyncio.ensure_future(one.handovers.offer(2, [2, 3], SHARDS))
    await until(lambda: bool(two.ready))
    two.ready[0](True)

    assert await offer


def test_clients_are_sent_to_the_next_owner_until_it_has_the_shard() -> None:
    """While the former one is the owner in the rows, and while nobody is: the next one has not taken it."""
    nodes = Nodes(1, View(1, (ViewNode(1), ViewNode(2), ViewNode(3)), {A: Owner(3, 3)}))
    nodes.expect(2, [Ownership(A, 3)])
    assert nodes.asked_for(A) == 2

    for version, owner, asked in (
        (2, Owner(NO_NODE, 4), 2),
        (3, Owner(2, 5), 2),
        (4, Owner(3, 6), 3),
        (5, Owner(NO_NODE, 7), -1),
    ):
        nodes.replace(View(version, nodes.view.nodes, {A: owner}))
        assert nodes.asked_for(A) == asked


def test_a_giver_that_keeps_a_shard_is_its_owner() -> None:
    """It has taken it at the next epoch. A next owner that is gone is not shown."""
    nodes = Nodes(1, View(1, (ViewNode(1), ViewNode(3)), {A: Owner(3, 4), B: Owner(3, 5)}))
    nodes.expect(1, [Ownership(A, 3)])
    nodes.expect(2, [Ownership(B, 5)])

    assert (nodes.asked_for(A), nodes.asked_for(B)) == (3, 3)
