"""The records of transactional ids, and the digest of their states."""

from __future__ import annotations

from coordinator_server.machine.timeline import LATEST
from coordinator_server.transaction.state import TransactionState
from coordinator_server.transaction.transaction import LAST_EPOCH, MAX_EPOCH
from protocol.messages.transaction_records import PartitionsSchema, TransactionLogValue
from tests.support.transactions import FIRST_PRODUCER_ID, OFFSETS, ORDERS, A, B, TransactionLog, opened


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
