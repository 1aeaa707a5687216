"""The transaction coordinator's rules, request by request. What Kafka answers was seen on a 4.3.1 broker or read in its sources."""

from __future__ import annotations

import pytest

from coordinator_server.machine.timeline import LATEST
from coordinator_server.transaction.state import TransactionState
from coordinator_server.transaction.transaction import LAST_EPOCH, MAX_EPOCH, record_of
from protocol.error_codes import ErrorCode
from protocol.messages.transaction_records import PartitionsSchema, TransactionLogValue
from tests.support.transactions import FIRST_PRODUCER_ID, OFFSETS, TIMES, TransactionLog

A = (OFFSETS, 3)
B = (OFFSETS, 9)
ORDERS = ("orders", 0)
DAY_MS = 24 * 3_600_000


@pytest.fixture
def log() -> TransactionLog:
    return TransactionLog()


def opened(log: TransactionLog, transactional_id: str = "t", *partitions: tuple[str, int], version: int = 2) -> tuple[int, int]:
    """A producer with an open transaction."""
    producer = log.init(transactional_id)
    assert isinstance(producer, tuple)
    assert log.add(transactional_id, producer, *(partitions or (A,)), version=version) is ErrorCode.NONE
    return producer


def at_last_epoch(log: TransactionLog) -> tuple[int, int]:
    """The id ``t``, whose producer has the last epoch of its producer id."""
    log.init("t")
    state = log.state("t")
    assert state is not None
    changed = type(state)(state.producer_id, LAST_EPOCH, 60_000, TransactionState.EMPTY, state.update_ms)
    log.records.append(record_of("t", changed))
    log.load()
    return state.producer_id, LAST_EPOCH


class TestInitProducerId:
    def test_each_id_gets_a_producer_id_and_each_request_an_epoch(self, log: TransactionLog) -> None:
        answers = [log.init("t"), log.init("t"), log.init("u")]

        assert answers == [(FIRST_PRODUCER_ID, 0), (FIRST_PRODUCER_ID, 1), (FIRST_PRODUCER_ID + 1, 0)]

    @pytest.mark.parametrize(
        ("transactional_id", "own", "timeout_ms", "error"),
        [
            ("", (-1, -1), 1, ErrorCode.INVALID_REQUEST),
            ("t", (7, -1), 1, ErrorCode.INVALID_REQUEST),
            ("t", (-1, 7), 1, ErrorCode.INVALID_REQUEST),
            ("t", (-1, -1), 0, ErrorCode.INVALID_TRANSACTION_TIMEOUT),
            ("t", (-1, -1), TIMES.max_timeout_ms + 1, ErrorCode.INVALID_TRANSACTION_TIMEOUT),
        ],
    )
    def test_what_is_refused(
        self, log: TransactionLog, transactional_id: str, own: tuple[int, int], timeout_ms: int, error: ErrorCode
    ) -> None:
        answer = log.init(transactional_id, own, timeout_ms)

        assert (answer, log.records) == (error, [])

    def test_a_producer_goes_on_with_its_epoch(self, log: TransactionLog) -> None:
        """It gets the next one (KIP-360), and the same again for the same request."""
        producer = log.init("t")
        assert isinstance(producer, tuple)
        answers = [log.init("t", producer), log.init("t", producer)]

        assert answers == [(producer[0], 1), (producer[0], 1)]

    def test_an_older_producer_is_fenced(self, log: TransactionLog) -> None:
        """Another one has asked since."""
        producer = log.init("t")
        assert isinstance(producer, tuple)
        log.init("t")

        assert log.init("t", producer) is ErrorCode.PRODUCER_FENCED

    def test_a_strange_producer_id_is_fenced(self, log: TransactionLog) -> None:
        log.init("t")

        assert log.init("t", (1, 0)) is ErrorCode.PRODUCER_FENCED

    def test_a_new_id_believes_its_producer(self, log: TransactionLog) -> None:
        """Its id was forgotten, and it goes on with a new one."""
        assert log.init("t", (1, 8)) == (FIRST_PRODUCER_ID, 0)

    def test_an_open_transaction_is_aborted_first(self, log: TransactionLog) -> None:
        """The client asks again until the markers are durable."""
        producer = opened(log)
        answers = [log.init("t"), log.init("t")]
        log.deliver()
        answers.append(log.init("t"))

        assert answers == [ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.CONCURRENT_TRANSACTIONS, (producer[0], 2)]
        assert log.states()[-3:] == [
            TransactionState.PREPARE_ABORT,
            TransactionState.COMPLETE_ABORT,
            TransactionState.EMPTY,
        ]

    def test_ones_own_id_and_a_wrong_epoch_abort_the_open_transaction(self, log: TransactionLog) -> None:
        """The epoch is not looked at while a transaction is open."""
        producer = opened(log)

        assert log.init("t", (producer[0], 77)) is ErrorCode.CONCURRENT_TRANSACTIONS
        assert log.states()[-1] is TransactionState.PREPARE_ABORT

    def test_a_used_up_producer_id_is_replaced(self, log: TransactionLog) -> None:
        """And the producer that had its last epoch may ask again."""
        producer = at_last_epoch(log)
        answers = [log.init("t", producer), log.init("t", producer)]

        assert answers == [(FIRST_PRODUCER_ID + 1, 0), (FIRST_PRODUCER_ID + 1, 0)]

    def test_the_last_epoch_of_a_strange_producer_id_is_fenced(self, log: TransactionLog) -> None:
        """Only the producer id before may be named with it."""
        producer_id, epoch = at_last_epoch(log)
        log.init("t", (producer_id, epoch))

        assert log.init("t", (producer_id - 1, epoch)) is ErrorCode.PRODUCER_FENCED

    def test_a_wrong_epoch_of_a_used_up_producer_id(self, log: TransactionLog) -> None:
        """An exception in Kafka."""
        producer_id, _ = at_last_epoch(log)

        assert log.init("t", (producer_id, 5)) is ErrorCode.UNKNOWN_SERVER_ERROR


