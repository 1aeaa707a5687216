"""One node of those that share a store: what it does with each outcome of a statement. ``tests/simulation`` has many nodes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coordinator_server.log.members import Member, MemberRow, ShardRow
from coordinator_server.log.shards import ShardId
from tests.support.member_node import Node
from tests.support.shared_store import Database, Fate

A, B = ShardId("a", 0), ShardId("a", 1)
ONE, TWO = Member(1, 1), Member(2, 1)


def test_the_only_node_takes_all_shards(node: Node) -> None:
    assert (node.hosted, node.membership.may_answer) == ({A: 1, B: 1}, True)


def test_it_may_answer_until_a_lease_after_its_last_question(node: Node) -> None:
    """Less a margin, whatever time the answers took."""
    node.now_ms += 200
    node.membership.tick()
    asked_ms = node.now_ms
    node.now_ms += 500
    node.settle()
    node.now_ms = asked_ms + 899
    assert node.membership.may_answer
    node.now_ms += 1
    assert not node.membership.may_answer


def test_a_node_asks_again_at_once_when_a_renewal_is_answered_too_late(node: Node) -> None:
    """The store was away for longer than a lease: nobody is to wait for the next renewal."""
    node.now_ms += 200
    node.membership.tick()
    node.now_ms += 5000
    node.settle()

    assert node.membership.may_answer


def test_a_lease_that_is_won_back_is_reported(node: Node) -> None:
    """Nobody has taken the shards meanwhile, and they keep their epochs."""
    node.events.clear()
    node.now_ms += 5000
    node.gate.is_open()
    node.tick()

    assert (node.events, node.hosted) == (["over", "renewed"], {A: 1, B: 1})


def test_a_silent_node_is_marked_dead_and_then_its_shards_are_taken(node: Node, database: Database) -> None:
    """After a whole lease in which its renewals did not change. When it wakes up it drops everything, and joins anew."""
    other = Node(2, database)
    for _ in range(5):
        other.tick()
    assert (other.hosted, database.membership.is_alive(ONE)) == ({}, True)
    other.tick()
    assert (other.hosted, database.membership.is_alive(ONE)) == ({A: 2, B: 2}, False)

    node.tick(5000)
    assert node.hosted == {}
    node.tick()
    assert node.membership.me == Member(1, 2)


def test_a_node_whose_renewal_is_refused_drops_everything_at_once(node: Node, database: Database) -> None:
    """It does not wait until it reads in the rows why: others may have its shards."""
    database.membership.mark_dead(ONE, None)
    node.now_ms += 200
    node.membership.tick()
    renewal, _read = node.sent
    renewal()

    assert (node.hosted, node.membership.me, node.membership.may_answer) == ({}, None, False)


def test_a_process_that_is_gone_costs_no_lease(node: Node, database: Database) -> None:
    """The store has no session of it, and its listener proves it: it is marked dead, and its shards are taken at the next look."""
    other = Node(2, database)
    other.tick(1)
    node.store.lose()
    other.gone = {ONE}
    other.tick(1)

    assert (database.membership.is_alive(ONE), other.hosted) == (False, {A: 2, B: 2})


def test_a_lost_session_alone_proves_nothing(node: Node, database: Database) -> None:
    """The listener is asked at each look, until the node has renewed over another session."""
    other = Node(2, database)
    other.tick(1)
    node.store.lose()
    other.events.clear()
    other.tick(1)
    other.tick(1)
    assert (other.events, database.membership.is_alive(ONE)) == (["asks 1.1", "asks 1.1"], True)

    node.tick(1)
    other.events.clear()
    other.tick(1)
    assert "asks 1.1" not in other.events


def test_a_listener_that_refuses_proves_nothing_while_there_is_a_session(node: Node, database: Database) -> None:
    """It is not even asked."""
    other = Node(2, database)
    other.gone = {ONE}
    other.tick(1)
    other.tick(1)

    assert (node.hosted != {}, database.membership.is_alive(ONE), "asks 1.1" in other.events) == (True, True, False)


def test_who_has_renewed_since_is_not_marked(node: Node, database: Database) -> None:
    """The proof is of what was read: the statement says so."""
    other = Node(2, database)
    other.tick(1)
    node.store.lose()
    other.membership.look()
    other.sent.pop(0)()
    assert other.sent == []
    other.gone = {ONE}
    other.membership.look()
    other.sent.pop(0)()
    database.membership.renew(ONE, database.membership.sessions[ONE])
    other.settle()

    assert database.membership.is_alive(ONE)


def test_the_silence_of_a_store_is_nobodys(node: Node, database: Database) -> None:
    """A node that could not read for long begins to wait anew."""
    other = Node(2, database)
    other.tick()
    for _ in range(9):
        other.tick(600)

    assert database.membership.is_alive(ONE)


@pytest.mark.parametrize("fate", [Fate.IS_LOST, Fate.LOSES_ITS_ANSWER, Fate.IS_LATE])
def test_a_take_of_a_shard_with_an_unknown_outcome_is_repeated(database: Database, fate: Fate) -> None:
    """If it has run, at the next epoch."""
    node = Node(1, database)
    node.tick()
    node.tick()
    node.membership.tick()
    database.fates.extend([Fate.RUNS, Fate.RUNS, fate])
    node.settle()
    for _ in range(3):
        node.tick()

    assert node.hosted == {shard: row.epoch for shard, row in database.membership.shards.items()}
    assert all(row.owner == ONE for row in database.membership.shards.values())


def test_what_another_node_owns_is_dropped(node: Node, database: Database) -> None:
    database.membership.members[TWO] = MemberRow(())
    database.membership.shards[A] = ShardRow(TWO, 2)
    node.tick()

    assert A not in node.hosted


@pytest.mark.parametrize("difference_ms", [-10_001, 10_001])
def test_a_node_whose_clock_is_far_off_takes_nothing(database: Database, difference_ms: int) -> None:
    """Until it is set."""
    node = Node(1, database)
    node.wall_ms = difference_ms
    for _ in range(3):
        node.tick()
    assert node.hosted == {}
    node.wall_ms = 10_000
    node.tick()

    assert node.hosted == {A: 1, B: 1}


def test_rows_that_were_shown_before_a_node_knew_itself_are_shown_again(node: Node, database: Database) -> None:
    """It waits for those that have it, and nothing else may change for long: the answer to its join may be the later one."""
    other, answers = Node(2, database), list[Callable[[], None]]()
    other.store._answer = answers.append
    other.membership.tick()
    join, read = other.sent
    other.sent.clear()
    join()
    read()
    joined, rows = answers
    rows()
    shown = other.events[-1]
    other.store._answer = lambda answer: answer()
    joined()
    other.events.clear()
    other.sent.pop(0)()

    assert (node.membership.me, other.membership.me, other.events[:1]) == (ONE, TWO, [shown])
