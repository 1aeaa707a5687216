"""The rules of log/members.py, for every store of membership: the simulated one, and that in a PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from coordinator_server.log.members import Member, MemberRow, ShardRow, Table
from coordinator_server.log.postgresql.membership import PostgresqlMembership
from coordinator_server.log.shards import ShardId
from tests.support.eventually import eventually
from tests.support.log_subjects import A, B, Postgresql
from tests.support.postgresql import COUNTS, PostgresqlServer
from tests.support.shared_members import Rows, SharedMembers
from tests.support.shared_store import Database, Fate

LISTENERS = [("one.example", 9092), ("one.example", 9093)]
NOBODY = Member(9, 9)


class Simulated:
    """The rows of a simulated database."""

    def __init__(self) -> None:
        self._database = Database()
        self._database.membership = Rows([A, B])
        self.store = SharedMembers(self._database, lambda run: run(), lambda run: run(), lambda: int(time.time() * 1000))

    def run(self) -> None:
        """Statements run at once."""

    def lose_the_answer(self) -> None:
        self._database.fates.append(Fate.LOSES_ITS_ANSWER)

    def cut(self) -> None:
        self.store.lose()

    def close(self) -> None:
        """Nothing is open."""


class Real:
    """The tables of a PostgreSQL, behind a proxy."""

    def __init__(self, server: PostgresqlServer) -> None:
        self.node = Postgresql(server)
        self.store: Any = self.node.loop.run_until_complete(self._opened())

    async def _opened(self) -> PostgresqlMembership:
        return PostgresqlMembership(self.node.store)

    def run(self) -> None:
        self.node.loop.run_until_complete(self.store.settled())

    def lose_the_answer(self) -> None:
        self.node.proxy.loses_answer = True

    def cut(self) -> None:
        self.node.proxy.cut()
        # The database notices it some time later.
        sessions = "SELECT FROM pg_stat_activity WHERE application_name LIKE '% renews' AND datname = $1"
        eventually(lambda: not self.node.server.sql(sessions, self.node.database))

    def close(self) -> None:
        self.store.close()
        self.node.close()


@pytest.fixture(params=[Simulated, Real])
def subject(request: pytest.FixtureRequest) -> Iterator[Simulated | Real]:
    opened = Simulated() if request.param is Simulated else Real(request.getfixturevalue("postgresql"))
    with closing(opened):
        yield opened


def ask(subject: Simulated | Real, statement: str, *arguments: object) -> Any:
    outcomes: list[Any] = []
    getattr(subject.store, statement)(*arguments, outcomes.append)
    subject.run()
    [outcome] = outcomes
    return outcome


def table(subject: Simulated | Real) -> Table:
    found: Table = ask(subject, "read")
    return found


def owner(subject: Simulated | Real, shard: ShardId) -> ShardRow:
    return table(subject).shards[shard]


def test_each_process_of_a_node_has_a_greater_incarnation(subject: Simulated | Real) -> None:
    assert [ask(subject, "join", node, LISTENERS) for node in (1, 1, 2)] == [Member(1, 1), Member(1, 2), Member(2, 1)]

    found = table(subject)
    assert found.members == dict.fromkeys([Member(1, 1), Member(1, 2), Member(2, 1)], MemberRow(tuple(LISTENERS)))
    assert abs(found.wall_ms - time.time() * 1000) < 60_000


def test_renewals_count_until_a_member_is_dead(subject: Simulated | Real) -> None:
    one = ask(subject, "join", 1, LISTENERS)
    assert [ask(subject, "renew", one), ask(subject, "renew", one)] == [True, True]
    assert table(subject).members[one].renewals == 2

    assert not ask(subject, "mark_dead", one, 1)
    assert ask(subject, "mark_dead", one, 2)
    assert not ask(subject, "mark_dead", one, 2)
    assert [ask(subject, "renew", one), ask(subject, "renew", NOBODY)] == [False, False]
    assert table(subject).members[one] == MemberRow(tuple(LISTENERS), 2, is_dead=True, is_connected=False)


def test_the_store_notices_when_the_session_of_a_member_ends(subject: Simulated | Real) -> None:
    """Until it renews over another one."""
    one = ask(subject, "join", 1, LISTENERS)
    ask(subject, "renew", one)
    assert [table(subject).members[one].is_connected for _ in range(2)] == [True, True]

    subject.cut()
    ask(subject, "read")
    assert not table(subject).members[one].is_connected

    assert ask(subject, "renew", one)
    assert table(subject).members[one].is_connected


def test_a_free_shard_is_taken_by_its_epoch(subject: Simulated | Real) -> None:
    one = ask(subject, "join", 1, LISTENERS)
    assert ask(subject, "take", one, A, 1) is None
    assert ask(subject, "take", one, A, 0) == 1
    assert owner(subject, A) == ShardRow(one, 1)

    assert ask(subject, "take", one, A, 0) is None
    assert ask(subject, "take", one, A, 1) == 2
    assert ask(subject, "take", NOBODY, B, 0) is None


def test_a_shard_of_a_living_member_is_not_taken(subject: Simulated | Real) -> None:
    """When it is marked dead, it is."""
    one, two = ask(subject, "join", 1, LISTENERS), ask(subject, "join", 2, LISTENERS)
    assert ask(subject, "take", one, A, 0) == 1
    assert ask(subject, "take", two, A, 1) is None
    assert ask(subject, "mark_dead", one, 0)

    assert ask(subject, "take", one, B, 0) is None
    assert ask(subject, "take", two, A, 1) == 2
    assert owner(subject, A) == ShardRow(two, 2)


def test_a_gift_is_of_one_epoch_and_to_a_member_that_lives(subject: Simulated | Real) -> None:
    one, two = ask(subject, "join", 1, LISTENERS), ask(subject, "join", 2, LISTENERS)
    assert ask(subject, "take", one, A, 0) == 1
    wrong = [(one, A, 0, two), (NOBODY, A, 1, two), (one, A, 1, NOBODY), (one, B, 0, two)]
    assert [ask(subject, "give", *each) for each in wrong] == [False] * 4
    assert ask(subject, "give", one, A, 1, two)

    assert owner(subject, A) == ShardRow(two, 2)
    assert not ask(subject, "give", one, A, 1, two)


def test_whoever_is_leaving_lives(subject: Simulated | Real) -> None:
    """And everybody knows of it. A dead one does not leave."""
    one, two = ask(subject, "join", 1, LISTENERS), ask(subject, "join", 2, LISTENERS)
    assert [ask(subject, "retire", one), ask(subject, "retire", NOBODY)] == [True, False]
    found = table(subject)
    assert (found.members[one].is_leaving, found.living, found.staying) == (True, [one, two], [two])
    assert [ask(subject, "retire", one), ask(subject, "renew", one)] == [True, True]

    assert ask(subject, "leave", one)
    assert not ask(subject, "retire", one)


def test_whoever_leaves_is_dead(subject: Simulated | Real) -> None:
    one = ask(subject, "join", 1, LISTENERS)
    assert ask(subject, "leave", one)
    assert not ask(subject, "leave", one)
    assert table(subject).members[one].is_dead


def test_the_version_grows_with_owners_and_living_members(subject: Simulated | Real) -> None:
    """And with nothing else."""
    versions = [table(subject).version]

    def grows(statement: str, *arguments: object) -> Any:
        outcome = ask(subject, statement, *arguments)
        versions.append(table(subject).version)
        assert versions[-1] > versions[-2], statement
        return outcome

    def stays(statement: str, *arguments: object) -> None:
        ask(subject, statement, *arguments)
        assert table(subject).version == versions[-1], statement

    one, two = grows("join", 1, LISTENERS), grows("join", 2, LISTENERS)
    grows("take", one, A, 0)
    stays("renew", one)
    stays("take", two, A, 1)
    grows("give", one, A, 1, two)
    grows("take", two, A, 2)
    stays("retire", two)
    grows("mark_dead", two, 0)
    grows("take", one, A, 3)
    grows("leave", one)
    grows("join", 1, LISTENERS)
    grows("join", 1, LISTENERS)


def test_a_lost_answer_is_no_outcome(subject: Simulated | Real) -> None:
    """The statement may have run: the next one says what it has seen."""
    one, two = ask(subject, "join", 1, LISTENERS), ask(subject, "join", 2, LISTENERS)
    assert ask(subject, "take", one, A, 0) == 1
    table(subject)
    subject.lose_the_answer()
    assert ask(subject, "give", one, A, 1, two) is None

    if owner(subject, A).owner == one:
        assert ask(subject, "give", one, A, 1, two)
    assert owner(subject, A) == ShardRow(two, 2)


# Of the tables alone.


@pytest.fixture
def real(postgresql: PostgresqlServer) -> Iterator[Real]:
    with closing(Real(postgresql)) as opened:
        yield opened


def test_former_processes_are_forgotten_when_they_own_nothing(real: Real) -> None:
    """The version does not go back for it."""
    one = ask(real, "join", 1, LISTENERS)
    assert ask(real, "take", one, A, 0) == 1
    two, three = ask(real, "join", 1, LISTENERS), ask(real, "join", 1, LISTENERS)
    for member in (one, two):
        assert ask(real, "mark_dead", member, 0)
    before = table(real).version

    four = ask(real, "join", 1, LISTENERS)

    found = table(real)
    assert (set(found.members), found.version > before) == ({one, three, four}, True)
    assert ask(real, "renew", two) is False


def test_every_shard_of_the_configuration_has_a_row(real: Real) -> None:
    counts: dict[str, int] = {}
    for shard in table(real).shards:
        counts[shard.topic] = counts.get(shard.topic, 0) + 1

    assert counts == COUNTS


def test_a_take_ends_what_the_owner_before_has_under_way(real: Real) -> None:
    """Its epoch is no more that of the shard."""
    one = ask(real, "join", 1, LISTENERS)
    real.node.sql("UPDATE shard SET resolution = 7")
    assert ask(real, "take", one, A, 0) == 1

    assert [tuple(row) for row in real.node.sql("SELECT epoch, resolution FROM shard WHERE owner = 1")] == [(1, 0)]


def test_while_the_database_is_away_each_statement_is_tried_once(real: Real) -> None:
    one = ask(real, "join", 1, LISTENERS)
    real.node.proxy.is_away = True
    assert [ask(real, "renew", one), ask(real, "read"), ask(real, "take", one, A, 0)] == [None, None, None]
    real.node.proxy.is_away = False

    assert ask(real, "renew", one)
