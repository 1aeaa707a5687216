"""A client's request waits for the load of its shard at a node, and not for ever."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.log.shards import ShardId
from coordinator_server.machine.shard import CoordinatorResult, Producer, Reply, RequestContext
from coordinator_server.runtime import arrivals
from coordinator_server.runtime.context import ShardState
from protocol.error_codes import ErrorCode
from tests.support.runtime import CONTEXT, RUN, TOPIC, Outcome, ToyRuntime, ToyShard, toy_record

TIMEOUT_MS = 5000
HERE = ShardId(TOPIC, 0)
LOADING = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


@pytest.fixture
def toy() -> ToyRuntime:
    """A runtime whose partition 0 has been queued to load."""
    toy = ToyRuntime(arrivals_ms=TIMEOUT_MS)
    toy.runtime.load(0, 1)
    return toy


def test_a_request_runs_when_its_shard_is_loaded(toy: ToyRuntime) -> None:
    """Before what comes later, and in order."""
    outcomes = [toy.put("a", number) for number in (1, 2)]
    assert [each.is_answered for each in outcomes] == [False, False]

    toy.turn()
    outcomes.append(toy.put("a", 3))
    toy.flush()

    assert [each.response for each in outcomes] == ["a", "a", "a"]
    assert toy.store.names() == ["a", "a", "a"]
    assert toy.number("a") == 3
    toy.pass_time(2 * TIMEOUT_MS)
    assert [each.answers for each in outcomes] == [1, 1, 1]


def test_a_request_waits_no_longer_than_its_time(toy: ToyRuntime) -> None:
    """It is not run after that. One that came later waits later."""
    first = toy.put("a")
    toy.pass_time(TIMEOUT_MS - 1)
    second = toy.put("b")
    assert not first.is_answered
    toy.pass_time(1)
    assert (first.error, second.is_answered) == (LOADING, False)
    toy.pass_time(TIMEOUT_MS - 1)
    assert second.error == LOADING

    toy.turn()

    assert (toy.state(), toy.store.names(), first.answers, second.answers) == (ShardState.ACTIVE, [], 1, 1)


def test_the_time_of_those_behind_is_not_that_of_one_that_has_run(toy: ToyRuntime) -> None:
    toy.put("a")
    toy.pass_time(1000)
    toy.turn()
    toy.runtime.load(1, 1)
    outcome = toy.put("b", partition=1)
    toy.pass_time(TIMEOUT_MS - 1)
    assert not outcome.is_answered

    toy.pass_time(1)

    assert outcome.error == LOADING


def test_a_request_is_refused_when_its_shard_leaves(toy: ToyRuntime) -> None:
    outcome = toy.put("a")
    toy.runtime.unload(0)

    assert outcome.error == ErrorCode.NOT_COORDINATOR


def test_a_request_waits_for_the_load_that_replaces_the_first(toy: ToyRuntime) -> None:
    outcome = toy.put("a")
    toy.runtime.load(0, 2)
    for _ in range(2):
        toy.turn()
    toy.flush()

    assert outcome.response == "a"


def test_a_request_is_not_run_when_the_lease_is_over(toy: ToyRuntime) -> None:
    """Another node may own the shard. A pass over the connection would have looked."""
    lease = toy.gate.lease(lambda _: toy.runtime.suspend(True))
    lease.renew(toy.clock.boot_ms(), 1000)
    outcome = Outcome()
    toy.answer(lambda shard, reply: CoordinatorResult("beat"), outcome)
    toy.clock.advance(1000)
    toy.turn()

    assert (outcome.error, outcome.answers) == (ErrorCode.NOT_COORDINATOR, 1)


@pytest.mark.parametrize("api_key", [-1, 8])
def test_a_message_of_another_shard_does_not_wait(toy: ToyRuntime, api_key: int) -> None:
    """Its sender may have heard that it failed, and must not find later that it has run."""

    def put(shard: ToyShard, reply: Reply[Any]) -> CoordinatorResult[Any]:
        return CoordinatorResult("ok", [toy_record("a", 1)])

    outcome = toy.write(put, context=RequestContext("c", "h", api_key, 0))

    assert outcome.error == (LOADING if api_key < 0 else None)


def test_what_belongs_to_a_transaction_does_not_wait() -> None:
    """Its claim is of the shard as it was."""
    toy = ToyRuntime(arrivals_ms=TIMEOUT_MS)
    toy.load()
    claim = toy.claim(Producer(7, 1))
    toy.runtime.load(0, 2)
    outcome = Outcome()
    toy.runtime.write(0, RUN, CONTEXT, lambda shard, reply: CoordinatorResult("ok", [toy_record("a", 1)]), outcome, claim)

    assert outcome.error == LOADING


def test_only_so_many_wait(toy: ToyRuntime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "MOST_WAITING", 2)
    outcomes = [toy.put("a") for _ in range(3)]

    assert [each.error for each in outcomes] == [None, None, LOADING]


@pytest.fixture
def early() -> ToyRuntime:
    """A runtime without a partition, which expects partition 0."""
    toy = ToyRuntime(arrivals_ms=TIMEOUT_MS)
    toy.arrivals.expect([HERE])
    return toy


def test_a_request_waits_for_a_shard_that_is_on_its_way(early: ToyRuntime) -> None:
    """And then for its load."""
    outcome = early.put("a")
    early.runtime.load(0, 1)
    early.arrivals.came(HERE)
    assert not outcome.is_answered

    early.turn()
    early.flush()

    assert outcome.response == "a"


def test_a_shard_that_does_not_come_is_expected_for_a_while(early: ToyRuntime) -> None:
    """A request that has been answered does not run if the shard comes late."""
    outcome = early.put("a")
    early.pass_time(TIMEOUT_MS)
    assert (outcome.error, early.put("b").error) == (ErrorCode.NOT_COORDINATOR, ErrorCode.NOT_COORDINATOR)

    early.load()
    early.arrivals.came(HERE)

    assert (outcome.answers, early.has_to_turn) == (1, False)


def test_what_waits_for_a_shard_that_another_node_has_got_asks_there(early: ToyRuntime) -> None:
    """Others, and other partitions, are refused at once."""
    assert early.put("a", partition=1).error == ErrorCode.NOT_COORDINATOR
    outcome = early.put("a")
    early.arrivals.came(HERE)

    assert outcome.error == ErrorCode.NOT_COORDINATOR
