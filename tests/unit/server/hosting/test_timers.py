"""LoopTimers: wakes when something is due, and notices that the process stood still."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any, cast

import pytest

from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.runtime.lease import Gate
from coordinator_server.runtime.timers import ShardTimers, TimerQueue
from coordinator_server.server.hosting.timers import FIRES_PER_TURN, TICK_MS, TURN_MS, LoopTimers
from tests.support.clock import ManualClock


class Handle:
    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback = callback
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class ManualLoop:
    """The two methods of a loop that LoopTimers calls; ``arrived`` is what the sockets deliver in a turn."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.later: list[tuple[int, Handle]] = []
        self.soon: list[Callable[[], Any]] = []
        self.arrived: list[Callable[[], None]] = []

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Handle:
        handle = Handle(callback)
        self.later.append((self.clock.now_ms() + round(seconds * 1000), handle))
        return handle

    def call_soon(self, callback: Callable[..., Any], *arguments: Any) -> None:
        self.soon.append(lambda: callback(*arguments))

    def turn(self) -> None:
        """Timers, then what was called soon, then the sockets: the order of libuv."""
        now = self.clock.now_ms()
        due = [handle for at, handle in self.later if at <= now and not handle.is_cancelled]
        self.later = [(at, handle) for at, handle in self.later if at > now and not handle.is_cancelled]
        for handle in due:
            handle.callback()
        soon, self.soon = self.soon, []
        for callback in soon:
            callback()
        arrived, self.arrived = self.arrived, []
        for callback in arrived:
            callback()

    def run(self, ms: int, turn_ms: int = 1) -> None:
        """Turn by turn, a millisecond each."""
        for _ in range(ms // turn_ms):
            self.clock.advance(turn_ms)
            self.turn()


class StoppedAfter:
    """The Clock of the timers; the process is stopped for a minute right after they have read it for the n-th time."""

    def __init__(self, clock: ManualClock, reading: int) -> None:
        self._clock = clock
        self.readings_left = reading
        self.wall_ms = clock.wall_ms

    def now_ms(self) -> int:
        now = self._clock.now_ms()
        self.readings_left -= 1
        if self.readings_left == 0:
            self._clock.advance(60_000)
        return now


class Bench:
    def __init__(self, stopped_after: int = 0) -> None:
        self.clock = ManualClock()
        self.loop = ManualLoop(self.clock)
        self.queue = TimerQueue()
        self.fired: list[tuple[str, int]] = []
        self.seen = StoppedAfter(self.clock, stopped_after)
        self.timers = ShardTimers(self.queue, self.seen, lambda timer: cast(None, timer.operation()))
        self.gate = Gate(self.clock.now_ms)
        self.driver = LoopTimers(cast(asyncio.AbstractEventLoop, self.loop), self.queue, self.seen, self.gate)
        self.driver.start()

    def schedule(self, key: str, delay_ms: int) -> None:
        def fire() -> CoordinatorResult[None]:
            self.fired.append((key, self.clock.now_ms() - 1_000_000))
            return CoordinatorResult(None)

        self.timers.schedule(key, delay_ms, fire)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_timer_fires_within_two_turns_of_its_deadline(bench: Bench) -> None:
    bench.schedule("a", 1234)
    bench.loop.run(2000)

    ((_, at),) = bench.fired
    assert 1234 <= at <= 1236


def test_a_timer_before_the_next_tick_does_not_wait_for_it(bench: Bench) -> None:
    bench.loop.run(1)
    bench.schedule("soon", 10)
    bench.loop.run(20)

    assert [key for key, _ in bench.fired] == ["soon"]


def test_what_waits_in_the_sockets_counts_before_a_session_ends(bench: Bench) -> None:
    bench.schedule("session", 300)
    bench.loop.run(299)
    bench.loop.arrived.append(lambda: bench.schedule("session", 300))
    bench.loop.run(200)

    assert bench.fired == []


def test_a_process_that_stood_still_evicts_nobody(bench: Bench) -> None:
    bench.schedule("session", 6000)
    bench.loop.run(100)
    bench.clock.advance(60_000)
    bench.loop.run(5990)
    assert bench.fired == []

    bench.loop.run(20)
    assert [key for key, _ in bench.fired] == ["session"]


def test_a_stopped_process_expires_no_live_member() -> None:
    """A stop after any reading of the clock: who heartbeats every two seconds stays, who does not is out."""
    reading, was_stopped = 0, True
    while was_stopped:
        reading += 1
        bench = Bench(stopped_after=reading)
        bench.schedule("silent", 6000)
        for _ in range(5):
            bench.schedule("alive", 6000)
            bench.schedule("soon", 700)
            bench.loop.run(2000, turn_ms=20)
        was_stopped = bench.seen.readings_left <= 0
        assert "alive" not in [key for key, _ in bench.fired], f"stopped after reading {reading}"

        bench.loop.run(2 * 6000, turn_ms=20)
        assert [key for key, _ in bench.fired if key != "soon"] == ["silent", "alive"], f"stopped after reading {reading}"
    assert reading > 50


def test_no_timer_fires_before_the_end_of_a_lease_is_known(bench: Bench) -> None:
    """Nobody has asked since: a heartbeat in the meantime would have been refused, so the session must not end."""
    lease = bench.gate.lease(lambda _: bench.fired.append(("lease", bench.clock.now_ms() - 1_000_000)))
    lease.renew(bench.clock.now_ms(), 300)
    bench.schedule("session", 280)
    bench.loop.run(300)

    assert [key for key, _ in bench.fired] == ["lease", "session"]


def test_what_becomes_due_while_the_sockets_are_read_waits_until_they_are_read_again(bench: Bench) -> None:
    """A stop too short to be noticed, between a tick and what it runs: a heartbeat that came meanwhile counts."""
    bench.schedule("first", 300)
    bench.schedule("session", 301)
    bench.loop.run(300)
    bench.clock.advance(TICK_MS - 100)
    bench.loop.arrived.append(lambda: None)
    bench.loop.arrived.append(lambda: bench.schedule("session", 300))
    bench.loop.turn()
    bench.loop.turn()

    assert [key for key, _ in bench.fired] == ["first"]


def test_an_idle_server_wakes_once_a_tick(bench: Bench) -> None:
    woken = 0
    for _ in range(10 * TICK_MS):
        bench.clock.advance(1)
        woken += any(at <= bench.clock.now_ms() and not handle.is_cancelled for at, handle in bench.loop.later)
        bench.loop.turn()

    assert woken <= 10


@pytest.mark.parametrize("is_rearmed", [False, True], ids=["never heard of again", "with heartbeats"])
def test_a_tick_costs_the_same_however_many_timers_are_armed(is_rearmed: bool) -> None:
    """The calls of functions, Python's own included, in twenty ticks: 10,000 quiet members cost what ten do."""
    counts = []
    for members in (10, 10_000):
        bench = Bench()
        for _ in range(2 if is_rearmed else 1):
            bench.loop.run(1)
            for member in range(members):
                bench.schedule(f"session-{member}", 1_800_000)
        counts.append(_calls(lambda: bench.loop.run(20 * TICK_MS)))  # noqa: B023 - called at once

    # The garbage collector may call a thing or two meanwhile; a look at each timer would be ten thousand.
    assert abs(counts[0] - counts[1]) < 100


def test_a_quiet_pass_over_deadlines_that_moved_corrects_each_once() -> None:
    """Heartbeats only note the new deadline.

    When the old ones come up, each place is corrected, and the next ticks cost nothing again.
    """
    bench = Bench()
    for member in range(1000):
        bench.schedule(f"session-{member}", 10 * TICK_MS)
    bench.loop.run(TICK_MS)
    for member in range(1000):
        bench.schedule(f"session-{member}", 10 * TICK_MS)
    bench.loop.run(8 * TICK_MS)
    pass_ = _calls(lambda: bench.loop.run(2 * TICK_MS))
    after = Bench()
    after.loop.run(TICK_MS)

    assert bench.fired == []
    assert pass_ < 30 * 1000 + 2 * _calls(lambda: after.loop.run(2 * TICK_MS))


def test_sessions_that_end_together_end_in_many_turns(bench: Bench) -> None:
    """Others are served in between, and whoever is heard of then stays."""
    for member in range(1000):
        bench.schedule(f"session-{member}", 300)
    bench.loop.run(299)
    bench.clock.advance(1)
    most = turns = 0
    while len(bench.fired) < 1000 - 1 and turns < 1000:
        before = len(bench.fired)
        if turns == 5:
            bench.loop.arrived.append(lambda: bench.schedule("session-999", 300))
        bench.loop.turn()
        most = max(most, len(bench.fired) - before)
        turns += 1

    assert most <= FIRES_PER_TURN
    assert "session-999" not in [key for key, _ in bench.fired]
    bench.loop.run(2 * TICK_MS)
    assert [key for key, _ in bench.fired] == [f"session-{member}" for member in range(1000)]
    assert len(bench.loop.later) == 1


def test_a_turn_fires_no_more_timers_than_it_has_time_for(bench: Bench) -> None:
    """Passes over all groups take longer than the end of a session."""

    def take_long() -> CoordinatorResult[None]:
        bench.fired.append(("pass", bench.clock.now_ms()))
        bench.clock.advance(TURN_MS - 1)
        return CoordinatorResult(None)

    for number in range(10):
        bench.timers.schedule(number, 300, take_long)
    bench.clock.advance(300)
    per_turn, is_over = [], False
    while not is_over:
        before = len(bench.fired)
        bench.loop.turn()
        per_turn.append(len(bench.fired) - before)
        is_over = len(bench.fired) == 10 or len(per_turn) > 20

    assert [count for count in per_turn if count] == [2] * 5


def test_a_callback_that_breaks_does_not_end_the_ticking(bench: Bench) -> None:
    def break_down() -> CoordinatorResult[None]:
        raise RuntimeError("a bug")

    bench.timers.schedule("breaks", 10, break_down)
    bench.schedule("goes on", 600)
    with pytest.raises(RuntimeError):
        bench.loop.run(20)
    bench.loop.run(1000)

    assert [key for key, _ in bench.fired] == ["goes on"]


def _calls(run: Callable[[], None]) -> int:
    count = 0

    def called(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(called)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def test_closed_timers_do_not_fire(bench: Bench) -> None:
    bench.schedule("a", 10)
    bench.driver.close()
    bench.loop.run(1000)

    assert bench.fired == []


def test_timers_that_are_closed_between_a_tick_and_what_it_runs_are_quiet(bench: Bench) -> None:
    """No tick is armed at that moment."""
    bench.schedule("a", 10)
    bench.clock.advance(10)
    bench.loop.turn()

    bench.driver.close()
    bench.loop.run(1000)

    assert bench.fired == []


def test_a_clock_that_a_program_sets_is_no_stop(bench: Bench) -> None:
    """What is due then fires, once and at once, and the ticks go on."""
    bench.schedule("session", 6000)
    bench.schedule("later", 90_000)
    bench.loop.run(100)
    bench.clock.advance(60_000)
    bench.driver.skip(60_000)
    bench.driver.run_due()
    assert bench.fired == [("session", 60_100)]
    assert bench.queue.next_due() == 1_000_000 + 90_000

    bench.loop.run(30_000)
    assert [key for key, _ in bench.fired] == ["session", "later"]


def test_a_clock_that_is_set_between_two_turns_of_a_tick_is_no_stop(bench: Bench) -> None:
    """The tick runs what is due itself, and there is one chain of ticks."""
    bench.schedule("session", 6000)
    bench.loop.run(501)
    bench.clock.advance(60_000)
    bench.driver.skip(60_000)
    bench.driver.run_due()
    assert [key for key, _ in bench.fired] == ["session"]

    bench.loop.run(2_000)
    assert len(bench.loop.later) == 1


def test_two_delays_that_are_each_below_a_tick_are_no_stop(bench: Bench) -> None:
    """Each reading of the clock is expected at the time of the one before it: the delays do not add up."""
    bench.schedule("session", 6000)
    bench.loop.run(5_990, turn_ms=10)
    bench.clock.advance(TICK_MS - 20)
    bench.loop.turn()
    bench.clock.advance(TICK_MS - 20)
    bench.loop.turn()
    bench.loop.turn()

    assert [key for key, _ in bench.fired] == ["session"]