class TestPartitions:
    def test_the_first_begins_the_transaction(self, log: TransactionLog) -> None:
        opened(log)
        state = log.state("t")

        assert state is not None
        assert (state.state, state.partitions) == (TransactionState.ONGOING, frozenset({A}))
        assert state.start_ms == state.update_ms == log.clock.wall_ms()

    def test_none_at_all_begin_it_too(self, log: TransactionLog) -> None:
        """As in Kafka."""
        producer = log.init("t")
        log.add("t", producer)

        assert log.states()[-1] is TransactionState.ONGOING

    def test_more_are_added_at_the_time_of_the_first(self, log: TransactionLog) -> None:
        producer = opened(log)
        began_ms = log.clock.wall_ms()
        log.advance(5)
        log.add("t", producer, B, ORDERS)
        state = log.state("t")

        assert state is not None
        assert (state.partitions, state.start_ms, state.update_ms) == (frozenset({A, B, ORDERS}), began_ms, began_ms + 5)

    def test_known_ones_are_not_written_again(self, log: TransactionLog) -> None:
        producer = opened(log, "t", A, B)
        before = len(log.records)

        assert log.add("t", producer, B) is ErrorCode.NONE
        assert len(log.records) == before

    @pytest.mark.parametrize(
        ("transactional_id", "shift", "error"),
        [
            ("", (0, 0), ErrorCode.INVALID_REQUEST),
            ("nowhere", (0, 0), ErrorCode.INVALID_PRODUCER_ID_MAPPING),
            ("t", (1, 0), ErrorCode.INVALID_PRODUCER_ID_MAPPING),
            ("t", (0, 1), ErrorCode.PRODUCER_FENCED),
            ("t", (0, -1), ErrorCode.PRODUCER_FENCED),
        ],
    )
    def test_of_whom_they_are_refused(
        self, log: TransactionLog, transactional_id: str, shift: tuple[int, int], error: ErrorCode
    ) -> None:
        """Added, looked for, and in a commit of either version."""
        producer = opened(log)
        other = (producer[0] + shift[0], producer[1] + shift[1])

        assert log.add(transactional_id, other, B) is error
        assert log.missing(transactional_id, other, A) is error
        assert log.end(transactional_id, other, version=3) is error
        assert log.end(transactional_id, other, version=5) is error

    def test_the_missing_ones_are_named(self, log: TransactionLog) -> None:
        producer = opened(log, "t", A)

        assert log.missing("t", producer, A, B) == {B}
        assert log.missing("t", producer, A) == frozenset()

    def test_none_can_be_added_while_markers_are_written(self, log: TransactionLog) -> None:
        producer = opened(log, version=0)
        log.end("t", producer, version=3)

        assert log.add("t", producer, B) is ErrorCode.CONCURRENT_TRANSACTIONS
        assert log.missing("t", producer, A) is ErrorCode.CONCURRENT_TRANSACTIONS


