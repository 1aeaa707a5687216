"""Deletion and expiry beside transactions that are still open."""

from __future__ import annotations

from coordinator_server.group.restore import Restore, RestoredOffset
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.shard import Producer
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.group_records import GroupMetadataKey, OffsetCommitKey, OffsetCommitValue
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from tests.support.configs import config_with
from tests.support.group import GroupLog

DAY_MS = 86_400_000
PRODUCER = Producer(7, 0)


def with_open_transaction() -> GroupLog:
    """A simple group with t:0 committed, and t:0 and t:1 in a transaction."""
    log = GroupLog(config_with(offsets_retention_minutes=1))
    commit = OffsetCommitRequest("s", topics=[OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 5)])])
    log.run(GroupShard.commit_offsets, commit, version=8)
    for partition in (0, 1):
        record = CoordinatorRecord(OffsetCommitKey("s", "t", partition), OffsetCommitValue(9), 4)
        log.shard.replay_in_transaction(PRODUCER, log.end_offset, record)
    return log


def tombstones(log: GroupLog) -> list[object]:
    return [record.key for record in log.committed if record.value is None]


def test_deleting_a_group_takes_what_transactions_have_open_as_well() -> None:
    """One tombstone a position, and one for the group."""
    log = with_open_transaction()

    log.run(GroupShard.delete_groups, ["s"], version=2)

    assert tombstones(log) == [OffsetCommitKey("s", "t", 0), OffsetCommitKey("s", "t", 1), GroupMetadataKey("s")]
    assert "s" not in log.shard.groups.pending


def test_an_offset_that_only_a_transaction_has_can_be_deleted() -> None:
    """Its commit finds nothing to make valid any more."""
    log = with_open_transaction()
    request = OffsetDeleteRequest("s", [OffsetDeleteRequestTopic("t", [OffsetDeleteRequestPartition(1)])])

    log.run(GroupShard.delete_offsets, request, version=0)

    assert tombstones(log) == [OffsetCommitKey("s", "t", 1)]


def test_nothing_that_a_transaction_may_still_change_expires() -> None:
    """Neither the position nor the group."""
    log = with_open_transaction()

    log.advance(DAY_MS)

    assert tombstones(log) == []


def test_a_group_of_which_only_a_transaction_is_left_stays() -> None:
    """The last of its offsets expires, and the transaction may make another one valid."""
    log = GroupLog(config_with(offsets_retention_minutes=1))
    commit = OffsetCommitRequest("s", topics=[OffsetCommitRequestTopic("u", partitions=[OffsetCommitRequestPartition(0, 5)])])
    log.run(GroupShard.commit_offsets, commit, version=8)
    record = CoordinatorRecord(OffsetCommitKey("s", "t", 1), OffsetCommitValue(9), 4)
    log.shard.replay_in_transaction(PRODUCER, log.end_offset, record)

    log.advance(DAY_MS)

    assert tombstones(log) == [OffsetCommitKey("s", "u", 0)]


def test_offsets_are_not_restored_while_a_transaction_is_open() -> None:
    """It may change them afterwards."""
    log = with_open_transaction()
    before = len(log.committed)

    refused = log.run(GroupShard.restore_offsets, Restore("s", [RestoredOffset("t", 0, 1, -1, "")]), version=0)

    assert refused.error == ErrorCode.UNSTABLE_OFFSET_COMMIT
    assert len(log.committed) == before
