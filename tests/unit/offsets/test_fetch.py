"""fetch_offsets: committed positions as of a committed log offset."""

from __future__ import annotations

import pytest

from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.offsets.fetch import fetch_offsets
from coordinator_server.offsets.store import OffsetStore
from protocol.fields import ZERO_UUID
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)

TOPIC_ID = bytes(range(16))
OTHER_ID = bytes(range(1, 17))
NOTHING = OffsetFetchResponsePartitions(0, -1)


def asked(*indexes: int, topic_id: bytes = ZERO_UUID) -> OffsetFetchRequestGroup:
    return OffsetFetchRequestGroup("g", topics=[OffsetFetchRequestTopics("t", topic_id, list(indexes))])


def store_with(*values: OffsetCommitValue) -> tuple[OffsetStore, SnapshotRegistry]:
    """Partition n of topic t is at the n-th value."""
    registry = SnapshotRegistry()
    store = OffsetStore(registry)
    for partition, value in enumerate(values):
        store.replay(partition, OffsetCommitKey("g", "t", partition), value)
    return store, registry


def partitions(answer: OffsetFetchResponseGroup) -> list[OffsetFetchResponsePartitions]:
    return [partition for topic in answer.topics for partition in topic.partitions]


def test_each_partition_that_is_asked_for_is_answered() -> None:
    """In the order of the request; what was never committed is at -1, without an error."""
    store, _ = store_with(OffsetCommitValue(5, 3, "note"))

    answer = fetch_offsets(store, LATEST, asked(7, 0))

    assert partitions(answer) == [OffsetFetchResponsePartitions(7, -1), OffsetFetchResponsePartitions(0, 5, 3, "note")]


def test_without_topics_all_are_answered() -> None:
    """By topic."""
    store, _ = store_with(OffsetCommitValue(5), OffsetCommitValue(6))
    store.replay(2, OffsetCommitKey("g", "u", 0), OffsetCommitValue(7))

    answer = fetch_offsets(store, LATEST, OffsetFetchRequestGroup("g", topics=None))

    assert [(topic.name, [each.committed_offset for each in topic.partitions]) for topic in answer.topics] == [
        ("t", [5, 6]),
        ("u", [7]),
    ]


def test_an_unknown_group_has_nothing() -> None:
    """It is no error to ask."""
    store, _ = store_with()

    assert fetch_offsets(store, LATEST, asked(0)).topics == [OffsetFetchResponseTopics("t", partitions=[NOTHING])]
    assert fetch_offsets(store, LATEST, OffsetFetchRequestGroup("g", topics=None)).topics == []
    assert fetch_offsets(store, LATEST, OffsetFetchRequestGroup("g", topics=[])).topics == []


@pytest.mark.parametrize(
    ("committed_id", "asked_id", "offset"),
    [
        (ZERO_UUID, ZERO_UUID, 5),
        (TOPIC_ID, ZERO_UUID, 5),
        (ZERO_UUID, TOPIC_ID, 5),
        (TOPIC_ID, TOPIC_ID, 5),
        (TOPIC_ID, OTHER_ID, -1),
    ],
)
def test_a_topic_that_was_made_anew_has_no_offsets(committed_id: bytes, asked_id: bytes, offset: int) -> None:
    """Where both ids are known, they have to agree."""
    store, _ = store_with(OffsetCommitValue(5, topic_id=committed_id))

    (answer,) = partitions(fetch_offsets(store, LATEST, asked(0, topic_id=asked_id)))

    assert answer.committed_offset == offset


def test_uncommitted_offsets_are_not_seen() -> None:
    """Until the log has them; a stable fetch reads everything, and waits."""
    store, registry = store_with(OffsetCommitValue(5))
    registry.snapshot(1)
    store.replay(1, OffsetCommitKey("g", "t", 0), OffsetCommitValue(6))
    store.replay(2, OffsetCommitKey("g", "t", 1), OffsetCommitValue(7))

    def seen(committed_offset: int) -> list[int]:
        return [each.committed_offset for each in partitions(fetch_offsets(store, committed_offset, asked(0, 1)))]

    assert seen(1) == [5, -1]
    assert seen(LATEST) == [6, 7]
    everything = fetch_offsets(store, 1, OffsetFetchRequestGroup("g", topics=None))
    assert [each.committed_offset for each in partitions(everything)] == [5]
    registry.delete_up_to(3)
    assert seen(3) == [6, 7]
