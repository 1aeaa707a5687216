"""What a shard's log takes from transactional producers: the rules of Kafka's ProducerAppendInfo, and its verification guard."""

from __future__ import annotations

import pytest

from coordinator_server.log.errors import Unavailable
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import CoordinatorResult, Producer, TransactionResult
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.runtime.producers import KAFKAS_TIMES, ActiveProducer, Claim, EndOfTransaction, Producers, ProducerState
from protocol.error_codes import ErrorCode
from tests.support.runtime import CONTEXT, RUN, TOPIC, MemoryStore, Outcome, ToyRuntime, toy_record

PRODUCER_ID = 41
COMMIT, ABORT = TransactionResult.COMMIT, TransactionResult.ABORT
DAY_MS, PRODUCER_CHECK_MS = KAFKAS_TIMES
FENCED, ENDED, FENCED_COORDINATOR = (
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.INVALID_TXN_STATE,
    ErrorCode.TRANSACTION_COORDINATOR_FENCED,
)


def at(epoch: int) -> Producer:
    return Producer(PRODUCER_ID, epoch)


def table(*, epoch: int, is_open: bool, coordinator_epoch: int = 3) -> Producers:
    """A producer that has ended a transaction, and perhaps begun another one."""
    producers = Producers(SnapshotRegistry())
    producers.end(at(epoch), 10, 0, coordinator_epoch)
    if is_open:
        producers.append(at(epoch), 11, 0, 0)
    return producers


def error_of(producers: Producers, end: EndOfTransaction) -> ErrorCode | None:
    try:
        producers.check_marker(end)
    except CoordinatorError as refused:
        return refused.error
    return None


@pytest.mark.parametrize(
    ("version", "is_open", "epoch", "error"),
    [
        (1, True, 4, FENCED),
        (1, True, 5, None),
        (1, True, 6, None),
        (1, False, 4, FENCED),
        (1, False, 5, None),
        (2, True, 4, FENCED),
        (2, True, 5, FENCED),
        (2, True, 6, None),
        (2, False, 4, FENCED),
        # The marker of the last transaction, sent again because its answer was lost.
        (2, False, 5, None),
        (2, False, 6, None),
    ],
)
def test_a_marker_may_not_be_older_than_the_log(version: int, is_open: bool, epoch: int, error: ErrorCode | None) -> None:
    """In version 2 its epoch is higher than that of an open transaction: a late marker of the one before ends nothing."""
    assert error_of(table(epoch=5, is_open=is_open), EndOfTransaction(at(epoch), ABORT, version)) is error


def test_a_transaction_at_the_last_epoch_can_be_ended() -> None:
    """There is no higher one."""
    producers = table(epoch=2**15 - 1, is_open=True)

    assert error_of(producers, EndOfTransaction(at(2**15 - 1), ABORT, 2)) is None


def test_a_marker_of_a_higher_epoch_gives_the_producer_that_epoch() -> None:
    """It fences the one before, also when the marker is all that is left."""
    producers = table(epoch=5, is_open=True)
    producers.end(at(6), 20, 0, 3)
    [found] = producers.active_at(LATEST)

    assert found == ActiveProducer(PRODUCER_ID, ProducerState(6, 0, coordinator_epoch=3, marker_offset=20), -1)
    assert producers.claim(at(6), bumps_epoch=False) == Claim(at(6), False, 20)
    with pytest.raises(CoordinatorError, match="INVALID_PRODUCER_EPOCH"):
        producers.claim(at(5), bumps_epoch=False)


def test_the_log_is_believed() -> None:
    """What an operation would be refused: an older marker, also of an older coordinator, and a batch of an older epoch."""
    producers = table(epoch=5, is_open=True, coordinator_epoch=3)
    producers.end(at(4), 20, 0, 2)
    ended = producers.has_open(PRODUCER_ID)
    producers.append(at(3), 21, 0, 7)
    [found] = producers.active_at(LATEST)

    assert (ended, found) == (False, ActiveProducer(PRODUCER_ID, ProducerState(3, 0, 7, 2, 20), 21))


@pytest.mark.parametrize("version", [1, 2])
def test_a_producer_that_the_log_does_not_know_may_end(version: int) -> None:
    producers = Producers(SnapshotRegistry())

    assert producers.check_marker(EndOfTransaction(at(0), ABORT, version)) == 0
    assert producers.check_marker(EndOfTransaction(at(0), ABORT, version, 7)) == 7


