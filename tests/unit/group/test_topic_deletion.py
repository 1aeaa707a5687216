"""What groups committed for a topic goes with it."""

from __future__ import annotations

import pytest

from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.group import pass_step
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.shard import Producer
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from tests.support.group import GroupLog

OLD, NEW = bytes(15) + b"\1", bytes(15) + b"\2"


def commit(log: GroupLog, group: str, topic: str, partitions: int, topic_id: bytes = OLD) -> None:
    asked = [OffsetCommitRequestPartition(partition, 5) for partition in range(partitions)]
    request = OffsetCommitRequest(group, topics=[OffsetCommitRequestTopic(topic, topic_id, asked)])
    log.run(GroupShard.commit_offsets, request, version=10)


def tombstones(log: GroupLog) -> set[tuple[str, str, int]]:
    keys = [record.key for record in log.committed if record.value is None]
    return {(key.group, key.topic, key.partition) for key in keys if isinstance(key, OffsetCommitKey)}


def test_the_offsets_of_a_topic_go_from_all_groups() -> None:
    """Those of other topics stay."""
    log = GroupLog()
    for group in ("g", "h"):
        commit(log, group, "t", 2)
        commit(log, group, "u", 1)

    log.run(GroupShard.delete_topics, [DeletedTopic("t", OLD)], version=0)

    assert tombstones(log) == {(group, "t", partition) for group in ("g", "h") for partition in (0, 1)}


def test_what_a_new_topic_of_that_name_was_given_stays() -> None:
    """Its offsets name another topic id; those that name none are taken for the old one's."""
    log = GroupLog()
    commit(log, "g", "t", 1, topic_id=NEW)
    commit(log, "h", "t", 1, topic_id=bytes(16))

    log.run(GroupShard.delete_topics, [DeletedTopic("t", OLD)], version=0)

    assert tombstones(log) == {("h", "t", 0)}


def test_open_transactions_lose_theirs_too() -> None:
    """Their commit finds nothing to make valid any more."""
    log = GroupLog()
    record = CoordinatorRecord(OffsetCommitKey("g", "t", 0), OffsetCommitValue(9, topic_id=OLD), 4)
    log.shard.replay_in_transaction(Producer(7, 0), log.end_offset, record)

    log.run(GroupShard.delete_topics, [DeletedTopic("t", OLD)], version=0)

    assert tombstones(log) == {("g", "t", 0)}
    assert "g" not in log.shard.groups.pending


def test_a_group_with_offsets_and_open_transactions_is_gone_through_once() -> None:
    """No tombstone is written twice."""
    log = GroupLog()
    commit(log, "g", "t", 1)
    commit(log, "g", "u", 1)
    record = CoordinatorRecord(OffsetCommitKey("g", "t", 1), OffsetCommitValue(9, topic_id=OLD), 4)
    log.shard.replay_in_transaction(Producer(7, 0), log.end_offset, record)

    log.run(GroupShard.delete_topics, [DeletedTopic("t", OLD)], version=0)

    assert [record.value for record in log.committed].count(None) == 2
    assert tombstones(log) == {("g", "t", 0), ("g", "t", 1)}


def test_a_shard_that_loads_after_the_deletion_loses_the_offsets_too() -> None:
    """Nobody tells it. An offset without a topic id stays: a topic of that name may have been created since."""
    log = GroupLog()
    log.topics.create(t=2, u=1)
    [t, u] = log.topics.all_topics()
    commit(log, "g", "t", 2, topic_id=t.topic_id)
    commit(log, "g", "u", 1, topic_id=u.topic_id)
    commit(log, "h", "t", 1, topic_id=bytes(16))
    log.topics.delete("t")
    log.topics.create(t=2)
    commit(log, "i", "t", 1, topic_id=log.topics.all_topics()[0].topic_id)
    assert tombstones(log) == set()

    log.restart()
    log.advance(0)

    assert tombstones(log) == {("g", "t", 0), ("g", "t", 1)}


def test_a_large_shard_is_gone_through_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first step is answered for, the others follow; a second topic joins the pass under way."""
    monkeypatch.setattr(pass_step, "RECORDS_PER_STEP", 3)
    log = GroupLog()
    for group in ("g", "h"):
        commit(log, group, "t", 4)
        commit(log, group, "u", 1)

    log.run(GroupShard.delete_topics, [DeletedTopic("t", OLD)], version=0)
    first = tombstones(log)
    log.run(GroupShard.delete_topics, [DeletedTopic("u", OLD)], version=0)
    log.advance(100)

    assert len(first) == 3
    assert len(tombstones(log)) == 10


def test_a_simple_group_outlives_its_last_offset() -> None:
    """As in Kafka, until the next retention check; it may have members by then."""
    log = GroupLog()
    commit(log, "g", "t", 2)
    commit(log, "h", "t", 1)
    commit(log, "h", "u", 1)

    log.run(GroupShard.delete_topics, [DeletedTopic("t", OLD)], version=0)

    assert [group.group_state for group in log.shard.list_groups(log.committed_offset)] == ["Empty", "Empty"]
    assert [type(record.key).__name__ for record in log.committed].count("GroupMetadataKey") == 1
