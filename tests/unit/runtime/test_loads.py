"""LoadQueue: one load after the other, in turns that are short."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coordinator_server.runtime.context import ShardState
from coordinator_server.runtime.loads import TURN_MS, LoadQueue
from protocol.error_codes import ErrorCode
from tests.support.clock import ManualClock
from tests.support.runtime import ToyRuntime


class Bench:
    """Loads whose steps take a millisecond each."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.soon: list[Callable[[], Any]] = []
        self.queue = LoadQueue(self.soon.append, self.clock)
        self.done: list[str] = []

    def add(self, name: str, steps: int) -> None:
        left = steps

        def step() -> bool:
            nonlocal left
            self.clock.advance(1)
            self.done.append(name)
            left -= 1
            return left == 0

        self.queue.add(step)

    def turn(self) -> int:
        """How many steps were done in a turn of the loop."""
        before, soon = len(self.done), self.soon[:]
        self.soon.clear()
        for callback in soon:
            callback()
        return len(self.done) - before


def test_a_load_ends_its_turn_when_the_time_is_up() -> None:
    bench = Bench()
    bench.add("a", 2 * TURN_MS + 1)

    assert [bench.turn() for _ in range(4)] == [TURN_MS, TURN_MS, 1, 0]


def test_the_last_load_is_the_end_of_the_turns() -> None:
    """Also where the time is up with its last step."""
    bench = Bench()
    bench.add("a", TURN_MS)

    assert (bench.turn(), bench.soon) == (TURN_MS, [])


def test_loads_run_one_after_the_other() -> None:
    bench = Bench()
    bench.add("a", 3)
    bench.add("b", 3)
    while bench.turn():
        pass

    assert bench.done == ["a"] * 3 + ["b"] * 3


def test_a_load_that_comes_later_runs_too_and_so_does_one_that_another_brings() -> None:
    bench = Bench()
    bench.add("a", 1)
    bench.turn()
    bench.queue.add(lambda: bench.add("c", 2) or True)  # type: ignore[func-returns-value]
    bench.add("b", 1)
    assert len(bench.soon) == 1
    while bench.turn():
        pass

    assert bench.done == ["a", "b", "c", "c"]


def test_a_shard_answers_while_those_behind_it_load(toy: ToyRuntime) -> None:
    for partition in (1, 2):
        toy.runtime.load(partition, 1)
    toy.turn()

    assert (toy.state(1), toy.state(2)) == (ShardState.ACTIVE, ShardState.LOADING)
    assert toy.put("a", partition=1).error is None
    assert toy.put("a", partition=2).error == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    toy.turn()
    assert toy.state(2) is ShardState.ACTIVE


def test_a_shard_that_is_given_up_does_not_hold_up_those_behind_it(toy: ToyRuntime) -> None:
    for partition in (1, 2):
        toy.runtime.load(partition, 1)
    toy.runtime.unload(1)
    for _ in range(2):
        toy.turn()

    assert (toy.state(1), toy.state(2)) == (None, ShardState.ACTIVE)


def test_what_comes_after_a_load_comes_also_if_its_shard_is_given_up(toy: ToyRuntime) -> None:
    """A FindCoordinator that waits for the first load of a kind would get no answer otherwise."""
    came: list[ShardState | None] = []
    toy.runtime.load(1, 1)
    toy.runtime.after_loads(lambda: came.append(toy.state(1)))
    toy.runtime.unload(1)

    assert came == [None]


def test_what_comes_after_the_loads_waits_for_all_that_are_queued(toy: ToyRuntime) -> None:
    """And for none that come later."""
    states: list[tuple[ShardState | None, ShardState | None]] = []
    toy.runtime.after_loads(lambda: states.append((toy.state(1), toy.state(2))))
    for partition in (1, 2):
        toy.runtime.load(partition, 1)
    toy.runtime.after_loads(lambda: states.append((toy.state(1), toy.state(2))))
    toy.runtime.load(3, 1)
    toy.turn()
    before = len(states)
    toy.turn()

    assert (before, states) == (1, [(None, None), (ShardState.ACTIVE, ShardState.ACTIVE)])
    assert toy.state(3) is ShardState.LOADING
