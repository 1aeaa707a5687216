"""A node takes what others give when clients reach it: until then they would find nobody at its address."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, Final

import pytest

from coordinator_server.log.members import Member
from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.server.cluster.neighbours import Identity
from coordinator_server.server.cluster.view import ViewNode
from coordinator_server.server.hosting.node_shards import NodeShards

SHARDS: Final = (Ownership(ShardId("t", 0), 3),)


class Site:
    """A node that has joined, what it reads of shards that it is offered, and what it answers."""

    def __init__(self) -> None:
        self.accepts = True
        self.read: list[tuple[Sequence[ShardId], Callable[[], None]]] = []
        self.answers: list[bool] = []
        self.owned: dict[ShardId, int] = {}
        self.expected: list[ShardId] = []
        sharing: Any = SimpleNamespace(shared=SimpleNamespace(prepare=lambda *asked: self.read.append(asked)))
        nodes: Any = SimpleNamespace(id=1, expect=lambda _to, _shards: None)
        arrivals: Any = SimpleNamespace(expect=self.expected.extend)
        self.followed: list[tuple[str, int]] = []
        who: Any = Identity(1, 0)
        roles: Any = SimpleNamespace(follow=lambda: self.follow("first", who), begin_anew=lambda: self.note("anew", who))
        unused: Any = None
        self.shards = NodeShards(
            sharing=sharing,
            store=unused,
            hosted=unused,
            nodes=nodes,
            who=who,
            roles=roles,
            presence=unused,
            handovers=unused,
            lease=unused,
            arrivals=arrivals,
            after_submit=unused,
        )
        membership: Any = self
        self.shards._membership = membership

    async def follow(self, how: str, who: Identity) -> None:
        self.note(how, who)

    def note(self, how: str, who: Identity) -> None:
        self.followed.append((how, who.incarnation))

    def offer(self) -> None:
        self.shards.offered(SHARDS, self.answers.append)


@pytest.fixture
def site() -> Site:
    return Site()


def test_what_is_offered_is_read_at_once_and_taken_when_clients_are_served(site: Site) -> None:
    site.offer()
    [(shards, done)] = site.read
    assert shards == [ShardId("t", 0)]
    done()
    assert site.answers == []

    site.shards.serve()

    assert site.answers == [True]
    site.offer()
    site.read[-1][1]()
    assert site.answers == [True, True]


def test_a_node_that_leaves_before_it_serves_takes_nothing(site: Site) -> None:
    """Neither what it has read, nor what comes later."""
    site.offer()
    site.read[0][1]()
    site.accepts = False
    site.shards.serve()
    site.offer()

    assert (site.answers, len(site.read)) == ([False, False], 1)


def test_clients_are_expected_where_a_shard_goes_and_is_not_yet(site: Site) -> None:
    """A message that is later than the rows would let them wait for a shard that has come, and may have gone again."""
    site.shards.moving(2, SHARDS)
    assert site.expected == []
    site.shards.moving(1, SHARDS)
    assert site.expected == [ShardId("t", 0)]

    site.owned[ShardId("t", 0)] = 5
    site.shards.moving(1, SHARDS)

    assert site.expected == [ShardId("t", 0)]


async def test_the_catalog_is_followed_when_the_node_knows_which_process_it_is(site: Site) -> None:
    """Changes of the catalog do not wait for a process of which the controller does not know that it lives."""
    site.shards._here = ViewNode(1, (), 1)
    assert site.followed == []

    site.shards.begin(Member(1, 7))
    await asyncio.sleep(0)
    site.shards.begin(Member(1, 8))

    assert site.followed == [("first", 7), ("anew", 8)]
