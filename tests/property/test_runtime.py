"""Any sequence of operations, disk failures, timers, loads and unloads keeps what the runtime promises.

1. Every operation is answered exactly once.
2. What was acknowledged is in the log; what was refused is not, but perhaps for what a shard had submitted when it was given up.
3. A read sees what the durable log replays to, no more and no less, at every step.
4. In the end the present state is that as well.
5. Answers of one shard leave in the order of their operations, unless they are refusals.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from coordinator_server.log.errors import Unavailable
from coordinator_server.machine.shard import CoordinatorResult, Producer, TransactionResult
from coordinator_server.runtime.context import ShardState
from coordinator_server.runtime.producers import EndOfTransaction
from protocol.error_codes import ErrorCode
from tests.support.runtime import Outcome, ToyRuntime, ToyShard, toy_record

PRODUCERS = (Producer(1, 0), Producer(2, 0))
LINGER_MS = 5
BATCH_BYTES = 400
EXAMPLES = int(os.environ.get("RUNTIME_EXAMPLES", "150"))

NAMES = st.sampled_from("abcd")
BY = st.sampled_from([None, None, None, *PRODUCERS])
KINDS: list[st.SearchStrategy[tuple[Any, ...]]] = [
    st.tuples(st.just("put"), NAMES, BY),
    st.tuples(st.just("delete"), NAMES, BY),
    st.tuples(st.just("put_several"), st.lists(NAMES, min_size=2, max_size=4), st.booleans()),
    st.tuples(st.just("put_too_much"), BY),
    st.tuples(st.just("break_replay"), NAMES, BY),
    st.tuples(st.just("ask")),
    st.tuples(st.just("end"), st.sampled_from(PRODUCERS), st.sampled_from(TransactionResult)),
    st.tuples(st.just("schedule"), NAMES, st.integers(1, 8)),
    st.tuples(st.just("pass_time"), st.integers(1, 8)),
    st.tuples(st.just("turn")),
    st.tuples(st.just("turn")),
    st.tuples(st.just("disk_is_done")),
    st.tuples(st.just("disk_is_done")),
    st.tuples(st.just("disk_refuses")),
    st.tuples(st.just("unload")),
    st.tuples(st.just("load")),
]
STEPS = st.lists(st.sampled_from(KINDS).flatmap(lambda kind: kind), min_size=5, max_size=60)


class Asked(Outcome):
    """An operation that writes numbers nobody else writes, and when it was answered."""

    def __init__(self, world: World, numbers: list[int]) -> None:
        super().__init__()
        self._world = world
        self.numbers = numbers

    def complete(self, response: Any, /) -> None:
        super().complete(response)
        self._world.completed.append(self)


class World:
    """A runtime, and all that was asked of it."""

    def __init__(self, append_linger_ms: int) -> None:
        self.toy = ToyRuntime(max_batch_bytes=BATCH_BYTES, append_linger_ms=append_linger_ms)
        self.toy.load()
        self.asked: list[Asked] = []
        self.completed: list[Asked] = []
        self.split: set[int] = set()
        self._epoch = 1
        self._number = 0

    def number(self) -> int:
        self._number += 1
        return self._number

    def step(self, what: str, *args: Any) -> None:
        """One row of STEPS."""
        getattr(self, what)(*args)

    def put(self, name: str, by: Producer | None) -> None:
        self._write([(name, self.number())], by)

    def delete(self, name: str, by: Producer | None) -> None:
        self._write([(name, None)], by)

    def put_several(self, names: list[str], is_atomic: bool) -> None:
        self._write([(name, self.number()) for name in names], None, is_atomic)

    def put_too_much(self, by: Producer | None) -> None:
        self._write([("x" * BATCH_BYTES, self.number())], by)

    def break_replay(self, name: str, by: Producer | None) -> None:
        self._write([(name, self.number()), ("poison", self.number())], by)

    def ask(self) -> None:
        self._write([], None)

    def end(self, by: Producer, result: TransactionResult) -> None:
        self.toy.runtime.complete_transaction(0, EndOfTransaction(by, result, 1, 0), self._asked([]))

    def schedule(self, name: str, delay_ms: int) -> None:
        if self.toy.state() is ShardState.ACTIVE:
            expiry: CoordinatorResult[Any] = CoordinatorResult(None, [toy_record(name, self.number())])
            self.toy.shards[-1].timer.schedule(name, delay_ms, lambda: expiry)

    def pass_time(self, ms: int) -> None:
        self.toy.pass_time(ms)

    def turn(self) -> None:
        self.toy.turn()

    def disk_is_done(self) -> None:
        if self.toy.store.open is not None:
            self.toy.store.finish()

    def disk_refuses(self) -> None:
        if self.toy.store.open is not None:
            self.toy.store.finish(Unavailable("disk full"))

    def unload(self) -> None:
        self.toy.runtime.unload(0)

    def load(self) -> None:
        self._epoch += 1
        self.toy.runtime.load(0, self._epoch)

    def settle(self) -> None:
        """Everything that is under way comes to its end."""
        for _ in range(10):
            self.toy.pass_time(LINGER_MS)
            self.toy.turn()
            self.disk_is_done()

    def check(self) -> None:
        """What holds at every step."""
        assert all(outcome.answers <= 1 for outcome in self.asked)
        if self.toy.state() is ShardState.ACTIVE:
            assert self.toy.runtime.read(0, committed) == self.replayed()

    def replayed(self) -> tuple[dict[str, int], dict[int, Any]]:
        """What the durable log says."""
        after = ToyRuntime(store=self.toy.store)
        after.load()
        return after.runtime.read(0, committed)

    def _asked(self, numbers: list[int]) -> Asked:
        self.asked.append(Asked(self, numbers))
        return self.asked[-1]

    def _write(self, puts: list[tuple[str, int | None]], by: Producer | None, is_atomic: bool = True) -> None:
        numbers = [number for _, number in puts if number is not None]
        if not is_atomic:
            self.split.update(numbers)
        records = [toy_record(name, number) for name, number in puts]
        outcome = self._asked(numbers)
        request = lambda shard, reply: CoordinatorResult("ok", records, is_atomic=is_atomic)  # noqa: E731
        self.toy.answer(request, outcome, by)


def committed(shard: ToyShard, high_watermark: int) -> tuple[dict[str, int], dict[int, Any]]:
    return dict(shard.numbers.items_at(high_watermark)), dict(shard.open.items_at(high_watermark))


@pytest.mark.parametrize("append_linger_ms", [-1, 0, LINGER_MS])
@settings(max_examples=EXAMPLES, deadline=None)
@given(steps=STEPS)
def test_the_runtime_keeps_its_promises(append_linger_ms: int, steps: list[tuple[Any, ...]]) -> None:
    with capture_logs():
        world = World(append_linger_ms)
        for step in steps:
            world.step(*step)
            world.check()
        world.settle()
        world.check()

    assert [outcome.answers for outcome in world.asked] == [1] * len(world.asked)
    logged = {int(record.value) for record in world.toy.store.records() if record.value and record.value.isdigit()}
    for outcome in world.asked:
        if outcome.error is None:
            assert logged.issuperset(outcome.numbers)
        elif outcome.error is not ErrorCode.NOT_COORDINATOR:
            assert logged.isdisjoint(set(outcome.numbers) - world.split)
    order = {id(outcome): place for place, outcome in enumerate(world.asked)}
    places = [order[id(outcome)] for outcome in world.completed]
    assert places == sorted(places)
    if world.toy.state() is ShardState.ACTIVE:
        shard = world.toy.shards[-1]
        assert (dict(shard.numbers), dict(shard.open)) == world.replayed()
        assert world.toy.flusher.is_idle
