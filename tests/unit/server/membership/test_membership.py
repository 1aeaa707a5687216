"""One node of those that share a store: what it does with each outcome of a statement. ``tests/simulation`` has many nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from coordinator_server.log.members import Member, MemberRow, ShardRow, Table
from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.runtime.lease import Gate
from coordinator_server.server.membership.leases import LeaseTimes
from coordinator_server.server.membership.membership import LEAVE_MS, REFUSED_MS, Clocks, Membership
from coordinator_server.server.membership.plan import plan
from tests.support.shared_members import Rows, SharedMembers
from tests.support.shared_store import Database, Fate

TIMES = LeaseTimes(lease_ms=1000, renew_ms=200)
A, B = ShardId("a", 0), ShardId("a", 1)
ONE, TWO = Member(1, 1), Member(2, 1)


class Node:
    """A node whose statements run when ``settle`` is called. It is its own Host. ``others`` are those that it can reach."""

    def __init__(self, number: int, database: Database, *others: Node) -> None:
        self.others: list[Node] = []
        for other in others:
            self.others.append(other)
            other.others.append(self)
        self.now_ms = self.wall_ms = 0
        self.sent: list[Callable[[], None]] = []
        self.hosted: dict[ShardId, int] = {}
        self.events: list[str] = []
        self.gone: set[Member] = set()
        self.store = store = SharedMembers(database, self.sent.append, lambda answer: answer())
        gate = Gate(lambda: self.now_ms)
        self.membership = Membership(
            node=number,
            listeners=[],
            store=store,
            host=self,
            lease=gate.lease(lambda: self.events.append("over"), lambda: self.events.append("renewed")),
            clocks=Clocks(lambda: self.now_ms, lambda: self.wall_ms),
            times=TIMES,
        )
        self.gate = gate

    def settle(self) -> None:
        """Let everything run, and all that follows from it."""
        while self.sent:
            self.sent.pop(0)()

    def tick(self, ms: int = 200) -> None:
        """Let time pass, and the node look at its store."""
        self.now_ms += ms
        self.membership.tick()
        self.settle()

    def begin(self, me: Member, /) -> None:
        """It was granted nothing as another process."""

    def own(self, shard: ShardId, epoch: int, /) -> None:
        self.hosted[shard] = epoch

    def disown(self, shard: ShardId, unloaded: Callable[[], None], /) -> None:
        del self.hosted[shard]
        unloaded()

    def changed(self, table: Table, /) -> None:
        self.events.append(f"version {table.version}")

    def offer(self, to: Member, shards: Sequence[Ownership], done: Callable[[bool], None], /) -> None:
        self.events.append(f"offers {len(shards)} to {to}")
        done(any(each.membership.me == to and each.membership.accepts for each in self.others))

    def end_gift(self, _shard: ShardId, /) -> None:
        for each in self.others:
            each.membership.look_again()

    def ask_if_gone(self, member: Member, _row: MemberRow, done: Callable[[bool], None], /) -> None:
        self.events.append(f"asks {member}")
        done(member in self.gone)


@pytest.fixture
def database() -> Database:
    database = Database()
    database.membership = Rows([A, B])
    database.replicate()
    return database


@pytest.fixture
def node(database: Database) -> Node:
    """A node that has both shards."""
    node = Node(1, database)
    node.tick()
    node.tick()
    node.tick()
    return node


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


def test_a_lease_that_is_won_back_is_reported(node: Node) -> None:
    """Nobody has taken the shards meanwhile, and they keep their epochs."""
    node.events.clear()
    node.now_ms += 5000
    node.gate.is_open()
    node.tick()

    assert (node.events, node.hosted) == (["over", "renewed"], {A: 1, B: 1})


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
