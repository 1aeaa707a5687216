"""Batching: what shares a batch, what shares a submit, and what is never split."""

from __future__ import annotations

import pytest

from coordinator_server.log.errors import Unavailable
from coordinator_server.machine.shard import CoordinatorResult, Producer
from protocol.error_codes import ErrorCode
from tests.support.runtime import Outcome, ToyRuntime, toy_record


def small(append_linger_ms: int = -1) -> ToyRuntime:
    """A runtime with batches of a thousand bytes."""
    toy = ToyRuntime(max_batch_bytes=1000, append_linger_ms=append_linger_ms)
    toy.load()
    return toy


def test_the_operations_of_a_turn_share_a_batch(toy: ToyRuntime) -> None:
    for name in "abc":
        toy.put(name)
    toy.flush()

    assert toy.store.batches() == [["a", "b", "c"]]


def test_the_batches_of_all_shards_are_one_submit(toy: ToyRuntime) -> None:
    toy.load(partition=1)
    toy.put("a")
    toy.put("b", partition=1)
    toy.put("c")
    toy.flush()

    assert [[shard.partition for shard in submit] for submit in toy.store.submits] == [[0, 1]]
    assert (toy.store.names(0), toy.store.names(1)) == (["a", "c"], ["b"])


def test_what_arrives_during_a_submit_is_the_next_one(toy: ToyRuntime) -> None:
    first = toy.put("a")
    toy.turn()
    second, third = toy.put("b"), toy.put("c")
    toy.turn()
    assert len(toy.store.submits) == 1

    toy.store.finish()
    assert [outcome.answers for outcome in (first, second, third)] == [1, 0, 0]
    toy.store.finish()
    assert [outcome.answers for outcome in (first, second, third)] == [1, 1, 1]
    assert toy.store.batches() == [["a"], ["b", "c"]]


def test_a_disk_that_is_done_at_once_changes_no_order(toy: ToyRuntime) -> None:
    heard: list[str] = []

    def put(name: str) -> Outcome:
        return toy.write(lambda shard, reply: CoordinatorResult(name, [toy_record(name, 1)], lambda error: heard.append(name)))

    outcomes = [put("a")]
    toy.turn()
    outcomes += [put("b"), put("c")]
    toy.store.is_instant = True
    toy.store.finish()

    assert heard == ["a", "b", "c"]
    assert [outcome.answers for outcome in outcomes] == [1, 1, 1]
    assert toy.flusher.is_idle


def test_a_batch_that_is_full_is_followed_by_another() -> None:
    toy = small()
    for number in range(20):
        toy.put(f"{number:02d}" + "x" * 98)
    toy.flush()

    assert len(toy.store.submits) == 1
    assert len(toy.store.batches()) > 1
    assert [name[:2] for name in toy.store.names()] == [f"{number:02d}" for number in range(20)]
    assert all(header.size <= 1000 for header in toy.store.headers())


def test_an_operation_is_never_split_over_two_batches() -> None:
    toy = small()
    for turn in range(4):
        toy.put_all([f"{turn}{n}" + "x" * 100 for n in range(4)])
    toy.flush()

    assert [[name[0] for name in batch] for batch in toy.store.batches()] == [[str(turn)] * 4 for turn in range(4)]


def test_records_too_large_for_any_batch_are_refused_and_nothing_is_kept() -> None:
    toy = small()
    before = toy.put("before")
    heard: list[ErrorCode | None] = []
    outcome = toy.write(
        lambda shard, reply: CoordinatorResult("no", [toy_record("x" * 100 + str(n), 1) for n in range(10)], heard.append)
    )

    assert (outcome.error, heard) == (ErrorCode.MESSAGE_TOO_LARGE, [ErrorCode.MESSAGE_TOO_LARGE])
    assert dict(toy.shards[0].numbers) == {"before": 1}
    toy.put("after")
    toy.flush()
    assert before.response == "before"
    assert toy.store.batches() == [["before", "after"]]


def test_records_that_stand_alone_may_be_split_over_batches() -> None:
    toy = small()
    records = [toy_record(f"{n:02d}" + "x" * 100, 1) for n in range(20)]
    outcome = toy.write(lambda shard, reply: CoordinatorResult("ok", records, is_atomic=False))
    toy.turn()
    assert not outcome.is_answered

    toy.store.finish()
    assert outcome.response == "ok"
    assert len(toy.store.batches()) > 1
    assert len(toy.store.names()) == 20


def test_of_records_that_stand_alone_those_before_one_too_large_stay() -> None:
    toy = small()
    records = [toy_record("a", 1), toy_record("x" * 2000, 1), toy_record("b", 1)]
    outcome = toy.write(lambda shard, reply: CoordinatorResult("no", records, is_atomic=False))
    toy.flush()

    assert (outcome.error, outcome.answers) == (ErrorCode.MESSAGE_TOO_LARGE, 1)
    assert (toy.store.names(), toy.number("a")) == (["a"], 1)


