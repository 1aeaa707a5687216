"""Transactions as the runtime sees them: batches of their own, and markers that end them."""

from __future__ import annotations

from struct import pack_into

import pytest

from coordinator_server.log.errors import Unavailable
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import CoordinatorResult, Producer, TransactionResult
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.runtime.loader import replay_batch
from coordinator_server.runtime.producers import Producers
from protocol.batch_builder import BatchBuilder, empty_batch
from protocol.control_records import end_transaction_marker
from protocol.error_codes import ErrorCode
from protocol.record_batch import CONTROL, TRANSACTIONAL, iter_records
from tests.support.catalog import Catalog
from tests.support.runtime import TOPIC, MemoryStore, ToyRuntime, ToySerde, toy_record

A, B, C = Producer(41, 2), Producer(42, 0), Producer(43, 0)
COMMIT, ABORT = TransactionResult.COMMIT, TransactionResult.ABORT


def test_a_transactional_write_is_a_batch_of_its_own_in_the_order_of_the_operations(toy: ToyRuntime) -> None:
    toy.put("before")
    toy.put("inside", producer=A)
    toy.put("after")
    toy.put("after too")
    toy.flush()

    assert toy.store.batches() == [["before"], ["inside"], ["after", "after too"]]
    assert [
        (header.is_transactional, header.producer_id, header.producer_epoch, header.base_sequence)
        for header in toy.store.headers()
    ] == [(False, -1, -1, -1), (True, 41, 2, 0), (False, -1, -1, -1)]


def test_two_transactional_writes_of_one_producer_are_two_batches(toy: ToyRuntime) -> None:
    toy.put("a", producer=A)
    toy.put("b", producer=A)
    toy.flush()

    assert toy.store.batches() == [["a"], ["b"]]


def test_a_transactional_response_is_parked_until_it_is_durable(toy: ToyRuntime) -> None:
    outcome = toy.put("a", producer=A)
    toy.turn()
    assert not outcome.is_answered

    toy.store.finish()
    assert outcome.response == "a"


def test_what_an_open_transaction_wrote_is_not_seen_even_when_durable(toy: ToyRuntime) -> None:
    toy.put("a", 5, producer=A)
    toy.flush()

    assert toy.number("a") is None


def test_a_commit_is_seen_and_answered_once_its_marker_is_durable(toy: ToyRuntime) -> None:
    toy.put("a", 5, producer=A)
    toy.flush()
    outcome = toy.end(A, COMMIT)
    toy.turn()
    assert (outcome.is_answered, toy.number("a")) == (False, None)

    toy.store.finish()
    assert (outcome.answers, outcome.error, toy.number("a")) == (1, None, 5)


def test_an_abort_forgets_and_touches_no_other_transaction(toy: ToyRuntime) -> None:
    toy.put("a", 5, producer=A)
    toy.put("b", 6, producer=B)
    toy.end(A, ABORT)
    toy.end(B, COMMIT)
    toy.flush()

    assert (toy.number("a"), toy.number("b")) == (None, 6)


@pytest.mark.parametrize(("result", "is_commit"), [(COMMIT, True), (ABORT, False)])
def test_the_marker_is_a_control_batch_with_kafkas_bytes(toy: ToyRuntime, result: TransactionResult, is_commit: bool) -> None:
    toy.put("a", producer=A)
    toy.end(A, result)
    toy.flush()

    marker = toy.store.headers()[1]
    [record] = iter_records(toy.store.logs[ShardId(TOPIC, 0)][1], 0, marker)
    assert (marker.attributes, marker.producer_id, marker.producer_epoch) == (TRANSACTIONAL | CONTROL, 41, 2)
    assert (marker.base_offset, marker.base_sequence) == (1, -1)
    assert (record.key, record.value) == end_transaction_marker(is_commit, 3)