@pytest.mark.parametrize(("coordinator_epoch", "written"), [(None, 3), (3, 3), (4, 4), (2, FENCED_COORDINATOR)])
def test_an_older_coordinator_is_refused(coordinator_epoch: int | None, written: int) -> None:
    """A log of a broker has its epochs. Our own markers go on from them."""
    end = EndOfTransaction(at(6), COMMIT, 2, coordinator_epoch)
    producers = table(epoch=5, is_open=False)

    assert (error_of(producers, end) or producers.check_marker(end)) == written


def test_our_own_markers_begin_with_epoch_0() -> None:
    producers = Producers(SnapshotRegistry())
    producers.append(at(0), 1, 0, 0)

    assert producers.check_marker(EndOfTransaction(at(1), COMMIT, 2)) == 0


@pytest.mark.parametrize(("epoch", "is_open", "expected"), [(5, True, True), (5, False, False), (6, True, False)])
def test_an_open_transaction_needs_no_word_of_the_coordinator(epoch: int, is_open: bool, expected: bool) -> None:
    claim = table(epoch=5, is_open=is_open).claim(at(epoch), bumps_epoch=False)

    assert claim == Claim(at(epoch), expected, 10)


def test_an_older_epoch_has_no_claim() -> None:
    with pytest.raises(CoordinatorError, match="INVALID_PRODUCER_EPOCH"):
        table(epoch=5, is_open=False).claim(at(4), bumps_epoch=True)


def check(producers: Producers, claim: Claim) -> ErrorCode | None:
    try:
        producers.check_append(claim)
    except CoordinatorError as refused:
        return refused.error
    return None


@pytest.mark.parametrize("is_known", [True, False])
def test_a_marker_between_the_claim_and_the_append_makes_it_void(is_known: bool) -> None:
    """The coordinator said yes before it decided to abort, and its answer came after the marker."""
    producers = table(epoch=5, is_open=False) if is_known else Producers(SnapshotRegistry())
    claim = producers.claim(at(5), bumps_epoch=False)
    before = check(producers, claim)
    producers.end(at(5), 20, 0, 3)

    assert (before, check(producers, claim)) == (None, ENDED)


def test_a_transaction_that_was_open_and_has_ended_takes_nothing_more() -> None:
    producers = table(epoch=5, is_open=True)
    claim = producers.claim(at(5), bumps_epoch=True)
    producers.end(at(5), 20, 0, 3)

    assert check(producers, claim) is ENDED


@pytest.mark.parametrize(("marker_epoch", "error"), [(5, None), (6, FENCED)])
def test_with_an_epoch_for_each_transaction_a_marker_of_the_one_before_voids_no_claim(
    marker_epoch: int, error: ErrorCode | None
) -> None:
    """The marker of the transaction of epoch 4 has epoch 5, and may come late."""
    producers = Producers(SnapshotRegistry())
    claim = producers.claim(at(5), bumps_epoch=True)
    producers.end(at(marker_epoch), 20, 0, 3)

    assert check(producers, claim) is error


def test_a_claim_holds_for_later_batches_of_the_transaction() -> None:
    producers = Producers(SnapshotRegistry())
    claim = producers.claim(at(5), bumps_epoch=False)
    producers.append(at(5), 1, 0, 0)

    assert check(producers, claim) is None


def test_the_table_says_what_the_last_batch_and_the_last_marker_said(toy: ToyRuntime) -> None:
    now_ms = toy.clock.wall_ms()
    toy.write(lambda shard, reply: CoordinatorResult("ok", [toy_record("a", 1), toy_record("b", 1)]), producer=at(2))
    before = toy.runtime.active_producers(0)
    toy.flush()
    opened = toy.runtime.active_producers(0)
    toy.end(at(2), COMMIT)
    toy.flush()

    assert before == []
    assert opened == [ActiveProducer(PRODUCER_ID, ProducerState(2, now_ms, last_sequence=1), 0)]
    assert toy.runtime.active_producers(0) == [
        ActiveProducer(PRODUCER_ID, ProducerState(2, now_ms, last_sequence=1, coordinator_epoch=3, marker_offset=2), -1)
    ]


def test_a_marker_with_a_newer_epoch_ends_the_sequence() -> None:
    producers = Producers(SnapshotRegistry())
    producers.append(at(2), 0, 0, 7)
    producers.end(at(3), 1, 0, 3)

    assert [each.state.last_sequence for each in producers.active_at(LATEST)] == [-1]


def test_a_load_finds_the_same_producers() -> None:
    store = MemoryStore()
    before = ToyRuntime(store=store)
    before.load()
    before.put("a", producer=at(2))
    before.put("b", producer=Producer(42, 0))
    before.put("b too", producer=Producer(42, 0))
    before.end(at(2), COMMIT)
    before.flush()
    after = ToyRuntime(store=store)
    after.load()

    assert after.runtime.active_producers(0) == before.runtime.active_producers(0)


