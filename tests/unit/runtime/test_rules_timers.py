"""Timers of a shard, as the runtime runs them. How the queue keeps them is ``test_timers.py``."""

from __future__ import annotations

from typing import Any

import pytest
from structlog.testing import capture_logs

from coordinator_server.log.errors import Unavailable
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import CoordinatorResult
from protocol.error_codes import ErrorCode
from tests.support.runtime import ToyRuntime, toy_record

YEAR_MS = 365 * 24 * 3600 * 1000


def expiry(name: str = "expired") -> CoordinatorResult[Any]:
    return CoordinatorResult(None, [toy_record(name, 1)])


def test_a_timers_expiry_is_a_write_operation(toy: ToyRuntime) -> None:
    toy.shards[0].timer.schedule("t", 100, expiry)
    toy.pass_time(100)
    assert toy.number("expired") is None

    toy.flush()
    assert toy.number("expired") == 1


def test_no_timer_expires_before_anybody_can_be_heard(toy: ToyRuntime) -> None:
    """A session that began with a load has its whole time from then on."""
    toy.timers.hold()
    toy.shards[0].timer.schedule("session", 6_000, expiry)
    toy.pass_time(20_000)
    toy.timers.release(toy.clock.now_ms())
    toy.pass_time(5_999)
    assert dict(toy.shards[0].numbers) == {}

    toy.pass_time(1)

    assert dict(toy.shards[0].numbers) == {"expired": 1}


def test_nothing_is_told_of_a_timer_that_goes_well(toy: ToyRuntime) -> None:
    """Whether it is to be retried or not, and whether it writes or not."""
    timer = toy.shards[0].timer
    timer.schedule("writes", 100, expiry)
    timer.schedule("does not", 100, lambda: CoordinatorResult(None))
    timer.schedule("writes, or again", 100, lambda: expiry("again"), retry_ms=10)
    with capture_logs() as lines:
        toy.pass_time(100)
        toy.flush()

    assert lines == []
    assert (toy.number("expired"), toy.number("again")) == (1, 1)


def test_a_write_without_records_waits_for_the_records_of_a_timer(toy: ToyRuntime) -> None:
    toy.shards[0].timer.schedule("t", 100, expiry)
    toy.pass_time(100)

    assert not toy.write(lambda shard, reply: CoordinatorResult("seen")).is_answered


def test_an_expiry_whose_append_fails_is_taken_back(toy: ToyRuntime) -> None:
    toy.shards[0].timer.schedule("t", 100, expiry)
    toy.pass_time(100)
    toy.flush(Unavailable("disk full"))

    assert dict(toy.shards[0].numbers) == {}
    toy.pass_time(10_000)
    assert toy.flusher.is_idle


def test_a_timer_that_breaks_harms_nobody(toy: ToyRuntime) -> None:
    timer = toy.shards[0].timer
    timer.schedule("breaks", 100, lambda: 1 // 0)  # type: ignore[arg-type, return-value]
    timer.schedule("goes on", 100, expiry)
    toy.pass_time(100)
    toy.flush()

    assert toy.number("expired") == 1


def test_a_timer_whose_outcome_breaks_harms_nobody(toy: ToyRuntime) -> None:
    def break_down(error: ErrorCode | None) -> None:
        raise RuntimeError("a bug")

    timer = toy.shards[0].timer
    timer.schedule("breaks", 100, lambda: CoordinatorResult(None, on_append=break_down))
    timer.schedule("goes on", 100, expiry)
    toy.pass_time(100)
    toy.flush()

    assert toy.number("expired") == 1


def test_a_cancelled_timer_never_fires_though_it_was_due(toy: ToyRuntime) -> None:
    timer = toy.shards[0].timer

    def first() -> CoordinatorResult[Any]:
        timer.cancel("second")
        timer.schedule("third", 100, lambda: expiry("third, anew"))
        return expiry("first")

    timer.schedule("first", 100, first)
    timer.schedule("second", 100, lambda: expiry("second"))
    timer.schedule("third", 100, lambda: expiry("third, stale"))
    toy.pass_time(100)
    toy.flush()
    assert toy.store.names() == ["first"]

    toy.pass_time(100)
    toy.flush()
    assert toy.store.names() == ["first", "third, anew"]


def test_on_unload_all_timers_go_and_never_fire(toy: ToyRuntime) -> None:
    toy.shards[0].timer.schedule("t", 10, expiry)
    toy.runtime.unload(0)
    assert len(toy.timers) == 0

    toy.load(epoch=2)
    toy.pass_time(100)
    assert toy.flusher.is_idle


def test_a_timer_that_unloads_its_shard_ends_the_others(toy: ToyRuntime) -> None:
    def unload() -> CoordinatorResult[Any]:
        toy.runtime.unload(0)
        return CoordinatorResult(None)

    toy.shards[0].timer.schedule("unloads", 10, unload)
    toy.shards[0].timer.schedule("too late", 10, expiry)
    toy.pass_time(10)

    assert toy.flusher.is_idle


def test_the_timers_of_another_shard_stay(toy: ToyRuntime) -> None:
    toy.load(partition=1)
    for shard in toy.shards:
        shard.timer.schedule("t", 10, expiry)
    toy.runtime.unload(0)
    toy.pass_time(10)
    toy.flush()

    assert toy.store.names(1) == ["expired"]


def test_a_jump_of_the_wall_clock_fires_nothing(toy: ToyRuntime) -> None:
    toy.shards[0].timer.schedule("t", 100, expiry)
    for jump in (YEAR_MS, -2 * YEAR_MS):
        toy.clock.jump_wall(jump)
        toy.pass_time(0)

    assert toy.flusher.is_idle
    toy.pass_time(100)
    assert not toy.flusher.is_idle


@pytest.mark.parametrize("error", [CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND), RuntimeError("a bug")])
def test_a_timer_to_be_retried_comes_again_when_its_operation_fails(toy: ToyRuntime, error: Exception) -> None:
    attempts: list[int] = []

    def attempt() -> CoordinatorResult[Any]:
        attempts.append(toy.clock.now_ms())
        if len(attempts) < 3:
            raise error
        return expiry()

    toy.shards[0].timer.schedule("t", 100, attempt, retry_ms=500)
    for _step in range(20):
        toy.pass_time(100)
    toy.flush()

    assert [at - attempts[0] for at in attempts] == [0, 500, 1000]
    assert toy.number("expired") == 1


