"""Offsets of transactions in a group's shard, from the bytes of the log to what a client hears."""

from __future__ import annotations

import pytest

from coordinator_server.config import Config
from coordinator_server.group.common.settings import SettingsOfGroups
from coordinator_server.group.fetch import LatestFetch
from coordinator_server.group.group_type import GroupContext
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import Producer, TransactionResult
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.offsets.fetch import OffsetsMoment
from coordinator_server.runtime.loader import replay_batch
from coordinator_server.runtime.producers import EndOfTransaction
from coordinator_server.runtime.runtime import WriteOperation
from protocol.batch_builder import BatchBuilder
from protocol.control_records import end_transaction_marker
from protocol.coordinator_records import CLASSIC_GROUP_SERDE, CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue, OffsetCommitKey, OffsetCommitValue
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from protocol.record_batch import CONTROL, TRANSACTIONAL
from tests.support.clock import ManualClock
from tests.support.group import ManualTimer
from tests.support.group_runtime import COMMIT, GroupRuntime
from tests.support.runtime import CONTEXT, Outcome

PRODUCER = 9


class Log:
    """A shard that is fed batches."""

    def __init__(self) -> None:
        self.registry = SnapshotRegistry()
        clock, config = ManualClock(), Config()
        context = GroupContext(config, ManualTimer(clock), clock, str, SettingsOfGroups(config))
        self.shard = GroupShard(context, self.registry)
        self.offset = 0

    def write(self, records: list[CoordinatorRecord], producer_id: int = -1) -> None:
        attributes = 0 if producer_id < 0 else TRANSACTIONAL
        batch = BatchBuilder(self.offset, 0, attributes=attributes, producer_id=producer_id)
        for record in records:
            batch.append(CLASSIC_GROUP_SERDE.encode_key(record), CLASSIC_GROUP_SERDE.encode_value(record))
        self._replay(batch)

    def end(self, is_commit: bool) -> None:
        batch = BatchBuilder(self.offset, 0, attributes=TRANSACTIONAL | CONTROL, producer_id=PRODUCER)
        batch.append(*end_transaction_marker(is_commit, 0))
        self._replay(batch)

    def _replay(self, batch: BatchBuilder) -> None:
        self.offset = batch.next_offset
        assert replay_batch(batch.finish(), CLASSIC_GROUP_SERDE, self.shard) > 0

    def fetch(self, topics: list[OffsetFetchRequestTopics] | None = None) -> list[tuple[int, int, int]]:
        """Partition, offset and error, read as committed."""
        answer = self.shard.fetch_offsets(LATEST, OffsetFetchRequestGroup("g", topics=topics)).answer()
        return [(p.partition_index, p.committed_offset, p.error_code) for topic in answer.topics for p in topic.partitions]

    def fetch_stable(self, topics: list[OffsetFetchRequestTopics] | None = None) -> list[tuple[int, int, int]]:
        request = LatestFetch(OffsetFetchRequestGroup("g", topics=topics), require_stable=True)
        moment = self.shard.fetch_latest_offsets(CONTEXT, request, Outcome()).response
        assert isinstance(moment, OffsetsMoment)
        answer = moment.answer()
        return [(p.partition_index, p.committed_offset, p.error_code) for topic in answer.topics for p in topic.partitions]

    def listed(self) -> list[str]:
        return [group.group_id for group in self.shard.list_groups(LATEST)]


def offset(partition: int, position: int) -> CoordinatorRecord:
    return CoordinatorRecord(OffsetCommitKey("g", "t", partition), OffsetCommitValue(position), 4)


def asked(*partitions: int) -> list[OffsetFetchRequestTopics]:
    return [OffsetFetchRequestTopics("t", partition_indexes=list(partitions))]


@pytest.fixture
def log() -> Log:
    log = Log()
    log.write([offset(0, 10), offset(1, 20)])
    log.write([offset(0, 11), offset(2, 30)], PRODUCER)
    return log


def test_offsets_of_an_open_transaction_are_not_shown_as_committed(log: Log) -> None:
    assert log.fetch() == [(0, 10, 0), (1, 20, 0)]


def test_who_asks_for_stable_offsets_is_told_to_ask_again_where_a_transaction_is_open(log: Log) -> None:
    unstable = int(ErrorCode.UNSTABLE_OFFSET_COMMIT)

    assert log.fetch_stable(asked(0, 1, 2, 3)) == [(0, -1, unstable), (1, 20, 0), (2, -1, unstable), (3, -1, 0)]
    assert log.fetch_stable() == [(0, -1, unstable), (1, 20, 0)]


def test_a_commit_marker_shows_them_and_an_abort_marker_does_not(log: Log) -> None:
    log.end(is_commit=True)
    log.write([offset(1, 21)], PRODUCER)
    log.end(is_commit=False)

    assert log.fetch() == log.fetch_stable() == [(0, 11, 0), (1, 20, 0), (2, 30, 0)]


def test_a_group_with_nothing_but_an_open_transaction_is_listed_and_described() -> None:
    log = Log()
    log.write([offset(0, 10)], PRODUCER)
    assert log.listed() == ["g"]
    assert log.shard.describe_group(LATEST, "g").group_state == "Empty"

    log.end(is_commit=False)
    assert log.listed() == []


def test_an_aborted_transaction_of_an_unknown_group_leaves_none() -> None:
    log = Log()
    log.write([offset(0, 10)], PRODUCER)
    log.end(is_commit=False)

    with pytest.raises(CoordinatorError, match="GROUP_ID_NOT_FOUND"):
        log.shard.describe_group(LATEST, "g")


def test_other_records_in_a_transactional_batch_count_at_once() -> None:
    log = Log()
    log.write([CoordinatorRecord(GroupMetadataKey("g"), GroupMetadataValue("consumer", 3), 3)], PRODUCER)

    assert log.listed() == ["g"]


def test_a_deleted_group_leaves_the_transactions_open_that_it_had_offsets_in() -> None:
    """Records before their markers are not decided, whatever has become of the group (Kafka's last stable offset)."""
    log = GroupRuntime()
    log.commit_alone("other", {"t": {0: 1}})
    topics = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 5)])]
    producer = Producer(PRODUCER, 0)
    claim = log.runtime.claim(0, producer, bumps_epoch=False)
    log.runtime.write(0, COMMIT, CONTEXT, OffsetCommitRequest("g", topics=topics), Outcome(), claim)
    log.finish()
    deletion = log.ask(WriteOperation("delete-groups", GroupShard.delete_groups), ["g"], 2)
    log.finish()
    before = log.runtime.last_stable_offset(0)
    log.runtime.complete_transaction(0, EndOfTransaction(producer, TransactionResult.COMMIT, 1), Outcome())
    log.finish()

    assert [result.error_code for result in deletion.response] == [ErrorCode.NONE]
    assert (before, log.runtime.last_stable_offset(0)) == (1, log.store.end_offset(log.shard_id))
    assert log.committed("g") == {}
