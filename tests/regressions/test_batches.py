"""Bugs of others in how records become batches, and what is told of those that did not come to be."""

from __future__ import annotations

from coordinator_server.log.errors import Unavailable
from coordinator_server.machine.shard import CoordinatorResult, Producer, Reply
from protocol.error_codes import ErrorCode
from tests.support.runtime import ToyRuntime, ToyShard, toy_record

MAX_BATCH_BYTES = 1000
PRODUCER = Producer(7, 0)
# Of a record's key, from what surely fits into a batch of its own to what does not.
SIZES = range(MAX_BATCH_BYTES - 130, MAX_BATCH_BYTES + 10)


def test_kafka_16770_operations_share_a_batch_each_has_its_own_answer_and_all_fail_together(toy: ToyRuntime) -> None:
    """Coalesced records are one write. What fails with it takes all back that it held, and nothing else."""
    toy.put("before", 1)
    toy.flush()
    shared = [toy.put(name, 2) for name in ("a", "b", "before")]
    toy.flush(Unavailable("the disk is full"))
    again = [toy.put(name, 3) for name in ("a", "b")]
    toy.flush()

    assert [(outcome.response, outcome.answers) for outcome in shared] == [(None, 1)] * 3
    assert all(outcome.error is not None for outcome in shared)
    assert [outcome.response for outcome in again] == ["a", "b"]
    assert toy.store.batches() == [["before"], ["a", "b"]]
    assert dict(toy.shards[0].numbers) == {"before": 1, "a": 3, "b": 3}


def test_kafka_20845_records_too_large_for_what_is_left_flush_no_empty_batch() -> None:
    """Kafka closed a batch that it had just opened because the records did not fit: its flush failed, and took back a state whose
    records were then written. Here a size fits or does not, whatever is open; no batch is empty,
    and state goes with its records."""
    limits = {
        (is_first, producer): max(size for size in SIZES if _was_written(size, is_first=is_first, producer=producer))
        for is_first in (True, False)
        for producer in (None, PRODUCER)
    }

    [limit] = set(limits.values())
    assert SIZES.start < limit < SIZES.stop - 1


def _was_written(size: int, *, is_first: bool, producer: Producer | None) -> bool:
    """Whether an operation with a record whose key takes ``size`` bytes was taken."""
    toy = ToyRuntime(max_batch_bytes=MAX_BATCH_BYTES)
    shard = toy.load()
    name = "x" * size
    earlier = [] if is_first else [toy.put("earlier", 1)]
    heard: list[ErrorCode | None] = []

    def operation(shard: ToyShard, reply: Reply[str]) -> CoordinatorResult[str]:
        return CoordinatorResult("done", [toy_record(name, 2)], heard.append)

    outcome = toy.write(operation, producer=producer)
    toy.turn()
    if toy.store.open is not None:
        toy.store.finish()
    was_written = outcome.error is None

    assert outcome.answers == 1
    assert all(batch for batch in toy.store.batches())
    assert toy.store.names() == [*(["earlier"] if earlier else []), *([name] if was_written else [])]
    assert all(each.response == "earlier" for each in earlier)
    assert ((name in shard.numbers) or bool(shard.open)) == was_written
    assert (heard == [None]) == was_written
    return was_written
