"""A response is parked for the deadline, and not for ever: then the client hears that the outcome is not known."""

from __future__ import annotations

from typing import Any

import pytest
from structlog.testing import capture_logs

from coordinator_server.log.errors import OutcomeUnknown
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult, Producer, Reply, RequestContext, TransactionResult
from coordinator_server.runtime.deadlines import TICKS
from protocol.error_codes import ErrorCode
from tests.support.runtime import TOPIC, Outcome, ToyRuntime, ToyShard, toy_record

DEADLINE_MS = 5000
TICK_MS = DEADLINE_MS // TICKS


@pytest.fixture
def toy() -> ToyRuntime:
    """A runtime with a deadline, and partition 0 loaded."""
    toy = ToyRuntime(deadline_ms=DEADLINE_MS)
    toy.load()
    return toy


def pass_time(toy: ToyRuntime, ms: int) -> None:
    for _ in range(ms // 100):
        toy.pass_time(100)


def test_a_log_that_does_not_answer_costs_a_client_the_deadline_and_no_more(toy: ToyRuntime) -> None:
    """It may be a fifth more. What came later waits later."""
    first = toy.put("a")
    toy.turn()
    pass_time(toy, 2000)
    second = toy.put("b")
    pass_time(toy, DEADLINE_MS - 2000 - TICK_MS)
    assert not first.is_answered
    pass_time(toy, 2 * TICK_MS)
    assert (first.error, second.is_answered) == (ErrorCode.REQUEST_TIMED_OUT, False)
    pass_time(toy, 2000)

    assert second.error == ErrorCode.REQUEST_TIMED_OUT


def test_a_refusal_that_waits_for_the_log_has_the_same_deadline(toy: ToyRuntime) -> None:
    def refuse(shard: ToyShard, reply: Any) -> CoordinatorResult[Any]:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)

    toy.put("a")
    toy.turn()
    refused = toy.write(refuse)
    pass_time(toy, DEADLINE_MS + TICK_MS)
    toy.store.finish()

    assert (refused.error, refused.answers) == (ErrorCode.REQUEST_TIMED_OUT, 1)


def test_nobody_waits_for_less_than_the_deadline(toy: ToyRuntime) -> None:
    """Not even who came just before the timer looks."""
    toy.put("a")
    toy.turn()
    pass_time(toy, TICK_MS - 100)
    outcome = toy.put("b")
    pass_time(toy, DEADLINE_MS - 100)
    assert not outcome.is_answered
    pass_time(toy, TICK_MS)

    assert outcome.error == ErrorCode.REQUEST_TIMED_OUT


def test_a_write_that_timed_out_may_still_be_written(toy: ToyRuntime) -> None:
    """Later reads say so; nobody is answered twice."""
    outcome = toy.put("a", 7)
    toy.turn()
    pass_time(toy, DEADLINE_MS + TICK_MS)
    toy.store.finish()

    assert outcome.answers == 1
    assert toy.number("a") == 7
    again = toy.put("b")
    toy.flush()
    assert again.response == "b"


def test_a_write_that_timed_out_may_be_refused(toy: ToyRuntime) -> None:
    outcome = toy.put("a", 7)
    toy.turn()
    pass_time(toy, DEADLINE_MS + TICK_MS)
    toy.store.finish(OutcomeUnknown("the connection was lost"))
    second = toy.put("b")
    pass_time(toy, DEADLINE_MS + TICK_MS)

    assert [outcome.answers, second.answers] == [1, 1]
    assert second.error == ErrorCode.REQUEST_TIMED_OUT


