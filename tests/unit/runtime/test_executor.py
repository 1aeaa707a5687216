"""Tasks of shards, as a loop has a child run them."""

from __future__ import annotations

from typing import Any

import pytest
from structlog.testing import capture_logs

from coordinator_server.log.errors import Unavailable
from coordinator_server.machine.executor import CoordinatorExecutor, Failed
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.runtime.executor import LEAST_BACKOFF_MS, MOST_BACKOFF_MS, RETRY_MS, Done
from protocol.record_batch import iter_batches, iter_records
from tests.support.purses import PurseLoop
from tests.toy.purse import ADD_UP, SERDE, TOPIC, Contents, PurseShard, Summed
from tests.toy.purse_records import SumKey, SumValue

FULL = Unavailable("disk full")


@pytest.fixture
def loop() -> PurseLoop:
    """One shard, which has said how much it has."""
    loop = PurseLoop()
    loop.load(0)
    loop.run()
    return loop


def summed(loop: PurseLoop) -> int | None:
    value = loop.runtime.read(0, PurseShard.summed)
    return None if value is None else value.amount


def executor_of(loop: PurseLoop) -> CoordinatorExecutor:
    return loop.runtime._contexts[0].shard._executor


def heard(into: list[Any], outcome: Summed | Failed) -> CoordinatorResult[None]:
    into.append(outcome)
    return CoordinatorResult(None)


def test_a_result_is_a_write_operation(loop: PurseLoop) -> None:
    """Its records are in the log with all others', encoded by the child, and say whose they are."""
    loop.fill("a", 30)
    assert summed(loop) == 0
    loop.compute()
    loop.flush()
    assert summed(loop) == 30

    *_, last = [
        record
        for batch in loop.store.logs[loop.locate(TOPIC, 0)]
        for position, header in iter_batches(batch)
        for record in iter_records(batch, position, header)
    ]
    decoded = SERDE.decode(last.key, last.value)
    assert decoded is not None
    assert (decoded.key, decoded.value) == (SumKey(), SumValue(1, 30))
    assert last.headers == (("op1", b"task"),)


def test_a_start_reads_what_a_child_has_written(loop: PurseLoop) -> None:
    loop.fill("a", 30)
    loop.compute()
    loop.flush()
    again = PurseLoop(loop.store)
    again.load(0)

    assert summed(again) == 30


def test_a_late_result_of_a_child_is_ignored(loop: PurseLoop) -> None:
    """The shard has gone on: what was scheduled later is heard alone."""
    loop.fill("a", 30)
    loop.fill("a", 12)
    loop.compute()
    loop.turn()
    assert loop.store.open is None

    loop.run()
    assert summed(loop) == 42


def test_a_result_that_the_shard_has_passed_by_is_not_written(loop: PurseLoop) -> None:
    """Before what has changed since is durable: the operation looks at what the result was made for."""
    loop.fill("a", 30)
    loop.transfer("t", "a", "b", 10)
    loop.turn()
    loop.compute()
    loop.turn()
    loop.store.finish()
    loop.turn()
    assert loop.store.open is None
    assert summed(loop) == 0


def test_an_executor_child_runs_one_task_at_a_time(loop: PurseLoop) -> None:
    """And is started once."""
    into: list[Any] = []
    for key in "abc":
        executor_of(loop).schedule(key, ADD_UP, Contents(0, [ord(key)]), lambda outcome: heard(into, outcome))
    assert loop.children[0].asked is None
    for expected in range(3):
        loop.turn()
        assert len(into) == expected
        loop.compute()
    loop.turn()

    assert (len(into), len(loop.children), loop.children[0].asked) == (3, 1, None)


def test_what_is_cancelled_or_replaced_is_not_heard_of(loop: PurseLoop) -> None:
    """While it waits or while it runs."""
    into: list[Any] = []
    executor = executor_of(loop)
    for number in range(2):
        executor.schedule("replaced", ADD_UP, Contents(0, [number]), lambda outcome: heard(into, outcome))
    executor.schedule("cancelled", ADD_UP, Contents(0, [2]), lambda outcome: heard(into, outcome))
    loop.turn()
    executor.schedule("replaced", ADD_UP, Contents(0, [3]), lambda outcome: heard(into, outcome))
    executor.cancel("cancelled")
    assert [executor.is_scheduled(key) for key in ("replaced", "cancelled", "never")] == [True, False, False]
    loop.run()

    assert [SERDE.decode(*each.records[0]).value.amount for each in into] == [3]  # type: ignore[union-attr]
    assert not executor.is_scheduled("replaced")