def test_an_end_that_fails_to_append_is_taken_back_and_the_transaction_is_open_as_before(toy: ToyRuntime) -> None:
    toy.put("a", 5, producer=A)
    toy.flush()
    outcome = toy.end(A, COMMIT)
    toy.flush(Unavailable("disk full"))
    assert (outcome.is_answered, outcome.response) == (True, None)
    assert outcome.error is not None
    assert dict(toy.shards[0].numbers) == {}

    again = toy.end(A, COMMIT)
    toy.flush()
    assert (again.error, toy.number("a")) == (None, 5)


def test_a_transactional_append_that_fails_reverts_and_the_shard_goes_on(toy: ToyRuntime) -> None:
    outcome = toy.put("a", producer=A)
    toy.flush(Unavailable("disk full"))
    assert outcome.error is not None

    toy.put("b")
    toy.end(A, COMMIT)
    toy.flush()
    assert toy.number("a") is None
    assert toy.store.names()[0] == "b"


def test_a_marker_whose_replay_breaks_takes_back_nothing_but_itself(toy: ToyRuntime) -> None:
    toy.put("poisoned", 5, producer=A)
    toy.shards[0].open[A.id] = (toy_record("half", 1), toy_record("poison", 1))
    sibling = toy.put("sibling")
    outcome = toy.end(A, COMMIT)
    toy.flush()

    assert outcome.error == ErrorCode.UNKNOWN_SERVER_ERROR
    assert sibling.response == "sibling"
    assert toy.number("half") is None
    assert A.id in toy.shards[0].open
    assert toy.store.names() == ["poisoned", "sibling"]


def test_a_transactional_write_whose_replay_breaks_takes_back_nothing_but_itself(toy: ToyRuntime) -> None:
    sibling = toy.put("sibling")
    outcome = toy.write(
        lambda shard, reply: CoordinatorResult("no", [toy_record("half", 1), toy_record("poison", 1)]), producer=A
    )
    toy.flush()

    assert outcome.error == ErrorCode.UNKNOWN_SERVER_ERROR
    assert sibling.response == "sibling"
    assert dict(toy.shards[0].open) == {}
    assert toy.store.names() == ["sibling"]


def test_a_transactional_write_too_large_for_any_batch_keeps_nothing() -> None:
    toy = ToyRuntime(max_batch_bytes=1000)
    toy.load()
    outcome = toy.put("x" * 2000, producer=A)
    sibling = toy.put("sibling")
    toy.flush()

    assert outcome.error is not None
    assert sibling.response == "sibling"
    assert toy.store.batches() == [["sibling"]]
    assert dict(toy.shards[0].open) == {}


def test_a_partition_that_is_not_active_ends_no_transaction() -> None:
    toy = ToyRuntime()
    assert toy.end(A, COMMIT).error == ErrorCode.NOT_COORDINATOR

    toy.runtime.load(0, 1)
    assert toy.end(A, COMMIT).error == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def test_unload_refuses_an_end_that_is_parked(toy: ToyRuntime) -> None:
    outcome = toy.end(A, COMMIT)
    toy.runtime.close()

    assert (outcome.error, outcome.answers) == (ErrorCode.NOT_COORDINATOR, 1)


def test_load_replays_open_committed_and_aborted_transactions() -> None:
    store = MemoryStore()
    before = ToyRuntime(store=store)
    before.load()
    before.put("plain", 1)
    before.put("committed", 2, producer=A)
    before.put("aborted", 3, producer=B)
    before.end(A, COMMIT)
    before.end(B, ABORT)
    before.put("open", 4, producer=A)
    before.flush()

    toy = ToyRuntime(store=store)
    shard = toy.load()
    assert dict(shard.numbers) == {"plain": 1, "committed": 2}
    assert list(shard.open) == [A.id]
    assert shard.numbers == before.shards[0].numbers

    toy.end(A, COMMIT)
    toy.flush()
    assert toy.number("open") == 4


def test_a_replay_up_to_an_offset_leaves_the_markers_behind_it_out() -> None:
    before = ToyRuntime()
    before.load()
    before.put("a", 1, producer=A)
    before.end(A, COMMIT)
    before.flush()

    toy = ToyRuntime()
    shard = toy.load()
    for batch in before.store.logs[ShardId(TOPIC, 0)]:
        replay_batch(batch, ToySerde(), shard, upto=1)
    assert (dict(shard.numbers), list(shard.open)) == ({}, [A.id])


