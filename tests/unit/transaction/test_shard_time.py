"""What a shard of transactional ids does after a failed append, after a load, and as time passes."""

from __future__ import annotations

from coordinator_server.transaction.shard import IDS_PER_STEP
from coordinator_server.transaction.state import TransactionState
from protocol.error_codes import ErrorCode
from tests.support.transactions import FIRST_PRODUCER_ID, LIMITS, A, B, TransactionLog, opened

DAY_MS = 24 * 3_600_000


class TestDurability:
    def test_nothing_is_answered_from_what_is_not_durable(self, log: TransactionLog) -> None:
        producer = log.init("t")
        log.is_holding = True
        log.add("t", producer, A, version=2)
        answers = [log.add("t", producer, B, version=2), log.end("t", producer), log.init("t")]

        assert answers == [ErrorCode.CONCURRENT_TRANSACTIONS] * 3

    def test_a_transaction_end_whose_write_fails_sends_no_marker(self, log: TransactionLog) -> None:
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
        log.advance(60_000 + LIMITS.timeout_interval_ms)
        log.deliver()

        assert log.states()[-1] is TransactionState.COMPLETE_ABORT
        assert log.end("t", producer) is ErrorCode.INVALID_TXN_STATE
        assert log.end("t", producer, version=3) is ErrorCode.PRODUCER_FENCED

    def test_a_transaction_that_began_after_an_overdue_one_ended_is_not_aborted(self, log: TransactionLog) -> None:
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

    def test_a_transaction_within_its_timeout_is_not_aborted(self, log: TransactionLog) -> None:
        opened(log)
        log.advance(60_000)

        assert log.states()[-1] is TransactionState.ONGOING

    def test_a_clock_that_jumps_makes_nothing_overdue(self, log: TransactionLog) -> None:
        opened(log)
        log.clock.jump_wall(DAY_MS)
        log.advance(LIMITS.timeout_interval_ms)

        assert log.states()[-1] is TransactionState.ONGOING

    def test_transaction_timeouts_begin_anew_after_a_load(self, log: TransactionLog) -> None:
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
        log.advance(LIMITS.expiration_ms + LIMITS.expiration_interval_ms)

        assert log.records[-1].value is None
        assert log.all() == {}

    def test_an_id_that_is_being_forgotten_is_not_used(self, log: TransactionLog) -> None:
        """Until that is durable, or was not written."""
        log.init("t")
        log.advance(LIMITS.expiration_ms - 1)
        log.is_holding = True
        log.advance(LIMITS.expiration_interval_ms)
        before = log.init("t")
        log.settle(ErrorCode.NOT_COORDINATOR)
        log.is_holding = False

        assert before is ErrorCode.CONCURRENT_TRANSACTIONS
        assert log.init("t") == (FIRST_PRODUCER_ID, 1)

    def test_an_id_in_the_middle_of_a_transition_is_not_forgotten(self, log: TransactionLog) -> None:
        """However old the state before the transition is."""
        log.init("t")
        log.advance(LIMITS.expiration_ms - 1)
        written = len(log.records)
        log.is_holding = True
        log.init("t")
        log.advance(LIMITS.expiration_interval_ms)
        values = [record.value for record in log.records[written:]]
        log.settle(None)
        log.is_holding = False
        log.advance(LIMITS.expiration_interval_ms)

        assert None not in values
        assert log.init("t") == (FIRST_PRODUCER_ID, 2)

    def test_an_open_or_decided_transaction_is_not_forgotten(self, log: TransactionLog) -> None:
        """However old it is: here its markers are never written."""
        producer = opened(log)
        log.end("t", producer)
        log.advance(2 * LIMITS.expiration_ms)

        assert log.states()[-1] is TransactionState.PREPARE_COMMIT
        assert log.records[-1].value is not None

    def test_a_clock_that_jumps_makes_nothing_old(self, log: TransactionLog) -> None:
        log.init("t")
        log.clock.jump_wall(2 * LIMITS.expiration_ms)
        log.advance(LIMITS.expiration_interval_ms)

        assert log.state("t") is not None

    def test_many_ids_are_forgotten_in_steps(self, log: TransactionLog) -> None:
        for number in range(1_200):
            log.init(f"t-{number}")
        log.advance(LIMITS.expiration_ms + LIMITS.expiration_interval_ms)

        assert log.all() == {}

    def test_a_step_that_is_not_written_is_tried_again_at_the_next_check(self, log: TransactionLog) -> None:
        """Not at once: the disk may be full for long."""
        for number in range(IDS_PER_STEP):
            log.init(f"t-{number}")
        log.advance(LIMITS.expiration_ms - 1)
        log.clock.advance(1)
        log.is_holding, operations = True, 0
        while operations < 10 and (due := log.timer.pop_due(log.clock.now_ms())) is not None:
            log.run(due[1])
            log.settle(ErrorCode.NOT_COORDINATOR)
            operations += 1
        log.is_holding, before = False, len(log.all())
        log.advance(LIMITS.expiration_interval_ms)

        assert (operations, before, log.all()) == (2, IDS_PER_STEP, {})