def test_an_unknown_outcome_has_the_same_deadline(toy: ToyRuntime) -> None:
    toy.load(partition=1)
    first = toy.put("a")
    toy.turn()
    toy.store.finish({ShardId(TOPIC, 0): OutcomeUnknown("the connection was lost")})
    for number in range(DEADLINE_MS // TICK_MS + 1):
        other = toy.put(f"{number}", partition=1)
        toy.flush()
        assert other.error is None
        pass_time(toy, TICK_MS)

    assert first.error == ErrorCode.REQUEST_TIMED_OUT
    toy.store.resolved()
    assert toy.number("a") == 1


def test_a_response_that_only_waits_behind_records_has_the_deadline(toy: ToyRuntime) -> None:
    toy.put("a")
    toy.turn()
    seen = toy.write(lambda shard, reply: CoordinatorResult("saw it"))
    pass_time(toy, DEADLINE_MS + TICK_MS)

    assert seen.error == ErrorCode.REQUEST_TIMED_OUT


def test_soft_state_hears_the_true_outcome(toy: ToyRuntime) -> None:
    """``on_append`` is called once, when it is known; a response that it sends itself has no deadline."""
    told: list[ErrorCode | None] = []

    def request(shard: ToyShard, reply: Reply[Any]) -> CoordinatorResult[Any]:
        return CoordinatorResult("done", [toy_record("a", 1)], told.append)

    def answers_itself(shard: ToyShard, reply: Reply[Any]) -> CoordinatorResult[Any]:
        return CoordinatorResult(DEFERRED, [toy_record("b", 1)], lambda error: reply.complete("itself"))

    plain, deferred = toy.write(request), toy.write(answers_itself)
    toy.turn()
    pass_time(toy, DEADLINE_MS + TICK_MS)
    assert (plain.error, deferred.is_answered, told) == (ErrorCode.REQUEST_TIMED_OUT, False, [])
    toy.store.finish()

    assert (plain.answers, deferred.response, told) == (1, "itself", [None])


def test_an_operation_refuses_in_its_own_way_those_that_wait_for_it(toy: ToyRuntime) -> None:
    """At each look from the deadline on: more of them may have come. Its outcome follows, and a refusal that breaks is logged."""
    told: list[object] = []

    def request(shard: ToyShard, reply: Reply[Any]) -> CoordinatorResult[Any]:
        def refuse() -> int:
            told.append("late")
            return 1

        return CoordinatorResult(DEFERRED, [toy_record("a", 1)], told.append, on_overdue=refuse)

    def breaks(shard: ToyShard, reply: Reply[Any]) -> CoordinatorResult[Any]:
        return CoordinatorResult(DEFERRED, [toy_record("b", 1)], told.append, on_overdue=lambda: 1 // 0)

    toy.write(breaks)
    toy.write(request)
    toy.turn()
    pass_time(toy, DEADLINE_MS - 100)
    assert told == []
    pass_time(toy, TICK_MS + 100)
    assert told == ["late"]
    pass_time(toy, TICK_MS)
    assert told == ["late", "late"]
    toy.store.finish()

    assert told == ["late", "late", None, None]


def test_what_no_client_asked_for_has_no_deadline(toy: ToyRuntime) -> None:
    """Messages of other shards are sent again when they fail; the markers of a coordinator, too."""
    ours = RequestContext("", "", -1, 0)
    message = toy.write(lambda shard, reply: CoordinatorResult("ok", [toy_record("a", 1)]), context=ours)
    marker = toy.end(Producer(1, 0), TransactionResult.COMMIT)
    toy.turn()
    pass_time(toy, 3 * DEADLINE_MS)
    assert not message.is_answered
    assert not marker.is_answered
    toy.store.finish()

    assert message.response == "ok"
    assert marker.is_answered


def test_a_marker_of_a_client_has_the_deadline(toy: ToyRuntime) -> None:
    """The transaction ends when the marker is written."""
    producer = Producer(1, 0)
    toy.put("a", 7, producer=producer)
    toy.flush()
    marker = toy.end(producer, TransactionResult.COMMIT, has_deadline=True)
    toy.turn()
    pass_time(toy, DEADLINE_MS - TICK_MS)
    assert not marker.is_answered
    pass_time(toy, 2 * TICK_MS)
    assert (marker.error, toy.number("a")) == (ErrorCode.REQUEST_TIMED_OUT, None)
    toy.store.finish()

    assert (marker.answers, toy.number("a")) == (1, 7)


def test_a_log_that_answers_has_one_timer_at_most_and_none_when_it_is_idle(toy: ToyRuntime) -> None:
    assert len(toy.timers) == 0
    for _ in range(20):
        toy.put("a")
        toy.flush()
        assert len(toy.timers) == 1
    pass_time(toy, TICK_MS)

    assert len(toy.timers) == 0


def test_a_reply_that_breaks_does_not_stop_the_others(toy: ToyRuntime) -> None:
    class Broken(Outcome):
        def fail(self, error: ErrorCode, message: str | None = None, /) -> None:
            raise RuntimeError("a bug")

    toy.answer(lambda shard, reply: CoordinatorResult("ok", [toy_record("a", 1)]), Broken())
    outcome = toy.put("b")
    toy.turn()
    pass_time(toy, DEADLINE_MS + TICK_MS)

    assert outcome.error == ErrorCode.REQUEST_TIMED_OUT


def test_the_operator_hears_once_that_the_log_does_not_answer(toy: ToyRuntime) -> None:
    with capture_logs() as lines:
        for _ in range(3):
            toy.put("a")
            toy.turn()
            pass_time(toy, DEADLINE_MS + TICK_MS)
        toy.store.finish()
        toy.flush()
        pass_time(toy, TICK_MS)
        toy.put("b")
        toy.turn()
        pass_time(toy, DEADLINE_MS + TICK_MS)

    told = [(line["shards"], line["requests"]) for line in lines if line["event"] == "log-does-not-answer"]
    assert told == [(1, 1), (1, 1)]