def test_a_control_record_that_ends_no_transaction_is_skipped() -> None:
    batch = BatchBuilder(0, 0, attributes=CONTROL)
    batch.append(bytes.fromhex("0000 0002"), b"leader change")
    shard = ToyRuntime().load()

    assert replay_batch(batch.finish(), ToySerde(), shard) == 1


def test_an_empty_control_batch_begins_and_ends_nothing() -> None:
    """The cleaner of a broker leaves such batches."""
    shard, producers = ToyRuntime().load(), Producers(SnapshotRegistry())
    producers.append(A, 3, 0, 0)
    for producer in (A, B):
        batch = bytearray(empty_batch(5, 1))
        pack_into(">h", batch, 21, TRANSACTIONAL | CONTROL)
        pack_into(">qh", batch, 43, *producer)
        replay_batch(bytes(batch), ToySerde(), shard, producers=producers)

    assert (producers.has_open(A.id), producers.has_open(B.id), producers.last_stable_offset(9)) == (True, False, 3)


def test_a_state_machine_that_keeps_no_transactions_refuses_records_of_one() -> None:
    catalog = Catalog().shard

    with pytest.raises(TypeError, match="offset 7"):
        catalog.replay_in_transaction(A, 7, toy_record("a", 1))
    catalog.replay_end_transaction_marker(A, COMMIT)


def test_the_last_stable_offset_is_that_of_the_durable_state(toy: ToyRuntime) -> None:
    """It is where the first open transaction begins, if that is durable."""
    toy.put("before")
    toy.flush()
    toy.put("inside", producer=A)
    toy.put("after")
    before = toy.runtime.last_stable_offset(0)
    toy.flush()

    assert (before, toy.runtime.last_stable_offset(0)) == (1, 1)


def test_the_last_stable_offset_moves_when_transactions_end(toy: ToyRuntime) -> None:
    """Each counts from its first record to its marker."""
    toy.put("a", producer=A)
    toy.put("b", producer=B)
    toy.put("a too", producer=A)
    toy.flush()
    found = [toy.runtime.last_stable_offset(0)]
    for producer, result in ((A, ABORT), (B, COMMIT)):
        toy.end(producer, result)
        toy.flush()
        found.append(toy.runtime.last_stable_offset(0))

    assert found == [0, 1, 5]


def test_the_last_stable_offset_waits_for_the_oldest_open_transaction(toy: ToyRuntime) -> None:
    """Those that began later may have ended, and producers without records too."""
    for name, producer in (("a", A), ("b", B), ("c", C)):
        toy.put(name, producer=producer)
    toy.flush()
    found = []
    for producer in (B, Producer(44, 0), C, A):
        toy.end(producer, COMMIT)
        toy.flush()
        found.append(toy.runtime.last_stable_offset(0))

    assert found == [0, 0, 0, 7]


def test_a_batch_or_a_marker_that_was_not_written_does_not_move_it(toy: ToyRuntime) -> None:
    toy.put("a", producer=A)
    toy.flush()
    toy.put("b", producer=B)
    toy.end(A, COMMIT)
    toy.flush(Unavailable("disk full"))
    before = toy.runtime.last_stable_offset(0)
    toy.end(A, COMMIT)
    toy.flush()

    assert (before, toy.runtime.last_stable_offset(0)) == (0, 2)


def test_a_load_finds_the_same_last_stable_offset(toy: ToyRuntime) -> None:
    toy.put("before")
    toy.put("a", producer=A)
    toy.put("b", producer=B)
    toy.end(A, ABORT)
    toy.flush()
    before = toy.runtime.last_stable_offset(0)
    toy.runtime.unload(0)
    toy.load(epoch=2)

    assert (before, toy.runtime.last_stable_offset(0)) == (2, 2)


def test_a_shard_that_is_not_here_has_no_last_stable_offset(toy: ToyRuntime) -> None:
    with pytest.raises(CoordinatorError, match="NOT_COORDINATOR"):
        toy.runtime.last_stable_offset(7)
