"""Records that come as one RecordBlock keep all the rules of records."""

from __future__ import annotations

from collections.abc import Iterator

from coordinator_server.log.errors import Unavailable
from coordinator_server.machine.block import RecordBlock
from coordinator_server.machine.shard import CoordinatorResult
from protocol.batch_builder import NO_HEADERS, BatchBuilder
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from tests.support.runtime import Outcome, ToyRuntime, ToySerde, ToyShard, toy_record


class ToyBlock(RecordBlock):
    """Every name is 1 from now on."""

    def __init__(self, shard: ToyShard, names: list[str]) -> None:
        self._shard = shard
        self._records = [toy_record(name, 1) for name in names]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[CoordinatorRecord]:
        return iter(self._records)

    def max_bytes(self) -> int:
        return 40 * len(self._records)

    def write(self, batch: BatchBuilder, headers: bytes) -> None:
        for record in self._records:
            batch.append(ToySerde().encode_key(record), ToySerde().encode_value(record), headers)
            headers = NO_HEADERS

    def replay(self, offset: int) -> None:
        for place, record in enumerate(self._records):
            self._shard.replay(offset + place, record)


def put_block(toy: ToyRuntime, names: list[str]) -> Outcome:
    return toy.write(lambda shard, reply: CoordinatorResult("ok", ToyBlock(shard, names)))


def test_a_block_is_answered_when_all_of_it_is_durable() -> None:
    """It is state at once, and readable once it is durable; it shares the batch of its neighbours."""
    toy = ToyRuntime()
    shard = toy.load()
    first, block, last = toy.put("a"), put_block(toy, ["b", "c"]), toy.put("d")

    assert shard.numbers == {"a": 1, "b": 1, "c": 1, "d": 1}
    assert (block.is_answered, toy.number("c")) == (False, None)
    toy.flush()
    assert [outcome.answers for outcome in (first, block, last)] == [1, 1, 1]
    assert toy.number("c") == 1
    assert toy.store.names() == ["a", "b", "c", "d"]


def test_a_block_that_is_not_stored_is_taken_back() -> None:
    """State goes back, the response fails, and the shard goes on."""
    toy = ToyRuntime()
    shard = toy.load()
    block = put_block(toy, ["a", "b"])
    toy.flush(Unavailable("no room"))

    assert (shard.numbers, block.answers, block.response) == ({}, 1, None)
    put_block(toy, ["c"])
    toy.flush()
    assert toy.store.names() == ["c"]


def test_a_block_that_no_batch_can_hold_is_refused() -> None:
    """Nothing of it is kept; what is in the open batch stays."""
    toy = ToyRuntime(max_batch_bytes=500)
    shard = toy.load()
    toy.put("a")
    block = put_block(toy, [str(number) for number in range(20)])
    toy.flush()

    assert (shard.numbers, block.error) == ({"a": 1}, ErrorCode.MESSAGE_TOO_LARGE)


def test_a_bug_in_the_replay_of_a_block_undoes_the_open_batch() -> None:
    """As with single records: half of a replay cannot be taken back alone."""
    toy = ToyRuntime()
    shard = toy.load()
    neighbour, block = toy.put("a"), put_block(toy, ["b", "poison"])

    assert shard.numbers == {}
    assert (neighbour.error, block.error) == (ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.UNKNOWN_SERVER_ERROR)
