"""The transaction coordinator's rules, request by request. What Kafka answers was seen on a 4.3.1 broker or read in its sources."""

from __future__ import annotations

import pytest

from coordinator_server.machine.outbox import Refused
from coordinator_server.transaction.state import TransactionState
from coordinator_server.transaction.transaction import LAST_EPOCH
from protocol.error_codes import ErrorCode
from tests.support.transactions import FIRST_PRODUCER_ID, LIMITS, ORDERS, A, B, TransactionLog, at_last_epoch, opened


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
            ("t", (-1, -1), LIMITS.max_timeout_ms + 1, ErrorCode.INVALID_TRANSACTION_TIMEOUT),
        ],
    )
    def test_operations_on_transactional_ids_that_are_refused(
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
    def test_the_first_added_partition_begins_the_transaction(self, log: TransactionLog) -> None:
        opened(log)
        state = log.state("t")

        assert state is not None
        assert (state.state, state.partitions) == (TransactionState.ONGOING, frozenset({A}))
        assert state.start_ms == state.update_ms == log.clock.wall_ms()

    def test_adding_no_partitions_begins_the_transaction(self, log: TransactionLog) -> None:
        """As in Kafka."""
        producer = log.init("t")
        log.add("t", producer)

        assert log.states()[-1] is TransactionState.ONGOING

    def test_further_partitions_keep_the_start_time_of_the_transaction(self, log: TransactionLog) -> None:
        producer = opened(log)
        began_ms = log.clock.wall_ms()
        log.advance(5)
        log.add("t", producer, B, ORDERS)
        state = log.state("t")

        assert state is not None
        assert (state.partitions, state.start_ms, state.update_ms) == (frozenset({A, B, ORDERS}), began_ms, began_ms + 5)

    def test_known_partitions_of_a_transaction_are_not_written_again(self, log: TransactionLog) -> None:
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
    def test_partitions_of_unknown_or_fenced_producers_are_refused(
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

    def test_a_partition_that_has_seen_a_newer_epoch_needs_no_marker(self, log: TransactionLog) -> None:
        log.end("t", opened(log))
        log.deliver(Refused(ErrorCode.INVALID_PRODUCER_EPOCH))

        assert log.states()[-1] is TransactionState.COMPLETE_COMMIT

    def test_a_marker_that_fails_is_sent_again(self, log: TransactionLog) -> None:
        log.end("t", opened(log))
        sent = log.deliver(Refused(ErrorCode.UNKNOWN_SERVER_ERROR))
        before = log.states()[-1]

        assert (before, log.deliver()) == (TransactionState.PREPARE_COMMIT, sent)
        assert log.states()[-1] is TransactionState.COMPLETE_COMMIT

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


class TestAbort:
    """By an administrator."""

    def test_it_ends_the_open_transaction_and_fences_its_producer(self, log: TransactionLog) -> None:
        producer = opened(log)
        aborted = log.abort("t")
        [(partition, marker)] = log.deliver()

        assert aborted == producer
        assert (partition, marker.is_commit, marker.producer_epoch) == (A[1], False, producer[1] + 1)
        assert log.end("t", producer, is_commit=False) == (producer[0], producer[1] + 1)
        assert log.end("t", producer) is ErrorCode.INVALID_TXN_STATE

    def test_only_an_open_transaction_is_aborted(self, log: TransactionLog) -> None:
        nobody = log.abort("t")
        producer = log.init("t")
        empty = log.abort("t")
        log.add("t", producer, A, version=2)
        log.end("t", producer)
        ending = log.abort("t")

        assert nobody is ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
        assert (empty, ending) == (ErrorCode.INVALID_TXN_STATE, ErrorCode.CONCURRENT_TRANSACTIONS)