def test_a_timer_to_be_retried_comes_again_when_its_records_were_not_written(toy: ToyRuntime) -> None:
    heard: list[ErrorCode | None] = []
    toy.shards[0].timer.schedule(
        "t", 100, lambda: CoordinatorResult(None, [toy_record("expired", 1)], heard.append), retry_ms=500
    )
    toy.pass_time(100)
    toy.flush(Unavailable("disk full"))
    toy.pass_time(499)
    assert toy.flusher.is_idle

    toy.pass_time(1)
    toy.flush()
    assert (heard, toy.number("expired")) == ([ErrorCode.KAFKA_STORAGE_ERROR, None], 1)
    toy.pass_time(10_000)
    assert toy.flusher.is_idle


def test_a_timer_that_is_not_to_be_retried_does_not_come_again(toy: ToyRuntime) -> None:
    toy.shards[0].timer.schedule("t", 100, lambda: 1 // 0)  # type: ignore[arg-type, return-value]
    toy.pass_time(100)

    assert len(toy.timers) == 0


@pytest.mark.parametrize("is_replaced", [False, True], ids=["cancelled", "replaced"])
def test_an_expiry_that_is_being_written_does_not_come_again_once_its_key_is(toy: ToyRuntime, is_replaced: bool) -> None:
    timer = toy.shards[0].timer
    timer.schedule("t", 100, lambda: expiry("stale"), retry_ms=500)
    toy.pass_time(100)
    toy.turn()
    timer.cancel("t")
    if is_replaced:
        timer.schedule("t", 2000, lambda: expiry("anew"))
    toy.store.finish(Unavailable("disk full"))
    toy.pass_time(500)
    assert toy.flusher.is_idle

    toy.pass_time(2000)
    if is_replaced:
        toy.flush()
    assert toy.store.names() == (["anew"] if is_replaced else [])


def test_an_expiry_that_is_being_written_when_the_shard_goes_does_not_come_again(toy: ToyRuntime) -> None:
    toy.shards[0].timer.schedule("t", 100, expiry, retry_ms=500)
    toy.pass_time(100)
    toy.runtime.unload(0)

    assert len(toy.timers) == 0


def test_one_result_may_serve_many_operations(toy: ToyRuntime) -> None:
    """A retried timer adds its own duty to what the operation returned, which others may return as well."""
    nothing: CoordinatorResult[None] = CoordinatorResult(None)
    toy.shards[0].timer.schedule("retried", 100, lambda: nothing, retry_ms=500)
    toy.pass_time(100)

    assert nothing == CoordinatorResult(None)
    with pytest.raises(AttributeError):
        nothing.on_append = print  # type: ignore[misc]


def test_an_operation_that_an_unload_refuses_leaves_no_timer(toy: ToyRuntime) -> None:
    """It would be tried again and again for a shard that is gone, and keep its state in memory."""
    timer = toy.shards[0].timer

    def try_again(_error: ErrorCode | None) -> None:
        timer.schedule("again", 100, lambda: CoordinatorResult(None), retry_ms=100)

    toy.write(lambda shard, reply: CoordinatorResult("ok", [toy_record("a", 1)], try_again))
    toy.runtime.unload(0)

    assert len(toy.timers) == 0
