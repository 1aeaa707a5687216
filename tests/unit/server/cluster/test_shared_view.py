"""The view of a node that shares a store: the rows, and what it has taken since they were read."""

from __future__ import annotations

from coordinator_server.log.members import Member, MemberRow, ShardRow, Table
from coordinator_server.log.shards import ShardId
from coordinator_server.server.cluster.shared_view import view_before_joining, view_of_table
from coordinator_server.server.cluster.view import NO_NODE, Endpoint, Owner, ViewNode

A, B = ShardId("t", 0), ShardId("t", 1)
HERE = ViewNode(1, (Endpoint("one", 9092),), loop=1, incarnation=4, for_nodes=Endpoint("one", 9192))
ROW = MemberRow((("two", 9192), ("two", 9092)))


def owner_of(row: ShardRow, owned: dict[ShardId, int], *, is_dead: bool = False) -> Owner:
    members = {Member(1, 4): MemberRow((("one", 9192), ("one", 9092))), Member(2, 1): ROW._replace(is_dead=is_dead)}
    return view_of_table(Table(7, 0, members, {A: row}), HERE, owned).owner_of(A)


def test_nobody_owns_anything_before_a_node_has_joined() -> None:
    view = view_before_joining(HERE, {"t": 2})

    assert [view.owner_of(each).node for each in (A, B)] == [NO_NODE, NO_NODE]


def test_a_shard_is_that_of_a_living_owner() -> None:
    """At its epoch, which outlives the owner."""
    assert owner_of(ShardRow(Member(2, 1), 5), {}) == Owner(2, 5)
    assert owner_of(ShardRow(Member(2, 1), 5), {}, is_dead=True) == Owner(NO_NODE, 5)
    assert owner_of(ShardRow(None, 5), {}) == Owner(NO_NODE, 5)


def test_what_was_taken_since_the_rows_were_read_is_its_own() -> None:
    """And what a later owner has is not."""
    assert owner_of(ShardRow(None, 5), {A: 6}) == Owner(1, 6)
    assert owner_of(ShardRow(Member(2, 1), 7), {A: 6}) == Owner(2, 7)


def test_a_shard_that_is_being_taken_or_released_is_nobodys() -> None:
    assert owner_of(ShardRow(Member(1, 4), 6), {}) == Owner(NO_NODE, 6)


def test_nodes_are_the_newest_living_processes() -> None:
    """With their addresses for clients and for nodes; the node itself is there before its row is read."""
    members = {Member(2, 1): ROW, Member(2, 3): ROW, Member(3, 1): ROW._replace(is_dead=True)}
    view = view_of_table(Table(7, 0, members, {}), HERE, {})

    assert view.version == 7
    assert view.nodes == (HERE, ViewNode(2, (Endpoint("two", 9092),), 2, 3, Endpoint("two", 9192)))