class TestEnd:
    @pytest.mark.parametrize("is_commit", [False, True])
    @pytest.mark.parametrize("version", [3, 5])
    def test_markers_go_to_every_partition_of_groups(self, log: TransactionLog, *, version: int, is_commit: bool) -> None:
        """The client is answered before. In version 2 it gets the next epoch, which the markers have."""
        producer = opened(log, "t", A, B, ORDERS, version=0 if version < 5 else 2)
        answer = log.end("t", producer, is_commit=is_commit, version=version)
        before = log.states()[-1]
        sent = log.deliver()

        bump = 1 if version >= 5 else 0
        assert answer == ((producer[0], producer[1] + 1) if bump else (-1, -1))
        assert [(index, marker.is_commit, marker.producer_epoch) for index, marker in sent] == [
            (index, is_commit, producer[1] + bump) for index in (A[1], B[1])
        ]
        assert [before, log.states()[-1]] == (
            [TransactionState.PREPARE_COMMIT, TransactionState.COMPLETE_COMMIT]
            if is_commit
            else [TransactionState.PREPARE_ABORT, TransactionState.COMPLETE_ABORT]
        )

    def test_one_without_groups_completes_by_itself(self, log: TransactionLog) -> None:
        """Topics have no records here, so that their markers count as written."""
        producer = opened(log, "t", ORDERS)
        log.end("t", producer)
        log.advance(0)
        state = log.state("t")

        assert state is not None
        assert (state.state, state.partitions) == (TransactionState.COMPLETE_COMMIT, frozenset())

    @pytest.mark.parametrize(
        ("state", "is_commit", "is_repeated", "expected"),
        [
            ("empty", True, True, ErrorCode.PRODUCER_FENCED),
            ("empty", False, True, ErrorCode.PRODUCER_FENCED),
            ("empty", True, False, ErrorCode.INVALID_TXN_STATE),
            ("empty", False, False, "next epoch"),
            ("committed", True, True, "answered"),
            ("committed", False, True, ErrorCode.INVALID_TXN_STATE),
            ("committed", True, False, ErrorCode.INVALID_TXN_STATE),
            ("committed", False, False, "next epoch"),
            ("aborted", True, True, ErrorCode.INVALID_TXN_STATE),
            ("aborted", False, True, "answered"),
            ("aborted", True, False, ErrorCode.INVALID_TXN_STATE),
            ("aborted", False, False, "next epoch"),
        ],
    )
    def test_what_version_2_answers_when_nothing_is_open(
        self, log: TransactionLog, *, state: str, is_commit: bool, is_repeated: bool, expected: ErrorCode | str
    ) -> None:
        """The table of Kafka's ``TransactionCoordinator``."""
        log.init("t")
        producer = log.init("t")
        assert isinstance(producer, tuple)
        if state != "empty":
            log.add("t", producer, A, version=2)
            ended = log.end("t", producer, is_commit=state == "committed")
            assert isinstance(ended, tuple)
            producer = ended
            log.deliver()
        written = len(log.records)
        answer = log.end("t", (producer[0], producer[1] - 1) if is_repeated else producer, is_commit=is_commit)

        if expected == "next epoch":
            assert answer == (producer[0], producer[1] + 1)
            assert log.states()[-1] is TransactionState.PREPARE_ABORT
        else:
            assert answer == (producer if expected == "answered" else expected)
            assert len(log.records) == written

    @pytest.mark.parametrize("is_commit", [False, True])
    @pytest.mark.parametrize("was_commit", [False, True])
    def test_what_version_1_answers_when_nothing_is_open(self, log: TransactionLog, *, was_commit: bool, is_commit: bool) -> None:
        """The same end may be repeated for ever."""
        producer = opened(log, version=0)
        log.end("t", producer, is_commit=was_commit, version=3)
        log.deliver()
        answers = [log.end("t", producer, is_commit=is_commit, version=3) for _ in range(2)]

        assert answers == [(-1, -1) if is_commit == was_commit else ErrorCode.INVALID_TXN_STATE] * 2

    def test_version_1_ends_no_empty_transaction(self, log: TransactionLog) -> None:
        producer = log.init("t")

        assert log.end("t", producer, is_commit=False, version=3) is ErrorCode.INVALID_TXN_STATE

    def test_a_used_up_producer_id_is_replaced(self, log: TransactionLog) -> None:
        """The client sees the last epoch, and then epoch 0 of another id; the markers have the epoch between."""
        producer = at_last_epoch(log)
        log.add("t", producer, A, version=2)
        first = log.end("t", producer)
        [(_, marker)] = log.deliver()
        again = log.end("t", producer)

        assert first == again == (FIRST_PRODUCER_ID + 1, 0)
        assert (marker.producer_id, marker.producer_epoch) == (producer[0], LAST_EPOCH + 1)

    def test_every_request_but_an_older_ones_waits_for_the_markers(self, log: TransactionLog) -> None:
        producer = opened(log)
        ended = log.end("t", producer)

        assert log.end("t", ended) is ErrorCode.CONCURRENT_TRANSACTIONS
        assert log.end("t", producer) is ErrorCode.CONCURRENT_TRANSACTIONS
        assert log.init("t") is ErrorCode.CONCURRENT_TRANSACTIONS

    def test_version_1_waits_for_the_markers_too(self, log: TransactionLog) -> None:
        """Whatever the outcome is."""
        producer = opened(log, version=0)
        log.end("t", producer, version=3)

        for is_commit in (False, True):
            assert log.end("t", producer, is_commit=is_commit, version=3) is ErrorCode.CONCURRENT_TRANSACTIONS