def test_a_child_that_dies_is_followed_by_another(loop: PurseLoop) -> None:
    """Which does again what it was doing. The pause grows until one has done something; one line tells of it."""
    loop.fill("a", 30)
    waits = []
    for _ in range(10):
        children = len(loop.children)
        loop.children[-1].die()
        waits.append(0)
        while len(loop.children) == children:
            loop.pass_time(LEAST_BACKOFF_MS)
            waits[-1] += LEAST_BACKOFF_MS
    assert waits == [50, 100, 200, 400, 800, 1600, 3200, 6400, MOST_BACKOFF_MS, MOST_BACKOFF_MS]

    loop.run()
    assert summed(loop) == 30
    loop.fill("a", 1)
    loop.children[-1].die()
    loop.pass_time(LEAST_BACKOFF_MS)
    loop.run()
    assert summed(loop) == 31


def test_children_that_die_are_told_once(loop: PurseLoop) -> None:
    """Until one has done something, which is told, too."""
    with capture_logs() as lines:
        for amount in (30, 12):
            loop.fill("a", amount)
            for _ in range(3):
                loop.children[-1].die()
                loop.pass_time(MOST_BACKOFF_MS)
            loop.run()

    assert [(line["event"], line.get("why"), line.get("task")) for line in lines] == [
        ("child-lost", "its process ended", "tests.toy.purse:ADD_UP"),
        ("tasks-go-on", None, None),
    ] * 2


def test_the_first_child_process_has_no_log_line() -> None:
    """Tasks go on only after one was lost."""
    with capture_logs() as lines:
        loop = PurseLoop()
        loop.load(0)
        loop.run()

    assert {line["event"] for line in lines} == {"shard-loaded"}


def test_what_kills_its_child_does_not_keep_it_from_others(loop: PurseLoop) -> None:
    """They have their turn while it waits, longer each time."""
    into: list[Any] = []
    executor_of(loop).schedule("deadly", ADD_UP, Contents(0, [0]), lambda outcome: heard(into, outcome))
    loop.turn()
    for _ in range(3):
        loop.children[-1].die()
        executor_of(loop).schedule("harmless", ADD_UP, Contents(0, [1]), lambda outcome: heard(into, outcome))
        loop.pass_time(LEAST_BACKOFF_MS)
        loop.compute()
        loop.turn()
        while loop.children[-1].asked is None:
            loop.pass_time(LEAST_BACKOFF_MS)

    assert len(into) == 3
    assert executor_of(loop).is_scheduled("deadly")


def test_where_no_child_can_be_started_it_is_tried_again(loop: PurseLoop) -> None:
    loop.children[-1].die()
    loop.cannot_start = OSError("too many processes")
    loop.pass_time(LEAST_BACKOFF_MS)
    loop.fill("a", 30)
    loop.pass_time(LEAST_BACKOFF_MS)
    assert len(loop.children) == 1

    loop.cannot_start = None
    loop.pass_time(MOST_BACKOFF_MS)
    loop.run()
    assert summed(loop) == 30


def test_a_result_that_was_not_written_is_offered_again(loop: PurseLoop) -> None:
    """The child is not asked once more."""
    loop.fill("a", 30)
    loop.compute()
    loop.flush(FULL)
    assert (summed(loop), loop.children[-1].asked) == (0, None)

    loop.pass_time(RETRY_MS)
    loop.flush()
    assert summed(loop) == 30


def test_a_task_that_fails_says_so(loop: PurseLoop) -> None:
    """It is not run again: it would fail again."""
    into: list[Any] = []
    executor_of(loop).schedule("k", ADD_UP, Contents(0, [0]), lambda outcome: heard(into, outcome))
    loop.turn()
    loop.children[-1].asked = None
    loop.children[-1].done(Done(why="ValueError: a bug"))
    loop.turn()

    assert into == [Failed("ValueError: a bug")]
    assert not executor_of(loop).is_scheduled("k")


def test_a_shard_that_is_given_up_hears_nothing(loop: PurseLoop) -> None:
    """Neither of what runs, nor of what is to be offered again."""
    into: list[Any] = []
    loop.fill("a", 30)
    executor_of(loop).schedule("k", ADD_UP, Contents(0, [0]), lambda outcome: heard(into, outcome))
    loop.runtime.unload(0)
    loop.run()
    loop.pass_time(RETRY_MS)

    assert (into, loop.store.open, len(loop.timers)) == ([], None, 0)


def test_the_child_ends_with_the_loop(loop: PurseLoop) -> None:
    loop.fill("a", 30)
    [child] = loop.children
    loop.executor.close()
    loop.executor.close()
    assert not child.is_alive
    with capture_logs() as lines:
        child.lost()
    loop.pass_time(MOST_BACKOFF_MS)

    assert (len(loop.children), lines) == (1, [])
