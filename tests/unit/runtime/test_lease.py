"""Leases: until when a process may answer for its shards, and what its shards do when it may not."""

from __future__ import annotations

from functools import partial

import pytest

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.runtime.context import ShardState
from coordinator_server.runtime.lease import Gate
from coordinator_server.runtime.timers import LEAST_DELAY_MS
from protocol.error_codes import ErrorCode
from tests.support.clock import ManualClock
from tests.support.runtime import ToyRuntime

LEASE_MS, MARGIN_MS = 10_000, 1_000
NOT_COORDINATOR = ErrorCode.NOT_COORDINATOR


class Held:
    """A gate with a lease of the shards and one of the catalog, and what was called."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.reads = 0
        self.gate = Gate(self._boot_ms)
        self.called: list[str] = []
        self.had_run_out: list[bool] = []
        self.shards = self.gate.lease(partial(self._call, "ended"), partial(self._call, "renewed"))
        self.catalog = self.gate.lease()

    def _boot_ms(self) -> int:
        self.reads += 1
        return self.clock.boot_ms()

    def _call(self, what: str, had_run_out: bool) -> None:
        self.called.append(what)
        self.had_run_out.append(had_run_out)


@pytest.fixture
def held() -> Held:
    return Held()


def test_without_a_lease_that_ends_no_clock_is_read(held: Held) -> None:
    """So it is on a machine whose shards nobody else can take."""
    held.clock.suspend(1 << 40)

    assert not held.gate.is_limited
    assert held.gate.is_open()
    assert (held.reads, held.called) == (0, [])


def test_a_lease_ends_a_margin_before_its_time(held: Held) -> None:
    """It is counted from when the request was sent, which may have been long under way."""
    sent_ms = held.clock.boot_ms()
    held.clock.advance(3_000)
    held.shards.renew(sent_ms, LEASE_MS)
    held.clock.advance(LEASE_MS - MARGIN_MS - 3_000 - 1)
    assert (held.gate.is_limited, held.gate.is_open(), held.called) == (True, True, [])

    held.clock.advance(1)

    assert not held.gate.is_open()
    assert (held.called, held.shards.is_over) == (["ended"], True)
    assert not held.gate.is_open()
    assert held.called == ["ended"]


def test_a_suspended_machine_has_spent_its_lease(held: Held) -> None:
    """The steady clock stood still."""
    held.shards.renew(held.clock.boot_ms(), LEASE_MS)
    held.clock.suspend(LEASE_MS)

    held.gate.is_open()

    assert held.called == ["ended"]


def test_a_lease_may_be_won_back(held: Held) -> None:
    held.shards.renew(held.clock.boot_ms(), LEASE_MS)
    held.clock.advance(LEASE_MS)
    held.gate.is_open()
    # The answer to an old request comes late.
    held.shards.renew(held.clock.boot_ms() - 2 * LEASE_MS, LEASE_MS)
    assert held.called == ["ended"]

    held.shards.renew(held.clock.boot_ms(), LEASE_MS)

    assert held.called == ["ended", "renewed"]
    held.clock.advance(LEASE_MS)
    held.gate.is_open()
    assert held.called == ["ended", "renewed", "ended"]


def test_who_is_called_finds_the_gate_as_the_lease_is() -> None:
    """The catalog's owner goes on with what waited for the lease if the gate is open."""
    clock, found = ManualClock(), list[bool]()
    gate = Gate(clock.boot_ms)
    lease = gate.lease(lambda _: found.append(gate.is_open()), lambda _: found.append(gate.is_open()))
    lease.renew(clock.boot_ms(), LEASE_MS)
    clock.advance(LEASE_MS)
    gate.look()

    lease.renew(clock.boot_ms(), LEASE_MS)

    assert found == [False, True]


def test_a_lease_may_be_given_back(held: Held) -> None:
    held.shards.renew(held.clock.boot_ms(), LEASE_MS)
    held.shards.end()

    assert held.called == ["ended"]


def test_it_is_said_whether_a_lease_had_run_out(held: Held) -> None:
    """A process that has none yet, or gives it back, is not in trouble."""
    held.shards.end()
    held.shards.renew(held.clock.boot_ms(), LEASE_MS)
    held.clock.advance(LEASE_MS)
    held.gate.is_open()
    held.shards.end()
    held.shards.renew(held.clock.boot_ms(), LEASE_MS)
    held.shards.end()

    assert held.called == ["ended", "renewed", "ended", "renewed", "ended"]
    assert held.had_run_out == [False, False, True, True, False]


def test_each_lease_stops_requests(held: Held) -> None:
    """But for one that is not needed: a process that has the catalog needs no lease of its replica."""
    for lease, other in ((held.shards, held.catalog), (held.catalog, held.shards)):
        other.lift()
        lease.renew(held.clock.boot_ms(), LEASE_MS)
        assert held.gate.is_open()
        held.clock.advance(LEASE_MS)
        assert not held.gate.is_open()

        lease.lift()

        assert held.gate.is_open()


@pytest.fixture
def toy() -> ToyRuntime:
    toy = ToyRuntime()
    toy.load()
    toy.put("a", 1)
    toy.flush()
    return toy


def test_a_shard_whose_lease_is_over_answers_nothing(toy: ToyRuntime) -> None:
    """Not even what needs no record; it has everything when the lease is renewed."""
    toy.runtime.suspend(True)
    outcomes = toy.put("b"), toy.write(lambda shard, reply: CoordinatorResult("empty", depends_on=0))
    with pytest.raises(CoordinatorError, match="NOT_COORDINATOR"):
        toy.number("a")
    assert [each.error for each in outcomes] == [NOT_COORDINATOR] * 2
    assert toy.state() is ShardState.SUSPENDED

    toy.runtime.suspend(False)

    assert (toy.number("a"), toy.put("b").answers) == (1, 0)


def test_a_write_in_flight_is_answered_after_the_lease(toy: ToyRuntime) -> None:
    """If the log takes it, no other process owned the shard."""
    outcome = toy.put("b", 2)
    toy.runtime.suspend(True)
    toy.flush()

    assert outcome.response == "b"


def test_a_load_that_ends_when_the_lease_is_over_serves_nobody() -> None:
    toy, heard = ToyRuntime(), list[ErrorCode]()
    toy.runtime.suspend(True)
    toy.runtime.load(0, 1, heard.append)
    toy.turn()
    assert (heard, toy.state()) == ([ErrorCode.NONE], ShardState.SUSPENDED)
    # The store says that nobody else has had it.
    toy.runtime.load(0, 2, heard.append, ours_since=1)
    assert (heard, toy.state()) == ([ErrorCode.NONE] * 2, ShardState.SUSPENDED)

    toy.runtime.suspend(False)

    assert toy.state() is ShardState.ACTIVE


def test_a_lease_that_is_won_back_restarts_sessions(toy: ToyRuntime) -> None:
    """Nobody could send a heartbeat meanwhile."""
    fired: list[int] = []

    def expire() -> CoordinatorResult[None]:
        fired.append(toy.clock.now_ms())
        return CoordinatorResult(None)

    toy.shards[-1].timer.schedule("session", 6_000, expire)
    toy.pass_time(4_000)
    toy.runtime.suspend(True)
    toy.pass_time(20_000)
    toy.pass_time(LEAST_DELAY_MS)
    assert fired == []
    toy.runtime.suspend(False)
    won_back_ms = toy.clock.now_ms()

    for _ in range(60):
        toy.pass_time(100)

    assert fired == [won_back_ms + 6_000]
