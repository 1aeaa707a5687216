"""Write operations: replayed at once, answered when durable."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.log.errors import Unavailable
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult
from coordinator_server.runtime.gather import Refused
from protocol.error_codes import ErrorCode
from tests.support.runtime import Outcome, ToyRuntime, ToyShard, toy_record


def test_a_response_is_parked_until_its_records_are_durable(toy: ToyRuntime) -> None:
    outcome = toy.put("a")
    toy.turn()
    assert not outcome.is_answered

    toy.store.finish()
    assert outcome.response == "a"
    assert toy.store.names() == ["a"]


def test_a_write_sees_what_is_not_durable_yet(toy: ToyRuntime) -> None:
    toy.put("a", 7)
    seen = toy.write(lambda shard, reply: CoordinatorResult(dict(shard.numbers), depends_on=0))

    assert seen.response == {"a": 7}


def test_a_write_without_records_waits_for_the_highest_pending_write_of_its_shard(toy: ToyRuntime) -> None:
    toy.put("a")
    toy.turn()
    toy.put("b")
    outcome = toy.write(lambda shard, reply: CoordinatorResult("seen"))

    toy.store.finish()
    assert not outcome.is_answered
    toy.store.finish()
    assert outcome.response == "seen"


def test_a_write_without_records_does_not_wait_for_another_shard(toy: ToyRuntime) -> None:
    toy.load(partition=1)
    toy.put("a")

    assert toy.write(lambda shard, reply: CoordinatorResult("seen"), partition=1).response == "seen"


def test_a_write_without_records_completes_at_once_when_nothing_is_pending(toy: ToyRuntime) -> None:
    assert toy.write(lambda shard, reply: CoordinatorResult("seen")).response == "seen"


def test_an_answer_waits_for_no_more_than_it_depends_on(toy: ToyRuntime) -> None:
    toy.put("a")
    toy.turn()
    toy.put("b")
    outcome = toy.write(lambda shard, reply: CoordinatorResult("after a", depends_on=1))
    assert not outcome.is_answered

    toy.store.finish()
    assert outcome.response == "after a"


def test_responses_leave_in_the_order_of_their_offsets(toy: ToyRuntime) -> None:
    heard: list[str] = []

    def put(name: str, depends_on: int | None = None) -> None:
        records = [toy_record(name, 1)] if depends_on is None else []
        toy.write(lambda shard, reply: CoordinatorResult(name, records, lambda error: heard.append(name), depends_on))

    put("a")
    put("b")
    put("after a", depends_on=1)
    put("c")
    toy.flush()

    assert heard == ["a", "after a", "b", "c"]


def test_an_operation_that_throws_leaves_no_trace(toy: ToyRuntime) -> None:
    def refuse(shard: ToyShard, reply: Any) -> CoordinatorResult[Any]:
        raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)

    outcome = toy.write(refuse)

    assert outcome.error == ErrorCode.ILLEGAL_GENERATION
    assert dict(toy.shards[0].numbers) == {}
    assert toy.flusher.is_idle


def test_a_refusal_waits_for_what_the_operation_has_seen(toy: ToyRuntime) -> None:
    """It is about that state, which may not be written."""
    pending = toy.put("a")

    def refuse(shard: ToyShard, reply: Any) -> CoordinatorResult[Any]:
        raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION, "why")

    refused = toy.write(refuse)
    toy.turn()
    assert not refused.is_answered
    toy.store.finish()

    assert (pending.error, refused.error, refused.message) == (None, ErrorCode.ILLEGAL_GENERATION, "why")


def test_soft_state_hears_of_the_outcome_before_the_response_leaves(toy: ToyRuntime) -> None:
    order: list[Any] = []

    class Told(Outcome):
        def complete(self, response: Any, /) -> None:
            order.append(response)

    result = CoordinatorResult("response", [toy_record("a", 1)], order.append)
    outcome = Told()
    toy.answer(lambda shard, reply: result, outcome)
    toy.flush()

    assert order == [None, "response"]


def test_soft_state_hears_which_error_the_log_had(toy: ToyRuntime) -> None:
    heard: list[Any] = []
    toy.write(lambda shard, reply: CoordinatorResult("no", [toy_record("c", 1)], heard.append))
    toy.flush(Unavailable("disk full"))

    assert heard == [ErrorCode.KAFKA_STORAGE_ERROR]


def test_a_deferred_response_is_the_operations_own_to_give(toy: ToyRuntime) -> None:
    outcome = Outcome()

    def answer_on_append(shard: ToyShard, reply: Any) -> CoordinatorResult[Any]:
        return CoordinatorResult(DEFERRED, [toy_record("a", 1)], outcome.complete)

    given = toy.write(answer_on_append)
    toy.flush()

    assert outcome.answers == 1
    assert not given.is_answered


def test_a_response_that_breaks_costs_the_others_nothing(toy: ToyRuntime) -> None:
    def break_down(error: ErrorCode | None) -> None:
        raise RuntimeError("a bug")

    toy.write(lambda shard, reply: CoordinatorResult("broken", [toy_record("a", 1)], break_down))
    other = toy.put("b")
    toy.flush()

    assert other.response == "b"
    assert toy.number("b") == 1


def test_write_all_gathers_each_shards_outcome_when_it_is_durable(toy: ToyRuntime) -> None:
    toy.load(partition=1)
    gathered = toy.write_all(lambda shard, reply: CoordinatorResult(shard.partition, [toy_record("a", 1)]))
    toy.turn()
    assert gathered == []

    toy.store.finish()
    assert gathered == [[0, 1]]


def test_write_all_waits_for_the_last_shard(toy: ToyRuntime) -> None:
    toy.load(partition=1)
    toy.put("busy", partition=1)
    toy.turn()
    gathered = toy.write_all(
        lambda shard, reply: CoordinatorResult(shard.partition, [toy_record("a", 1)] if shard.partition else [])
    )
    toy.store.finish()
    assert gathered == []

    toy.store.finish()
    assert gathered == [[0, 1]]


def test_in_write_all_one_shard_that_fails_hides_no_other(toy: ToyRuntime) -> None:
    toy.load(partition=1)
    toy.load(partition=2)
    toy.runtime.load(3, 1)

    def run(shard: ToyShard, reply: Any) -> CoordinatorResult[Any]:
        if shard.partition == 1:
            raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND)
        if shard.partition == 2:
            raise RuntimeError("a bug")
        return CoordinatorResult("ok", [toy_record("a", 1)])

    gathered = toy.write_all(run)
    toy.flush()

    refused = [ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS]
    assert gathered == [["ok", *map(Refused, refused)]]


def test_in_write_all_a_shard_that_is_unloaded_meanwhile_has_an_answer_too(toy: ToyRuntime) -> None:
    toy.load(partition=1)
    gathered = toy.write_all(lambda shard, reply: CoordinatorResult("ok", [toy_record("a", 1)]))
    toy.runtime.unload(1)
    toy.flush()

    assert gathered == [["ok", Refused(ErrorCode.NOT_COORDINATOR)]]


def test_write_all_without_shards_is_done_at_once() -> None:
    assert ToyRuntime().write_all(lambda shard, reply: CoordinatorResult("ok")) == [[]]


@pytest.mark.parametrize("depends_on", [None, 0])
def test_an_operation_without_records_hears_its_outcome_too(toy: ToyRuntime, depends_on: int | None) -> None:
    heard: list[Any] = []
    toy.write(lambda shard, reply: CoordinatorResult("ok", (), heard.append, depends_on))

    assert heard == [None]
