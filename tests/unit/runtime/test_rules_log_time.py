"""The times of a log do not go back: not when the clock does, and not when a shard gets an owner whose clock is behind."""

from __future__ import annotations

from typing import Any

import pytest
from structlog.testing import capture_logs

from coordinator_server.log.errors import Unavailable
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.shard import Producer, TransactionResult
from protocol.batch_builder import BatchBuilder
from protocol.record_batch import read_header
from tests.support.runtime import TOPIC, MemoryStore, ToyRuntime

SHARD = ShardId(TOPIC, 0)
HOUR_MS = 3_600_000
PRODUCER = Producer(7, 0)


def times(toy: ToyRuntime) -> list[int]:
    """The times of all batches, of which all records have the same."""
    assert all(record.timestamp == header.max_timestamp for header, record in zip(headers(toy), toy.store.records(), strict=True))
    return [header.max_timestamp for header in headers(toy)]


def headers(toy: ToyRuntime) -> list[Any]:
    return toy.store.headers()


def alarms(lines: list[Any]) -> list[tuple[str, int]]:
    return [(line["shard"], line["ahead_ms"]) for line in lines if line["event"] == "log-ahead-of-clock"]


def batch(offset: int, at_ms: int) -> bytes:
    """A batch of one record."""
    builder = BatchBuilder(offset, at_ms)
    builder.append(b"a", b"1")
    return builder.finish()


def put(toy: ToyRuntime, name: str = "a") -> None:
    toy.put(name)
    toy.flush()


def test_a_batch_has_the_clocks_time_while_that_does_not_go_back(toy: ToyRuntime) -> None:
    expected = []
    for step in (0, 5, HOUR_MS):
        toy.clock.jump_wall(step)
        expected.append(toy.clock.wall_ms())
        put(toy)

    assert times(toy) == expected


def test_the_times_of_batches_do_not_go_back_with_the_clock(toy: ToyRuntime) -> None:
    """Until the clock has passed that time."""
    begun = toy.clock.wall_ms()
    put(toy)
    toy.clock.jump_wall(-HOUR_MS)
    put(toy)
    toy.clock.jump_wall(HOUR_MS - 1)
    put(toy)
    toy.clock.jump_wall(2)
    put(toy)

    assert times(toy) == [begun, begun, begun, begun + 1]


def test_a_transactions_batches_and_its_marker_do_not_go_back_either(toy: ToyRuntime) -> None:
    """What is known of the producer has the batch's time, as after a load."""
    begun = toy.clock.wall_ms()
    put(toy)
    toy.clock.jump_wall(-HOUR_MS)
    toy.put("b", producer=PRODUCER)
    toy.flush()
    toy.end(PRODUCER, TransactionResult.COMMIT)
    toy.flush()
    known = toy.runtime.active_producers(0)

    assert times(toy) == [begun] * 3
    after = ToyRuntime(store=toy.store)
    after.load()
    assert after.runtime.active_producers(0) == known


def test_an_owner_goes_on_from_the_last_batch_that_it_has_read(toy: ToyRuntime) -> None:
    begun = toy.clock.wall_ms()
    put(toy)
    after = ToyRuntime(store=toy.store)
    after.clock.jump_wall(-5000)
    with capture_logs() as lines:
        after.load()
        put(after, "b")
        after.clock.jump_wall(6000)
        put(after, "c")

    assert times(after) == [begun, begun, begun + 1000]
    # It was less than 10 s behind.
    assert alarms(lines) == []


def test_the_last_batch_of_a_log_counts_not_the_latest() -> None:
    """A version that believed the clock wrote it."""
    after = ToyRuntime()
    begun = after.clock.wall_ms()
    after.store.logs[SHARD] = [batch(0, at_ms=begun + HOUR_MS), batch(1, at_ms=begun)]
    after.store.ends[SHARD] = 2
    after.load()
    put(after)

    assert times(after) == [begun + HOUR_MS, begun, begun]


class Compacted(MemoryStore):
    """Compaction has kept nothing of the log, whose last batch had that time."""

    def __init__(self, end_ms: int) -> None:
        super().__init__()
        self.ends[SHARD] = 5
        self.end_ms = end_ms

    def compacted_to(self, shard: ShardId, /) -> int:
        return self.ends[SHARD]

    def end_time(self, shard: ShardId, /) -> int:
        return self.end_ms


def test_where_compaction_has_kept_nothing_the_store_knows_the_last_time() -> None:
    begun = ToyRuntime().clock.wall_ms()
    toy = ToyRuntime(store=Compacted(begun + 3000))
    toy.load()
    put(toy)

    assert times(toy) == [begun + 3000]


def test_a_failed_write_may_leave_its_log_time(toy: ToyRuntime) -> None:
    """It is a time that the clock had."""
    begun = toy.clock.wall_ms()
    toy.clock.jump_wall(1000)
    toy.put("refused")
    toy.flush(Unavailable("full"))
    toy.clock.jump_wall(-1000)
    put(toy)

    assert times(toy) == [begun + 1000]


def test_a_log_that_is_far_ahead_of_the_clock_is_an_alarm_when_it_is_loaded(toy: ToyRuntime) -> None:
    """One line, however many shards of the kind are ahead by about as much."""
    for partition in (1, 2):
        toy.load(partition)
    for partition in range(3):
        toy.put("a", partition=partition)
    toy.flush()
    after = ToyRuntime(store=toy.store)
    after.clock.jump_wall(-HOUR_MS)
    with capture_logs() as lines:
        for partition in range(3):
            after.load(partition)
        for partition in range(3):
            after.put("b", partition=partition)
        after.flush()

    assert alarms(lines) == [(f"{TOPIC}-0", HOUR_MS)]
    assert {read_header(batches[-1]).max_timestamp for batches in toy.store.logs.values()} == {toy.clock.wall_ms()}


@pytest.mark.parametrize(("back_ms", "expected"), [(10_000, []), (10_001, [(f"{TOPIC}-0", 10_001)])])
def test_a_clock_that_goes_back_by_more_than_ten_seconds_is_an_alarm(
    toy: ToyRuntime, back_ms: int, expected: list[tuple[str, int]]
) -> None:
    put(toy)
    toy.clock.jump_wall(-back_ms)
    with capture_logs() as lines:
        put(toy)
        put(toy)

    assert alarms(lines) == expected


def test_each_time_that_the_clock_goes_back_is_an_alarm_of_its_own(toy: ToyRuntime) -> None:
    put(toy)
    with capture_logs() as lines:
        for _ in range(2):
            toy.clock.jump_wall(-HOUR_MS)
            put(toy)
            toy.clock.jump_wall(2 * HOUR_MS)
            put(toy)

    assert [ahead_ms for _, ahead_ms in alarms(lines)] == [HOUR_MS] * 2
