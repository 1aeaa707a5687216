"""One node of those that share a store: what it does with each outcome of a statement. ``tests/simulation`` has many nodes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coordinator_server.log.members import Member, MemberRow, ShardRow, Table
from coordinator_server.log.shards import ShardId
from coordinator_server.runtime.lease import Gate
from coordinator_server.server.membership.leases import LeaseTimes
from coordinator_server.server.membership.membership import Clocks, Membership
from coordinator_server.server.membership.plan import is_settled, plan
from tests.support.shared_members import Rows, SharedMembers
from tests.support.shared_store import Database, Fate

TIMES = LeaseTimes(lease_ms=1000, renew_ms=200)
A, B = ShardId("a", 0), ShardId("a", 1)
ONE, TWO = Member(1, 1), Member(2, 1)


class Node:
    """A node whose statements run when ``settle`` is called. It is its own Host."""

    def __init__(self, number: int, database: Database) -> None:
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
    """From a node that has released it."""
    other = Node(2, database)
    other.tick()
    node.tick()
    other.tick()

    assert (node.hosted, other.hosted) == ({A: 1}, {B: 2})


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


def test_a_release_that_comes_late_releases_nothing(node: Node, database: Database) -> None:
    """The node that is in doubt has taken its shard again, at a newer epoch."""
    other = Node(2, database)
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


def test_whoever_leaves_has_released_its_shards(node: Node, database: Database) -> None:
    """The next owner waits for nothing."""
    left: list[bool] = []
    node.membership.leave(lambda: left.append(node.membership.may_answer))
    node.settle()

    assert (left, node.hosted) == ([False], {})
    assert {row.owner for row in database.membership.shards.values()} == {None}
    assert not database.membership.is_alive(ONE)
    node.tick()
    assert not database.membership.is_alive(ONE)


def test_leaving_a_store_that_answers_at_once_is_done_once(node: Node) -> None:
    asked: list[str] = []

    class AtOnce:
        def release(self, *given: object) -> None:
            asked.append("release")
            given[-1](True)  # type: ignore[operator]

        def leave(self, *given: object) -> None:
            asked.append("leave")
            given[-1](True)  # type: ignore[operator]

    node.membership._store = AtOnce()  # type: ignore[assignment]
    left: list[bool] = []
    node.membership.leave(lambda: left.append(True))

    assert (asked, left) == (["release", "release", "leave"], [True])


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


def table(owned: dict[int, int], shards: int) -> Table:
    """Nodes that own so many shards of one topic; the rest have no owner."""
    owners = [Member(node, 1) for node, count in owned.items() for _ in range(count)]
    rows = {ShardId("a", each): ShardRow(owners[each] if each < len(owners) else None, 1) for each in range(shards)}
    return Table(1, 0, {Member(node, 1): MemberRow(()) for node in owned}, rows)


@pytest.mark.parametrize(
    ("owned", "shards", "takes", "releases"),
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
def test_shards_are_spread_evenly(owned: dict[int, int], shards: int, takes: int, releases: int) -> None:
    """What node 1 does: it fills its part, and gives away only what another node lacks."""
    found = plan(table(owned, shards), ONE)

    assert (len(found.take), len(found.release)) == (takes, releases)


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
