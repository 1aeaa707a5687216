"""Offsets of open transactions: when they become valid, and who sees them before."""

from __future__ import annotations

import pytest

from coordinator_server.machine.shard import Producer, TransactionResult
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.offsets.pending import PendingOffsets
from coordinator_server.offsets.store import OffsetStore
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue

A, B = Producer(1, 0), Producer(2, 0)
COMMIT, ABORT = TransactionResult.COMMIT, TransactionResult.ABORT
KEY = OffsetCommitKey("g", "t", 0)
POSITION = ("t", 0)


class Log:
    """A store and what is pending, and the next record's offset."""

    def __init__(self) -> None:
        self.registry = SnapshotRegistry()
        self.store = OffsetStore(self.registry)
        self.pending = PendingOffsets(self.registry, self.store)
        self.offset = 0

    def commit(self, offset: int | None, producer: Producer | None = None, key: OffsetCommitKey = KEY) -> None:
        value = None if offset is None else OffsetCommitValue(offset)
        if producer is None:
            self.store.replay(self.offset, key, value)
        else:
            self.pending.replay(producer, self.offset, key, value)
        self.offset += 1

    def end(self, producer: Producer, result: TransactionResult) -> None:
        self.pending.end(producer, result)
        self.offset += 1

    @property
    def committed(self) -> int | None:
        found = self.store.find("g", POSITION)
        return None if found is None else found.committed_offset


@pytest.fixture
def log() -> Log:
    return Log()


def test_an_offset_in_an_open_transaction_is_not_committed(log: Log) -> None:
    log.commit(5, A)

    assert log.committed is None
    assert "g" in log.pending
    assert log.pending.open_at("g", LATEST) == {POSITION}


def test_a_commit_marker_makes_the_offsets_of_its_producer_valid_and_no_others(log: Log) -> None:
    log.commit(5, A)
    log.commit(6, B, OffsetCommitKey("g", "t", 1))
    log.end(A, COMMIT)

    assert log.committed == 5
    assert log.store.find("g", ("t", 1)) is None
    assert log.pending.open_at("g", LATEST) == {("t", 1)}


def test_an_abort_marker_forgets_them(log: Log) -> None:
    log.commit(4)
    log.commit(5, A)
    log.end(A, ABORT)

    assert log.committed == 4
    assert "g" not in log.pending
    assert log.pending.open_at("g", LATEST) == ()


def test_of_two_transactions_the_record_that_stands_later_wins_whichever_ends_first(log: Log) -> None:
    log.commit(5, A)
    log.commit(6, B)
    log.end(B, COMMIT)
    log.end(A, COMMIT)

    assert log.committed == 6


def test_a_plain_commit_after_the_transactional_record_wins_over_it(log: Log) -> None:
    log.commit(5, A)
    log.commit(4)
    log.end(A, COMMIT)

    assert log.committed == 4


def test_the_last_offset_of_one_transaction_is_the_one_that_counts(log: Log) -> None:
    log.commit(5, A)
    log.commit(3, A)
    log.end(A, COMMIT)

    assert log.committed == 3


@pytest.mark.parametrize("by", [None, B])
def test_a_tombstone_takes_the_position_out_of_every_open_transaction(log: Log, by: Producer | None) -> None:
    log.commit(4)
    log.commit(5, A)
    log.commit(6, B)
    log.commit(None, by)
    log.end(A, COMMIT)
    log.end(B, COMMIT)

    assert log.committed is None
    assert "g" not in log.pending
    assert "g" not in log.store


def test_an_offset_after_the_tombstone_is_pending_again(log: Log) -> None:
    log.commit(5, A)
    log.commit(None)
    log.commit(6, A)
    assert log.pending.open_at("g", LATEST) == {POSITION}

    log.end(A, COMMIT)
    assert log.committed == 6


def test_a_marker_of_a_producer_without_offsets_changes_nothing(log: Log) -> None:
    log.commit(4)
    log.end(A, COMMIT)

    assert log.committed == 4


def test_a_producer_begins_again_after_its_marker(log: Log) -> None:
    log.commit(5, A)
    log.end(A, ABORT)
    log.commit(6, Producer(A.id, 1))
    log.end(Producer(A.id, 1), COMMIT)

    assert log.committed == 6


def test_what_was_not_durable_is_taken_back_the_marker_as_well_as_the_offset(log: Log) -> None:
    log.commit(5, A)
    log.registry.snapshot(log.offset)
    log.commit(6, B)
    log.end(A, COMMIT)
    log.registry.revert_to(1)

    assert log.committed is None
    assert log.pending.open_at("g", LATEST) == {POSITION}
    log.end(A, COMMIT)
    assert log.committed == 5


def test_what_is_open_can_be_asked_as_of_a_committed_offset(log: Log) -> None:
    log.registry.snapshot(0)
    log.commit(5, A)
    log.registry.snapshot(1)
    log.end(A, COMMIT)

    assert (log.pending.groups_at(0), log.pending.groups_at(1), log.pending.groups_at(LATEST)) == ([], ["g"], [])
    assert (log.pending.open_at("g", 0), log.pending.open_at("g", 1), log.pending.open_at("g", LATEST)) == ((), {POSITION}, ())
