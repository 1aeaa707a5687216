"""Shards that a node gives away, and how it leaves."""

from __future__ import annotations

from collections.abc import Callable

from coordinator_server.log.members import Member, ShardRow, Table
from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.server.membership.membership import LEAVE_MS, REFUSED_MS
from coordinator_server.server.membership.plan import plan
from tests.support.member_node import Node
from tests.support.shared_store import Database, Fate

A, B = ShardId("a", 0), ShardId("a", 1)
ONE, TWO = Member(1, 1), Member(2, 1)


def test_another_node_gets_its_part(node: Node, database: Database) -> None:
    """From a node that has given it away: it is told at once, and takes it at one more epoch."""
    other = Node(2, database, node)
    other.tick()
    node.tick()
    other.settle()

    assert (node.hosted, other.hosted) == ({A: 1}, {B: 3})


def test_a_node_that_accepts_nothing_gets_nothing(node: Node, database: Database) -> None:
    """It is paused, say, or its clock is far off. It is not asked at each look."""
    other = Node(2, database, node)
    other.wall_ms = 20_000
    other.tick()
    other.tick()
    for _ in range(3):
        node.tick()

    assert (node.hosted, node.events.count("offers 1 to 2.1")) == ({A: 1, B: 1}, 1)
    for _ in range(REFUSED_MS // 200):
        node.tick()
        other.tick()
    assert node.events.count("offers 1 to 2.1") == 2


def test_a_gift_that_is_told_is_taken_without_a_look(node: Node, database: Database) -> None:
    """What was not given is not taken, whatever is said."""
    other = Node(2, database)
    other.tick()
    database.membership.give(database, ONE, B, 1, TWO)
    other.membership.take_given([Ownership(A, 2), Ownership(B, 2)])
    for _ in range(2):
        other.sent.pop(0)()

    assert other.hosted == {B: 3}


def test_a_gift_with_an_unknown_outcome_is_repeated(node: Node, database: Database) -> None:
    """The giver takes the shard again if it has it still, and so it is not without an owner."""
    other = Node(2, database, node)
    other.tick()
    node.now_ms += 200
    node.membership.tick()
    database.fates.extend([Fate.RUNS, Fate.RUNS, Fate.IS_LOST])
    node.settle()
    assert node.hosted == {A: 1}
    for _ in range(3):
        node.tick()
        other.settle()

    assert (set(node.hosted), other.hosted) == ({A}, {B: 4})


def test_a_gift_that_comes_late_gives_nothing(node: Node, database: Database) -> None:
    """The node that is in doubt has taken its shard again, at a newer epoch."""
    other = Node(2, database, node)
    other.tick()
    database.lateness = 100
    node.now_ms += 200
    node.membership.tick()
    database.fates.extend([Fate.RUNS, Fate.RUNS, Fate.IS_LATE])
    node.settle()
    assert node.hosted == {A: 1}
    # The other node ends, so that the shard is wanted again.
    other.membership.leave(lambda: None)
    other.settle()
    node.tick()
    node.tick()
    assert node.hosted == {A: 1, B: 2}

    database.arrive()

    assert database.membership.shards[B] == ShardRow(ONE, 2)


def leave(node: Node) -> list[bool]:
    """Let a node leave. The list gets whether it might answer when it had left."""
    left: list[bool] = []
    node.membership.leave(lambda: left.append(node.membership.may_answer))
    node.settle()
    return left


def test_whoever_leaves_has_given_its_shards_away(node: Node, database: Database) -> None:
    """It answers for each until then. The next owner waits for nothing, and whoever has left does not come back."""
    other = Node(2, database, node)
    other.tick()
    node.tick()
    other.settle()
    left = leave(node)
    other.settle()
    node.settle()

    assert (left, node.hosted, other.hosted) == ([False], {}, {A: 3, B: 3})
    assert not database.membership.is_alive(ONE)
    node.tick()
    assert not database.membership.is_alive(ONE)


def test_whoever_leaves_alone_leaves_its_shards(node: Node, database: Database) -> None:
    """Those of a member that is marked dead may be taken."""
    assert (leave(node), node.hosted, database.membership.is_alive(ONE)) == ([False], {}, False)
    other = Node(2, database)
    other.tick()

    assert other.hosted == {A: 2, B: 2}


def test_whoever_can_give_nothing_away_leaves_after_a_time(node: Node, database: Database) -> None:
    """It owns its shards, and renews its lease, until then."""
    other = Node(2, database)
    other.tick()
    left = leave(node)
    for _ in range(LEAVE_MS // 200 - 1):
        node.tick()
        other.tick()
    assert (left, node.hosted, node.membership.may_answer) == ([], {A: 1, B: 1}, True)
    node.tick()
    other.tick()

    assert (left, node.hosted, other.hosted) == ([False], {}, {A: 2, B: 2})


def test_whoever_leaves_has_what_a_gift_has_not_moved(node: Node, database: Database) -> None:
    """The receiver has ended meanwhile. The others may wait for an owner of the catalog, before they accept anything."""

    def offer(to: Member, _shards: object, done: Callable[[bool], None]) -> None:
        if to == TWO:
            database.membership.mark_dead(TWO, None)
            done(True)

    for number in (2, 3):
        Node(number, database).tick()
    node.offer = offer  # type: ignore[method-assign]
    left = leave(node)
    node.tick()

    assert (left, node.hosted) == ([], {A: 2, B: 1})


def test_whoever_leaves_without_its_store_does_not_wait(node: Node, database: Database) -> None:
    node.store.retire = lambda _member, done: done(None)  # type: ignore[method-assign]
    node.store.read = lambda done: done(None)  # type: ignore[method-assign]

    assert (leave(node), node.hosted) == ([False], {})


def test_a_node_that_leaves_gets_nothing(node: Node, database: Database) -> None:
    """Its part is that of the others, also while it has shards."""
    two, three = Node(2, database), Node(3, database)
    two.tick()
    database.membership.retire(TWO)
    three.tick()

    assert plan(node.membership.rows or Table(0, 0, {}, {}), ONE).give == []
    node.tick()
    assert [to for *_, to in plan(node.membership.rows or Table(0, 0, {}, {}), ONE).give] == [Member(3, 1)]


def test_an_offer_that_is_accepted_too_late_comes_to_nothing(node: Node, database: Database) -> None:
    """The node was put out meanwhile. Whoever was told of the offer is told of its end."""
    other = Node(2, database, node)
    other.tick()
    heard: list[object] = []
    node.offer = lambda _to, _shards, done: heard.append(done)  # type: ignore[method-assign]
    node.tick()
    database.membership.mark_dead(ONE, None)
    node.tick()
    [done] = heard
    done(True)  # type: ignore[operator]
    node.settle()

    assert (node.hosted, node.ended) == ({}, [B])