class TestDurability:
    def test_nothing_is_answered_from_what_is_not_durable(self, log: TransactionLog) -> None:
        producer = log.init("t")
        log.is_holding = True
        log.add("t", producer, A, version=2)
        answers = [log.add("t", producer, B, version=2), log.end("t", producer), log.init("t")]

        assert answers == [ErrorCode.CONCURRENT_TRANSACTIONS] * 3

    def test_what_was_not_written_has_not_happened(self, log: TransactionLog) -> None:
        """No marker is sent, and the same request succeeds later with the same epoch."""
        producer = opened(log)
        log.is_holding = True
        log.end("t", producer)
        log.settle(ErrorCode.NOT_COORDINATOR)
        sent, log.is_holding = dict(log.outbox.messages), False

        assert (sent, log.states()[-1]) == ({}, TransactionState.ONGOING)
        assert log.end("t", producer) == (producer[0], producer[1] + 1)

    def test_a_fence_that_was_not_written_takes_no_epoch(self, log: TransactionLog) -> None:
        producer = opened(log)
        log.is_holding = True
        log.init("t")
        log.settle(ErrorCode.NOT_COORDINATOR)
        log.is_holding = False
        log.init("t")
        log.deliver()

        assert log.init("t") == (producer[0], producer[1] + 2)

    def test_markers_follow_a_load(self, log: TransactionLog) -> None:
        """The outcome was decided before the kill."""
        producer = opened(log, "t", A, B)
        log.end("t", producer)
        log.load()
        log.deliver()

        assert log.states()[-1] is TransactionState.COMPLETE_COMMIT
        assert log.end("t", producer) == (producer[0], producer[1] + 1)

    def test_an_end_that_was_not_written_is_written_after_its_marker_is_sent_again(self, log: TransactionLog) -> None:
        producer = opened(log)
        log.end("t", producer)
        [(intent, message)] = log.outbox.messages.items()
        log.is_holding = True
        log.run(lambda: message.then(True))
        log.settle(ErrorCode.NOT_COORDINATOR)
        log.is_holding = False
        log.run(lambda: message.then(True))

        assert intent == ("t", producer[0], producer[1] + 1, A[1])
        assert log.states()[-1] is TransactionState.COMPLETE_COMMIT

    def test_a_load_forgets_the_epoch_before(self, log: TransactionLog) -> None:
        """It is not in the log, as in Kafka: the repeated request of before the load is fenced."""
        producer = log.init("t")
        assert isinstance(producer, tuple)
        log.init("t", producer)
        log.load()

        assert log.init("t", producer) is ErrorCode.PRODUCER_FENCED