def test_a_batch_that_was_not_written_leaves_no_trace(toy: ToyRuntime) -> None:
    toy.put("a", producer=at(2))
    toy.flush(Unavailable("disk full"))

    assert toy.runtime.active_producers(0) == []


def test_a_refused_append_writes_nothing_and_says_why(toy: ToyRuntime) -> None:
    claim = toy.claim(at(2))
    toy.end(at(2), ABORT)
    outcome = Outcome()
    toy.runtime.write(0, RUN, CONTEXT, lambda shard, reply: CoordinatorResult("a", [toy_record("a", 1)]), outcome, claim)
    toy.flush()

    assert (outcome.error, outcome.answers) == (ENDED, 1)
    assert toy.runtime.last_stable_offset(0) == toy.store.end_offset(ShardId(TOPIC, 0)) == 1


def test_a_late_marker_does_not_end_the_next_transaction(toy: ToyRuntime) -> None:
    """It is that of transaction 1, which another marker has ended; the client is in transaction 2."""
    toy.put("one", producer=at(1))
    toy.end(at(2), COMMIT, version=2)
    toy.put("two", producer=at(2))
    late = toy.end(at(2), COMMIT, version=2)
    toy.flush()

    assert late.error is FENCED
    assert toy.number("two") is None
    assert toy.runtime.last_stable_offset(0) == 2


def test_the_answer_to_a_marker_is_whether_there_was_anything_to_end(toy: ToyRuntime) -> None:
    toy.put("a", producer=at(1))
    answers = [toy.end(at(2), COMMIT, version=2), toy.end(at(2), COMMIT, version=2)]
    toy.flush()

    assert [each.response for each in answers] == [True, False]


def test_a_day_after_its_last_batch_a_producer_is_forgotten_unless_its_transaction_is_open(toy: ToyRuntime) -> None:
    toy.put("open", producer=at(1))
    toy.end(Producer(42, 1), ABORT)
    toy.flush()
    toy.pass_time(DAY_MS - PRODUCER_CHECK_MS)
    before = [each.id for each in toy.runtime.active_producers(0)]
    toy.pass_time(PRODUCER_CHECK_MS)
    toy.pass_time(PRODUCER_CHECK_MS)

    assert before == [PRODUCER_ID, 42]
    assert [each.id for each in toy.runtime.active_producers(0)] == [PRODUCER_ID]


def test_producers_of_a_loaded_log_are_forgotten_too() -> None:
    store = MemoryStore()
    before = ToyRuntime(store=store)
    before.load()
    before.end(at(1), ABORT)
    before.flush()
    after = ToyRuntime(store=store)
    after.load()
    known = len(after.runtime.active_producers(0))
    after.pass_time(DAY_MS + PRODUCER_CHECK_MS)
    after.pass_time(PRODUCER_CHECK_MS)

    assert (known, after.runtime.active_producers(0)) == (1, [])


def test_a_producer_that_a_failed_append_has_made_is_not_forgotten_by_a_revert() -> None:
    registry = SnapshotRegistry()
    producers = Producers(registry)
    producers.end(at(1), 0, 5, 0)
    registry.snapshot(1)
    producers.forget(6)
    gone = len(producers)
    registry.revert_to(1)

    assert (gone, [each.id for each in producers.active_at(LATEST)]) == (0, [PRODUCER_ID])


@pytest.mark.parametrize(("before_ms", "is_known"), [(4, True), (5, False)])
def test_a_producer_is_forgotten_at_its_last_moment(before_ms: int, is_known: bool) -> None:
    """As in Kafka's ProducerStateManager: an age that equals producer.id.expiration.ms is enough."""
    producers = Producers(SnapshotRegistry())
    producers.end(at(1), 0, 5, 0)
    producers.forget(before_ms)

    assert bool(producers) == is_known


def test_only_a_shard_with_producers_looks_for_old_ones(toy: ToyRuntime) -> None:
    """The others, which are nearly all, have no timer. When the last producer is forgotten there is none any more."""
    toy.put("plain")
    toy.flush()
    assert len(toy.timers) == 0

    toy.end(at(1), ABORT)
    toy.flush()
    assert len(toy.timers) == 1
    for _ in range(DAY_MS // PRODUCER_CHECK_MS + 1):
        toy.pass_time(PRODUCER_CHECK_MS)
    assert (toy.runtime.active_producers(0), len(toy.timers)) == ([], 0)
