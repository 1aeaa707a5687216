"""TimerQueue and ShardTimers: the rules of CoordinatorTimer."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pytest

from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.runtime.timers import FIRE_UNITS, ShardTimers, TimerQueue
from tests.support.clock import ManualClock


class Bench:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.queue = TimerQueue()
        self.fired: list[Any] = []
        self.timers = ShardTimers(self.queue, self.clock, lambda timer: self.fired.append(timer.operation().response))

    def schedule(self, key: str, delay_ms: int) -> None:
        self.timers.schedule(key, delay_ms, lambda: CoordinatorResult(key))

    def pass_time(self, ms: int) -> list[Any]:
        self.clock.advance(ms)
        self.queue.run(self.clock.now_ms())
        fired, self.fired = self.fired, []
        return fired


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_timer_fires_once_when_its_delay_is_over(bench: Bench) -> None:
    bench.schedule("a", 100)

    assert [bench.pass_time(99), bench.pass_time(1), bench.pass_time(1000)] == [[], ["a"], []]


def test_timers_fire_in_order_of_their_deadlines(bench: Bench) -> None:
    bench.schedule("late", 200)
    bench.schedule("early", 100)

    assert bench.pass_time(300) == ["early", "late"]


def test_rescheduling_later_moves_the_deadline(bench: Bench) -> None:
    bench.schedule("a", 100)
    bench.pass_time(90)
    bench.schedule("a", 100)

    assert [bench.pass_time(99), bench.pass_time(1)] == [[], ["a"]]


def test_rescheduling_earlier_moves_the_deadline(bench: Bench) -> None:
    bench.schedule("a", 1000)
    bench.schedule("a", 10)

    assert [bench.pass_time(10), bench.pass_time(5000)] == [["a"], []]


def test_a_cancelled_timer_never_fires(bench: Bench) -> None:
    bench.schedule("a", 100)
    bench.timers.cancel("a")
    bench.timers.cancel("never there")

    assert bench.pass_time(1000) == []
    assert not bench.timers.is_scheduled("a")


def test_a_timer_scheduled_again_after_a_cancel_fires_once(bench: Bench) -> None:
    bench.schedule("a", 100)
    bench.timers.cancel("a")
    bench.schedule("a", 100)

    assert bench.pass_time(1000) == ["a"]


def test_an_operation_may_schedule_its_own_timer_again(bench: Bench) -> None:
    def again() -> CoordinatorResult[Any]:
        bench.timers.schedule("a", 100, again)
        return CoordinatorResult("again")

    bench.timers.schedule("a", 100, again)

    assert [bench.pass_time(100), bench.pass_time(99), bench.pass_time(1)] == [["again"], [], ["again"]]


def test_an_operation_may_cancel_a_timer_that_is_due_too(bench: Bench) -> None:
    def first() -> CoordinatorResult[Any]:
        bench.timers.cancel("second")
        return CoordinatorResult("first")

    bench.timers.schedule("first", 10, first)
    bench.schedule("second", 20)

    assert bench.pass_time(100) == ["first"]


def test_a_fresh_start_gives_every_armed_timer_its_whole_delay_again(bench: Bench) -> None:
    bench.schedule("a", 100)
    bench.clock.advance(5000)
    bench.queue.grant_fresh_start(bench.clock.now_ms())
    bench.clock.advance(1)
    bench.schedule("armed later", 50)

    assert [bench.pass_time(49), bench.pass_time(1), bench.pass_time(48), bench.pass_time(1)] == [[], ["armed later"], [], ["a"]]


def test_what_is_left_of_a_timer(bench: Bench) -> None:
    """Also after a fresh start, and while it is due."""
    bench.schedule("a", 100)
    bench.clock.advance(30)
    assert (bench.timers.left_ms("a"), bench.timers.left_ms("b")) == (70, None)
    bench.queue.grant_fresh_start(bench.clock.now_ms())
    assert bench.timers.left_ms("a") == 100
    bench.clock.advance(150)
    assert bench.timers.left_ms("a") == 0
    assert bench.pass_time(0) == ["a"]
    assert bench.timers.left_ms("a") is None


def test_a_jump_of_the_wall_clock_fires_nothing(bench: Bench) -> None:
    bench.schedule("a", 100)
    bench.clock.jump_wall(365 * 24 * 3600 * 1000)

    assert bench.pass_time(0) == []


def test_the_unload_of_a_shard_cancels_all_of_its_timers(bench: Bench) -> None:
    bench.schedule("a", 100)
    bench.schedule("b", 200)
    bench.timers.cancel_all()

    assert bench.pass_time(1000) == []
    assert len(bench.queue) == 0


def test_cancelled_timers_do_not_pile_up(bench: Bench) -> None:
    for turn in range(10_000):
        bench.schedule(f"member-{turn}", 3_600_000)
        bench.timers.cancel(f"member-{turn}")

    assert len(bench.queue) == 0
    assert len(bench.queue._heap) < 200


def test_whoever_waits_is_told_when_an_earlier_timer_comes(bench: Bench) -> None:
    told = []
    bench.queue.on_earlier = lambda: told.append(bench.queue.next_due())
    bench.schedule("a", 1000)
    bench.schedule("b", 2000)
    bench.schedule("c", 10)

    assert told == [1_001_000, 1_000_010]


def test_a_run_of_timers_is_bounded_and_the_next_one_goes_on(bench: Bench) -> None:
    for number in range(5):
        bench.schedule(f"session-{number}", 100 + number)
    bench.clock.advance(200)
    runs = []
    is_left = True
    while is_left:
        is_left = bench.queue.run(bench.clock.now_ms(), 2 * FIRE_UNITS)
        runs.append(len(bench.fired))

    assert runs == [2, 4, 5]
    assert bench.fired == [f"session-{number}" for number in range(5)]


def test_deadlines_that_have_moved_are_work_too(bench: Bench) -> None:
    for number in range(1000):
        bench.schedule(f"session-{number}", 100)
        bench.schedule(f"session-{number}", 300)
    bench.clock.advance(200)

    assert bench.queue.run(bench.clock.now_ms(), 999)
    assert not bench.queue.run(bench.clock.now_ms(), 2)
    assert bench.fired == []


class Listener:
    """Takes silences of a second and more."""

    least_ms = 1000

    def __init__(self) -> None:
        self.silences: list[tuple[Hashable, int]] = []
        self.is_over = False

    def note(self, key: Hashable, since_ms: int, until_ms: int, /) -> None:
        self.silences.append((key, until_ms - since_ms))

    def end(self) -> None:
        self.is_over = True


@pytest.fixture
def listener(bench: Bench) -> Listener:
    found = Listener()
    bench.timers = ShardTimers(bench.queue, bench.clock, lambda timer: None, found)
    return found


def test_who_arms_a_timer_again_was_silent_since_it_was_armed(bench: Bench, listener: Listener) -> None:
    """Also with another delay, and if the timer is cancelled. What expires is no end of a silence, nor is an earlier end."""
    bench.schedule("a", 9000)
    for ms, delay_ms in ((999, 9000), (1000, 12_000), (4000, 9000)):
        bench.pass_time(ms)
        bench.schedule("a", delay_ms)
    bench.schedule("expires", 1000)
    bench.schedule("long", 90_000)
    bench.schedule("b", 9000)
    bench.pass_time(1200)
    bench.schedule("expires", 5000)
    bench.schedule("long", 5000)
    bench.timers.cancel("b")

    assert listener.silences == [("a", 1000), ("a", 4000), ("b", 1200)]
    bench.pass_time(1500)
    bench.timers.cancel_all()
    assert sorted(listener.silences[3:]) == [("a", 2700), ("expires", 1500), ("long", 1500)]
    assert listener.is_over


def test_who_waits_for_us_is_not_silent(bench: Bench, listener: Listener) -> None:
    """From when it was heard of, until the timer is armed again. What it was before that counts."""
    bench.schedule("a", 90_000)
    bench.pass_time(2000)
    bench.timers.heard("a")
    bench.pass_time(50_000)
    bench.timers.heard("a")
    bench.pass_time(5000)
    bench.schedule("a", 90_000)
    bench.pass_time(3000)
    bench.schedule("a", 90_000)
    bench.timers.heard("nobody")

    assert listener.silences == [("a", 2000), ("a", 3000)]