class TestTime:
    def test_an_overdue_transaction_is_aborted_and_its_producer_fenced(self, log: TransactionLog) -> None:
        """A commit with the old epoch fails: with 48 in version 2, with 90 before."""
        producer = opened(log)
        log.advance(60_000 + TIMES.timeout_interval_ms)
        log.deliver()

        assert log.states()[-1] is TransactionState.COMPLETE_ABORT
        assert log.end("t", producer) is ErrorCode.INVALID_TXN_STATE
        assert log.end("t", producer, version=3) is ErrorCode.PRODUCER_FENCED

    def test_one_that_began_after_an_overdue_one_ended_stays(self, log: TransactionLog) -> None:
        """The check and the abort are two operations."""
        producer = opened(log)
        log.clock.advance(60_001)
        now_ms = log.clock.now_ms()
        look = log.timer.pop_due(now_ms)
        assert look is not None
        log.run(look[1])
        abort = log.timer.pop_due(now_ms)
        assert abort is not None
        producer = log.end("t", producer)  # type: ignore[assignment]
        log.deliver()
        log.add("t", producer, B, version=2)
        log.run(abort[1])

        assert log.states()[-1] is TransactionState.ONGOING

    def test_one_that_is_not_overdue_stays(self, log: TransactionLog) -> None:
        opened(log)
        log.advance(60_000)

        assert log.states()[-1] is TransactionState.ONGOING

    def test_a_clock_that_jumps_makes_nothing_overdue(self, log: TransactionLog) -> None:
        opened(log)
        log.clock.jump_wall(DAY_MS)
        log.advance(TIMES.timeout_interval_ms)

        assert log.states()[-1] is TransactionState.ONGOING

    def test_the_time_before_a_load_does_not_count(self, log: TransactionLog) -> None:
        """Nor does the time in which the server did not run."""
        opened(log)
        log.advance(40_000)
        log.load()
        log.advance(50_000)
        before = log.states()[-1]
        log.advance(20_000)

        assert [before, log.states()[-1]] == [TransactionState.ONGOING, TransactionState.PREPARE_ABORT]

    def test_an_id_that_nobody_uses_is_forgotten(self, log: TransactionLog) -> None:
        log.init("t")
        log.advance(TIMES.expiration_ms + TIMES.expiration_interval_ms)

        assert log.records[-1].value is None
        assert list(log.shard.transactions(LATEST)) == []

    def test_an_id_that_is_being_forgotten_is_not_used(self, log: TransactionLog) -> None:
        """Until that is durable, or was not written."""
        log.init("t")
        log.advance(TIMES.expiration_ms - 1)
        log.is_holding = True
        log.advance(TIMES.expiration_interval_ms)
        before = log.init("t")
        log.settle(ErrorCode.NOT_COORDINATOR)
        log.is_holding = False

        assert before is ErrorCode.CONCURRENT_TRANSACTIONS
        assert log.init("t") == (FIRST_PRODUCER_ID, 1)

    def test_an_open_or_decided_transaction_is_not_forgotten(self, log: TransactionLog) -> None:
        """However old it is: here its markers are never written."""
        producer = opened(log)
        log.end("t", producer)
        log.advance(2 * TIMES.expiration_ms)

        assert log.states()[-1] is TransactionState.PREPARE_COMMIT
        assert log.records[-1].value is not None

    def test_a_clock_that_jumps_makes_nothing_old(self, log: TransactionLog) -> None:
        log.init("t")
        log.clock.jump_wall(2 * TIMES.expiration_ms)
        log.advance(TIMES.expiration_interval_ms)

        assert log.state("t") is not None

    def test_many_ids_are_forgotten_in_steps(self, log: TransactionLog) -> None:
        for number in range(1_200):
            log.init(f"t-{number}")
        log.advance(TIMES.expiration_ms + TIMES.expiration_interval_ms)

        assert list(log.shard.transactions(LATEST)) == []


