"""Which shards a node takes and gives away, as a function of the rows."""

from __future__ import annotations

import pytest

from coordinator_server.kinds import GROUPS
from coordinator_server.log.members import Member, MemberRow, ShardRow, Table
from coordinator_server.log.shards import ShardId
from coordinator_server.server.cluster.view import CATALOG_SHARD
from coordinator_server.server.membership.plan import has_part, is_settled, plan

ONE, TWO = Member(1, 1), Member(2, 1)


def table(owned: dict[int, int], shards: int) -> Table:
    """Nodes that own so many shards of one topic; the rest have no owner."""
    owners = [Member(node, 1) for node, count in owned.items() for _ in range(count)]
    rows = {ShardId("a", each): ShardRow(owners[each] if each < len(owners) else None, 1) for each in range(shards)}
    return Table(1, 0, {Member(node, 1): MemberRow(()) for node in owned}, rows)


@pytest.mark.parametrize(
    ("owned", "shards", "takes", "gives"),
    [
        ({1: 0}, 3, 3, 0),
        ({1: 0, 2: 0}, 5, 3, 0),
        ({1: 3, 2: 1}, 5, 0, 0),
        ({1: 3, 2: 2}, 5, 0, 0),
        ({1: 5, 2: 0}, 5, 0, 2),
        ({1: 2, 2: 2, 3: 0}, 4, 0, 1),
        ({2: 2, 1: 2, 3: 0}, 4, 0, 1),
        ({1: 1, 2: 0}, 1, 0, 0),
        ({1: 2, 2: 3, 3: 3, 4: 0}, 8, 0, 0),
    ],
)
def test_shards_are_spread_evenly(owned: dict[int, int], shards: int, takes: int, gives: int) -> None:
    """What node 1 does: it fills its part, and gives away only what another node lacks."""
    found = plan(table(owned, shards), ONE)

    assert (len(found.take), len(found.give)) == (takes, gives)


@pytest.mark.parametrize(
    ("owned", "shards", "given"), [({1: 2, 2: 0, 3: 1}, 3, []), ({1: 3, 2: 0, 3: 2}, 5, []), ({1: 4, 2: 0, 3: 1}, 5, [3])]
)
def test_what_one_refuses_stays_unless_another_has_fewer(owned: dict[int, int], shards: int, given: list[int]) -> None:
    """Node 2 is silent, and not marked dead yet: a shard would go back and forth between the others at each look."""
    found = plan(table(owned, shards), ONE, without=[TWO])

    assert [to.node for *_, to in found.give] == given


@pytest.mark.parametrize(
    ("owned", "shards", "has"),
    [
        ({1: 3}, 3, True),
        ({1: 2}, 3, False),
        ({1: 2, 2: 3}, 5, True),
        ({1: 1, 2: 3}, 5, False),
        ({1: 1, 2: 4}, 5, False),
        ({1: 3, 2: 1}, 5, True),
        ({1: 0, 2: 1}, 1, True),
    ],
)
def test_a_node_has_its_part(owned: dict[int, int], shards: int, *, has: bool) -> None:
    """Node 1 has as many as it is due, and takes nothing that is free: another node may lack some."""
    assert has_part(table(owned, shards), ONE) is has


def test_whoever_leaves_gives_to_those_that_have_fewest() -> None:
    """But to none that has just refused."""
    found = table({1: 4, 2: 1, 3: 2}, 7)
    leaving = found._replace(members=dict(found.members) | {ONE: MemberRow((), is_leaving=True)})

    assert [to.node for *_, to in plan(leaving, ONE).give] == [2, 2, 3, 2]
    assert {to.node for *_, to in plan(leaving, ONE, without=[TWO]).give} == {3}
    assert plan(leaving, ONE).take == []


def test_whoever_leaves_gives_the_catalog_last() -> None:
    """Without it, and before it follows its next owner, a node answers nobody: not even where its other shards are."""
    members = {ONE: MemberRow((), is_leaving=True), TWO: MemberRow(())}
    groups, catalog = ShardId(GROUPS.topic, 0), CATALOG_SHARD

    def given(**owners: Member) -> list[ShardId]:
        rows = {groups: ShardRow(owners["groups"], 1), catalog: ShardRow(owners["catalog"], 1)}
        return [shard for shard, *_ in plan(Table(1, 0, members, rows), ONE).give]

    assert (given(groups=ONE, catalog=ONE), given(groups=TWO, catalog=ONE)) == ([groups], [catalog])


def test_a_node_looks_more_often_until_shards_are_spread() -> None:
    """One without a living owner, or a node that has too many, is waited for."""
    one, two = Member(1, 1), Member(2, 1)
    members = {one: MemberRow(()), two: MemberRow(())}
    shards = [ShardId("t", each) for each in range(3)]

    def settled(*owners: Member | None) -> bool:
        rows = {shard: ShardRow(owner, 1) for shard, owner in zip(shards, owners, strict=True)}
        return is_settled(Table(1, 0, members, rows))

    assert (settled(one, two, one), settled(one, two, None), settled(one, one, one)) == (True, False, False)
    assert not is_settled(Table(1, 0, members | {two: MemberRow((), is_dead=True)}, {shards[0]: ShardRow(two, 1)}))
