"""Ownership over many seeds: nobody answers for a shard that another node may own, and each rule of it is needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pytest

from coordinator_server.log.errors import Fenced
from coordinator_server.log.members import Member, Table
from coordinator_server.log.shards import ShardId
from coordinator_server.runtime import lease
from coordinator_server.runtime.lease import Gate
from coordinator_server.server.membership import membership
from coordinator_server.server.membership.leases import LeaseTimes, Silence
from coordinator_server.server.membership.membership import Membership
from coordinator_server.server.membership.plan import Plan, plan
from tests.simulation import memberships
from tests.simulation.__main__ import replay_command
from tests.simulation.broken_rules import must_be_seen
from tests.simulation.memberships import MembershipPlay, run, run_alone
from tests.simulation.toy_servers import ToyServer
from tests.support import shared_store
from tests.support.runtime import TOPIC
from tests.support.shared_members import Rows
from tests.support.shared_store import Database, Row, Shard

SEEDS = int(os.environ.get("SEEDS", "75")) // 5


def test_a_shard_has_one_owner() -> None:
    """And things happen: shards move between living nodes and from dead ones, leases are won back, processes found to be gone."""
    owned = moved = given = regained = answered = gone = 0
    for seed in range(SEEDS):
        play = MembershipPlay(seed, has_clients=seed % 2 == 0)
        assert not (wrong := play.run()), "\n".join([f"seed {seed}: {replay_command(seed, 'memberships')}", *wrong[:5]])
        owned, moved, regained = owned + play.owned, moved + play.moved, regained + play.regained
        given += play.given
        answered, gone = answered + play.history.answered, gone + play.gone

    assert (owned > 5 * SEEDS, moved > SEEDS, regained > SEEDS // 4, answered > 100 * SEEDS, gone > SEEDS) == (True,) * 5
    assert given > SEEDS


def test_a_seed_is_one_play() -> None:
    """To the last epoch."""

    def played(seed: int) -> object:
        play = MembershipPlay(seed)
        play.run()
        return play.owners, play.owned, play.database.statements, play.history.answered

    assert played(5) == played(5)


# What would be wrong without one of the rules.


def a_lease_counts_from_its_answer(patch: pytest.MonkeyPatch) -> None:
    renewed = Membership._renewed

    def late(self: Membership, me: Member, _sent_ms: int, outcome: bool | None) -> None:
        renewed(self, me, self._clocks.boot_ms(), outcome)

    patch.setattr(Membership, "_renewed", late)


def a_taker_hardly_waits(patch: pytest.MonkeyPatch) -> None:
    over = Silence.over

    def early(self: Silence, now_ms: int) -> Iterator[tuple[Member, int]]:
        return over(self, now_ms + self._times.lease_ms // 2)

    patch.setattr(Silence, "over", early)


def a_taker_counts_from_its_question(patch: pytest.MonkeyPatch) -> None:
    """A renewal may have come between question and answer, with a lease from then on."""
    observe = Silence.observe
    patch.setattr(Silence, "observe", lambda self, table, now_ms: observe(self, table, now_ms - 800))


def clocks_stand_still_in_a_suspended_machine(patch: pytest.MonkeyPatch) -> None:
    """CLOCK_MONOTONIC."""
    boot_ms = memberships.NodeClocks.boot_ms
    patch.setattr(memberships.NodeClocks, "boot_ms", lambda self: boot_ms(self) - self.suspended_us // 1000)


def clocks_need_no_margin(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(lease, "MARGIN_PARTS", 1 << 30)


def the_store_may_be_silent_itself(patch: pytest.MonkeyPatch) -> None:
    """Those who could not renew are taken for dead when it is back."""
    patch.setattr(LeaseTimes, "silence_ms", 1 << 60)


def whoever_is_silent_is_not_marked(patch: pytest.MonkeyPatch) -> None:
    """Its shards are taken, and when it wakes up it renews."""

    def seen_dead(self: Membership, table: Table, me: Member) -> None:
        silent = [each for each, _ in self._silence.over(self._clocks.boot_ms()) if each != me]
        members = {each: row._replace(is_dead=row.is_dead or each in silent) for each, row in table.members.items()}
        move(self, table._replace(members=members), me)

    def take(self: Rows, database: Any, member: Member, shard: ShardId, epoch: int) -> int | None:
        row = self.shards[shard]
        self.shards[shard] = row._replace(owner=None)
        return take_free(self, database, member, shard, epoch)

    move, take_free = Membership._move, Rows.take
    patch.setattr(Membership, "_move", seen_dead)
    patch.setattr(Membership, "_mark_dead", lambda *_: None)
    patch.setattr(Rows, "take", take)


def a_renewal_in_between_is_overlooked(patch: pytest.MonkeyPatch) -> None:
    """Whoever was silent is marked dead, though it has renewed since that was read."""
    mark_dead = Rows.mark_dead
    patch.setattr(Rows, "mark_dead", lambda self, member, _renewals: mark_dead(self, member, None))


def a_lost_session_alone_is_believed(patch: pytest.MonkeyPatch) -> None:
    """A node whose lock is free is taken for dead, though its listener answers."""
    heard = Membership._heard
    patch.setattr(Membership, "_heard", lambda self, member, row, _is_gone: heard(self, member, row, True))


def the_dead_go_on(patch: pytest.MonkeyPatch) -> None:
    """A node that is marked dead joins again, and keeps what it had."""

    def drop(self: Membership, _why: str) -> None:
        self.me = None

    patch.setattr(Membership, "_drop_all", drop)


def shards_are_taken_from_living_nodes(patch: pytest.MonkeyPatch) -> None:
    def greedy(table: Table, me: Member, *, takes: bool = True, without: Any = ()) -> Plan:
        return Plan([(shard, row.epoch) for shard, row in table.shards.items() if row.owner != me][:1], [])

    def take(self: Rows, database: Any, member: Member, shard: ShardId, epoch: int) -> int | None:
        if self.shards[shard].epoch == epoch:
            self.shards[shard] = self.shards[shard]._replace(owner=None)
        return take_free(self, database, member, shard, epoch)

    take_free = Rows.take
    patch.setattr(membership, "plan", greedy)
    patch.setattr(Rows, "take", take)


def clocks_may_be_anywhere(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(membership, "MOST_CLOCK_DIFFERENCE_MS", 1 << 60)


def shards_stay_where_they_are(patch: pytest.MonkeyPatch) -> None:
    def stay(table: Table, me: Member, *, takes: bool = True, without: Any = ()) -> Plan:
        return plan(table, me, takes=takes)._replace(give=[])

    patch.setattr(membership, "plan", stay)


# What clients would see.


def the_gate_is_not_looked_at(patch: pytest.MonkeyPatch) -> None:
    """A process that wakes up answers what has waited in its sockets."""
    patch.setattr(Gate, "is_open", lambda _self: True)


def a_former_owner_keeps_its_state(patch: pytest.MonkeyPatch) -> None:
    """And goes on from there when it owns the shard again, at a newer epoch."""
    patch.setattr(ToyServer, "disown", lambda _self, _shard, unloaded: unloaded())

    def own(self: ToyServer, shard: ShardId, epoch: int) -> None:
        if shard.topic == TOPIC:
            self.toy.runtime.load(shard.partition, epoch, ours_since=0)
            self._wake()

    patch.setattr(ToyServer, "own", own)


def epochs_are_not_compared(patch: pytest.MonkeyPatch) -> None:
    """The store takes what a former owner appends, as long as it fits the end of the log."""
    append = Database.append

    def lax(self: Database, rows: Iterable[Row]) -> Mapping[ShardId, Shard]:
        return append(self, [row._replace(epoch=max(row.epoch, self.shard(row.shard).epoch)) for row in rows])

    patch.setattr(Database, "append", lax)
    patch.setattr(shared_store, "_failure", lambda row, shard: None if shard.end == row.end else Fenced("it has another end"))


SEEN_BY_CLIENTS: list[tuple[Callable[[pytest.MonkeyPatch], None], int]] = [
    (the_gate_is_not_looked_at, 33),
    (a_former_owner_keeps_its_state, 0),
    (epochs_are_not_compared, 7),
]


@pytest.mark.parametrize(("mutate", "first"), SEEN_BY_CLIENTS, ids=lambda each: getattr(each, "__name__", each))
@pytest.mark.interpreted
def test_clients_see_a_broken_rule(
    monkeypatch: pytest.MonkeyPatch, mutate: Callable[[pytest.MonkeyPatch], None], first: int
) -> None:
    """No order explains what they were answered."""
    mutate(monkeypatch)
    must_be_seen(run, "no order explains", first, most=60)


MUTANTS: list[tuple[Callable[[pytest.MonkeyPatch], None], str]] = [
    (a_lease_counts_from_its_answer, "may answer"),
    (a_taker_hardly_waits, "may answer"),
    (a_taker_counts_from_its_question, "may answer"),
    (clocks_stand_still_in_a_suspended_machine, "may answer"),
    (clocks_need_no_margin, "may answer"),
    (the_store_may_be_silent_itself, "was there all the time"),
    (whoever_is_silent_is_not_marked, "may answer"),
    (a_renewal_in_between_is_overlooked, "may answer"),
    (a_lost_session_alone_is_believed, "may answer"),
    (the_dead_go_on, "may answer"),
    (shards_are_taken_from_living_nodes, "which lives"),
    (clocks_may_be_anywhere, "ms ahead"),
    (shards_stay_where_they_are, "not spread"),
]
# Few seeds show these: the first that does.
SHOWN_BY: dict[Callable[[pytest.MonkeyPatch], None], int] = {
    a_lease_counts_from_its_answer: 20,
    a_taker_counts_from_its_question: 10,
    a_renewal_in_between_is_overlooked: 43,
    clocks_may_be_anywhere: 29,
    clocks_need_no_margin: 617,
    the_store_may_be_silent_itself: 19,
}


@pytest.mark.parametrize(("mutate", "words"), MUTANTS, ids=lambda each: getattr(each, "__name__", each))
@pytest.mark.interpreted
def test_a_broken_rule_is_seen(monkeypatch: pytest.MonkeyPatch, mutate: Callable[[pytest.MonkeyPatch], None], words: str) -> None:
    """Before so many seeds have been played."""
    mutate(monkeypatch)
    must_be_seen(run_alone, words, SHOWN_BY.get(mutate, 0), most=300)