class TestRecords:
    def test_the_first_record_of_an_id(self, log: TransactionLog) -> None:
        """What a 4.3.1 broker writes, but for the times."""
        log.init("t", timeout_ms=5_000)
        now_ms = log.clock.wall_ms()

        [record] = log.records
        assert record.value_version == 1
        assert record.value == TransactionLogValue(
            producer_id=FIRST_PRODUCER_ID,
            previous_producer_id=FIRST_PRODUCER_ID,
            next_producer_id=-1,
            producer_epoch=0,
            transaction_timeout_ms=5_000,
            transaction_status=0,
            transaction_partitions=None,
            transaction_last_update_timestamp_ms=now_ms,
            transaction_start_timestamp_ms=-1,
            client_transaction_version=0,
        )

    def test_partitions_are_by_topic_in_order(self, log: TransactionLog) -> None:
        opened(log, "t", B, ORDERS, A)
        value = log.records[-1].value

        assert isinstance(value, TransactionLogValue)
        assert value.transaction_partitions == [PartitionsSchema(OFFSETS, [A[1], B[1]]), PartitionsSchema("orders", [0])]

    def test_states_have_kafkas_numbers_and_names(self) -> None:
        assert {state.label: state.value for state in TransactionState} == {
            "Empty": 0,
            "Ongoing": 1,
            "PrepareCommit": 2,
            "PrepareAbort": 3,
            "CompleteCommit": 4,
            "CompleteAbort": 5,
            "Dead": 6,
            "PrepareEpochFence": 7,
        }

    def test_epochs_are_int16(self) -> None:
        """The greatest one is the coordinator's own."""
        assert (LAST_EPOCH, MAX_EPOCH) == (32_766, 32_767)


class TestDigest:
    def test_it_covers_every_field_of_every_id(self, log: TransactionLog) -> None:
        """Each of these states differs from the others."""
        found = [log.shard.digest(LATEST).digest]
        producer = opened(log, "t", A)
        found.append(log.shard.digest(LATEST).digest)
        log.add("t", producer, B, version=2)
        found.append(log.shard.digest(LATEST).digest)
        log.end("t", producer)
        found.append(log.shard.digest(LATEST).digest)
        log.deliver()
        found.append(log.shard.digest(LATEST).digest)
        before = found[-1]
        log.load()

        assert len(set(found)) == len(found)
        assert log.shard.digest(LATEST, with_parts=True).digest == before
        assert list(log.shard.digest(LATEST, with_parts=True).parts) == ["t"]
