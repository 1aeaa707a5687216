"""commit_records: records and answers, partition by partition."""

from __future__ import annotations

import pytest

from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.offsets.commit import commit_records
from coordinator_server.offsets.store import OffsetStore
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)

TOPIC_ID = bytes(range(16))
STORE = OffsetStore(SnapshotRegistry())
NOW_MS = 1_700_000_000_000


def request(*partitions: OffsetCommitRequestPartition, retention_ms: int = -1) -> OffsetCommitRequest:
    topics = [OffsetCommitRequestTopic("t", TOPIC_ID, list(partitions))]
    return OffsetCommitRequest("g", 1, "m", retention_time_ms=retention_ms, topics=topics)


def test_one_record_for_each_partition() -> None:
    """All that the request says of it, the time, and the topic's id."""
    result = commit_records(
        STORE, request(OffsetCommitRequestPartition(3, 5, 7, "note"), OffsetCommitRequestPartition(4, 6)), NOW_MS, 4096
    )

    assert list(result.records) == [
        CoordinatorRecord(OffsetCommitKey("g", "t", 3), OffsetCommitValue(5, 7, "note", NOW_MS, -1, TOPIC_ID), 4),
        CoordinatorRecord(OffsetCommitKey("g", "t", 4), OffsetCommitValue(6, -1, "", NOW_MS, -1, TOPIC_ID), 4),
    ]


def test_a_retention_time_makes_an_expiry() -> None:
    """The value is of version 1 then, the only one that has one; 0 is a time, too."""
    expires = []
    for retention_ms in (1000, 0):
        (record,) = commit_records(
            STORE, request(OffsetCommitRequestPartition(0, 5), retention_ms=retention_ms), NOW_MS, 4096
        ).records
        assert isinstance(record.value, OffsetCommitValue)
        expires.append((record.value_version, record.value.expire_timestamp))

    assert expires == [(1, NOW_MS + 1000), (1, NOW_MS)]


def test_a_retention_time_beyond_all_time_is_for_ever() -> None:
    """The sum must still be an int64."""
    (record,) = commit_records(STORE, request(OffsetCommitRequestPartition(0, 5), retention_ms=2**63 - 1), NOW_MS, 4096).records

    assert isinstance(record.value, OffsetCommitValue)
    assert record.value.expire_timestamp == 2**63 - 1


@pytest.mark.parametrize(
    ("metadata", "is_refused"), [(None, False), ("", False), ("abcd", False), ("abcde", True), ("🐘🐘", False), ("🐘🐘a", True)]
)
def test_metadata_has_a_limit(metadata: str | None, is_refused: bool) -> None:
    """In UTF-16 units, as Java counts."""
    result = commit_records(STORE, request(OffsetCommitRequestPartition(0, 5, -1, metadata)), NOW_MS, 4)

    assert isinstance(result.response, OffsetCommitResponse)
    (answer,) = result.response.topics[0].partitions
    assert (answer.error_code == ErrorCode.OFFSET_METADATA_TOO_LARGE) is is_refused
    assert len(result.records) == (not is_refused)


def test_the_answer_follows_the_request() -> None:
    """Topics by name and id, partitions in order, refused ones among them."""
    partitions = [
        OffsetCommitRequestPartition(9, 1),
        OffsetCommitRequestPartition(2, 1, -1, "too long"),
        OffsetCommitRequestPartition(5, 1),
    ]

    result = commit_records(STORE, request(*partitions), NOW_MS, 4)

    assert isinstance(result.response, OffsetCommitResponse)
    (topic,) = result.response.topics
    assert (topic.name, topic.topic_id) == ("t", TOPIC_ID)
    assert [(answer.partition_index, answer.error_code) for answer in topic.partitions] == [(9, 0), (2, 12), (5, 0)]