def test_of_records_that_stand_alone_a_replay_that_breaks_takes_back_the_open_batch_only() -> None:
    toy = small()
    records = [toy_record(f"{n}" + "x" * 400, 1) for n in range(3)]
    outcome = toy.write(lambda shard, reply: CoordinatorResult("no", [*records, toy_record("poison", 1)], is_atomic=False))
    toy.flush()

    assert (outcome.error, outcome.answers) == (ErrorCode.UNKNOWN_SERVER_ERROR, 1)
    assert [name[0] for name in toy.store.names()] == ["0", "1"]
    assert sorted(name[0] for name in toy.shards[0].numbers) == ["0", "1"]


def test_an_operation_whose_first_record_breaks_leaves_no_empty_batch(toy: ToyRuntime) -> None:
    toy.put("poison")
    toy.turn()
    assert toy.store.open is None
    assert toy.flusher.is_idle

    toy.put("next")
    toy.flush()
    assert toy.store.batches() == [["next"]]


def test_without_linger_each_operation_is_a_batch_that_goes_out_at_once() -> None:
    toy = small(append_linger_ms=0)
    first = toy.put("a")
    assert len(toy.store.submits) == 1
    toy.put_all(["b", "c"])
    toy.put("d")

    toy.store.finish()
    assert first.response == "a"
    toy.store.finish()
    assert toy.store.batches() == [["a"], ["b", "c"], ["d"]]
    assert toy.flusher.is_idle


def test_without_linger_a_disk_that_is_done_at_once_answers_before_write_returns() -> None:
    toy = small(append_linger_ms=0)
    toy.store.is_instant = True

    assert toy.put("a").response == "a"


def test_a_batch_lingers_from_its_first_operation_on() -> None:
    toy = small(append_linger_ms=10)
    toy.put("a")
    toy.pass_time(9)
    toy.turn()
    toy.put("b")
    toy.turn()
    assert toy.store.submits == []

    toy.pass_time(1)
    toy.flush()
    assert toy.store.batches() == [["a", "b"]]
    toy.put("c")
    toy.pass_time(9)
    toy.turn()
    assert len(toy.store.submits) == 1
    toy.pass_time(1)
    toy.flush()
    assert toy.store.names() == ["a", "b", "c"]


def test_a_full_batch_does_not_linger() -> None:
    toy = small(append_linger_ms=10)
    for number in range(10):
        toy.put(f"{number}" + "x" * 150)
    toy.flush()

    assert len(toy.store.names()) == 10


def test_a_transactional_batch_does_not_linger() -> None:
    toy = small(append_linger_ms=10)
    toy.put("a", producer=Producer(1, 0))
    toy.flush()

    assert toy.store.names() == ["a"]


def test_the_end_does_not_wait_for_what_lingers() -> None:
    toy = small(append_linger_ms=10_000)
    outcome = toy.put("a")
    ended: list[bool] = []
    toy.flusher.when_idle(lambda: ended.append(True))
    assert ended == []

    toy.flush()
    assert (outcome.response, ended) == ("a", [True])


def test_an_unload_refuses_what_lingers_and_no_timer_is_left() -> None:
    toy = small(append_linger_ms=10)
    outcome = toy.put("a")
    toy.runtime.unload(0)

    assert outcome.error == ErrorCode.NOT_COORDINATOR
    assert (len(toy.timers), toy.flusher.is_idle) == (0, True)


def test_a_batch_that_lingers_while_its_shard_is_reverted_fails_with_the_rest() -> None:
    toy = small(append_linger_ms=10)
    first = toy.put("a")
    toy.pass_time(10)
    toy.turn()
    second = toy.put("b")
    toy.store.finish(Unavailable("disk full"))
    assert (first.error, second.error) == (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.KAFKA_STORAGE_ERROR)

    toy.pass_time(10)
    toy.turn()
    assert toy.flusher.is_idle
    third = toy.put("c")
    toy.pass_time(10)
    toy.flush()
    assert (third.response, toy.store.names()) == ("c", ["c"])


@pytest.mark.parametrize("append_linger_ms", [-1, 0, 10])
def test_no_linger_loses_or_reorders_anything(append_linger_ms: int) -> None:
    toy = small(append_linger_ms=append_linger_ms)
    toy.store.is_instant = True
    outcomes = []
    for number in range(100):
        outcomes.append(toy.put(f"{number:02d}" + "x" * (number % 7 * 30)))
        if number % 3 == 0:
            toy.pass_time(4)
            toy.turn()
    toy.pass_time(10)
    toy.turn()

    assert [outcome.answers for outcome in outcomes] == [1] * 100
    assert [name[:2] for name in toy.store.names()] == [f"{number:02d}" for number in range(100)]


def test_a_turn_submits_one_batch(toy: ToyRuntime) -> None:
    """However many operations it has; and not at all while something is being written."""
    toy.put("a")
    toy.put("b")
    assert len(toy._soon) == 1
    toy.turn()
    toy.put("c")
    assert toy._soon == []
