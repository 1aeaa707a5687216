"""OffsetsMoment: the committed positions as of a committed log offset, and the answer about them, at once and in steps."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TypeVar

import pytest

from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.offsets.fetch import OFFSETS_PER_STEP, moment_of
from coordinator_server.offsets.store import OffsetStore, TopicPartition
from coordinator_server.offsets.values import CommittedRows
from protocol.commit_rows import partitions_of
from protocol.error_codes import ErrorCode
from protocol.fields import ZERO_UUID
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.offset_commit import OffsetCommitRequestPartition
from protocol.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from tests.support.commit_rows import rows_of

R = TypeVar("R")
TOPIC_ID = bytes(range(16))
OTHER_ID = bytes(range(1, 17))
NOTHING = OffsetFetchResponsePartitions(0, -1)


def fetch(store: OffsetStore, at: int, asked: OffsetFetchRequestGroup) -> OffsetFetchResponseGroup:
    return moment_of(store.of_group_at("g", at), at, asked).answer()


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

    answer = fetch(store, LATEST, asked(7, 0))

    assert partitions(answer) == [OffsetFetchResponsePartitions(7, -1), OffsetFetchResponsePartitions(0, 5, 3, "note")]


def test_without_topics_all_are_answered() -> None:
    """By topic."""
    store, _ = store_with(OffsetCommitValue(5), OffsetCommitValue(6))
    store.replay(2, OffsetCommitKey("g", "u", 0), OffsetCommitValue(7))

    answer = fetch(store, LATEST, OffsetFetchRequestGroup("g", topics=None))

    assert [(topic.name, [each.committed_offset for each in topic.partitions]) for topic in answer.topics] == [
        ("t", [5, 6]),
        ("u", [7]),
    ]


def test_an_unknown_group_has_nothing() -> None:
    """It is no error to ask."""
    store, _ = store_with()

    assert fetch(store, LATEST, asked(0)).topics == [OffsetFetchResponseTopics("t", partitions=[NOTHING])]
    assert fetch(store, LATEST, OffsetFetchRequestGroup("g", topics=None)).topics == []
    assert fetch(store, LATEST, OffsetFetchRequestGroup("g", topics=[])).topics == []


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

    (answer,) = partitions(fetch(store, LATEST, asked(0, topic_id=asked_id)))

    assert answer.committed_offset == offset


def test_uncommitted_offsets_are_not_seen() -> None:
    """Until the log has them; a stable fetch reads everything, and waits."""
    store, registry = store_with(OffsetCommitValue(5))
    registry.snapshot(1)
    store.replay(1, OffsetCommitKey("g", "t", 0), OffsetCommitValue(6))
    store.replay(2, OffsetCommitKey("g", "t", 1), OffsetCommitValue(7))

    def seen(committed_offset: int) -> list[int]:
        return [each.committed_offset for each in partitions(fetch(store, committed_offset, asked(0, 1)))]

    assert seen(1) == [5, -1]
    assert seen(LATEST) == [6, 7]
    everything = fetch(store, 1, OffsetFetchRequestGroup("g", topics=None))
    assert [each.committed_offset for each in partitions(everything)] == [5]
    registry.delete_up_to(3)
    assert seen(3) == [6, 7]


def store_of(counts: dict[str, int], registry: SnapshotRegistry | None = None) -> OffsetStore:
    """One group with so many offsets of each topic."""
    store = OffsetStore(registry or SnapshotRegistry())
    for topic, count in counts.items():
        for index in range(count):
            store.replay(index, OffsetCommitKey("g", topic, index), OffsetCommitValue(index + 5, 1, "note", topic_id=TOPIC_ID))
    return store


def steps_of(
    store: OffsetStore,
    topics: list[OffsetFetchRequestTopics] | None,
    at: int = LATEST,
    unstable: set[TopicPartition] | None = None,
) -> Generator[None, None, OffsetFetchResponseGroup]:
    moment = moment_of(store.of_group_at("g", at), at, OffsetFetchRequestGroup("g", topics=topics), unstable or set())
    return moment.answer_in_steps()


def expected_of(
    topic: str, indexes: Iterable[int], counts: dict[str, int], unstable: set[TopicPartition], topic_id: bytes = ZERO_UUID
) -> OffsetFetchResponseTopics:
    """The answer about a topic whose first offsets are those of ``store_of``."""
    is_known = topic_id in (ZERO_UUID, TOPIC_ID)
    partitions = []
    for index in indexes:
        if (topic, index) in unstable:
            partitions.append(OffsetFetchResponsePartitions(index, -1, error_code=ErrorCode.UNSTABLE_OFFSET_COMMIT))
        elif is_known and index < counts.get(topic, 0):
            partitions.append(OffsetFetchResponsePartitions(index, index + 5, 1, "note"))
        else:
            partitions.append(OffsetFetchResponsePartitions(index, -1))
    return OffsetFetchResponseTopics(topic, topic_id, partitions)


def finish(steps: Generator[None, None, R]) -> tuple[R, int]:
    """Return the result, and the number of steps."""
    count = 0
    while True:
        count += 1
        try:
            next(steps)
        except StopIteration as done:
            return done.value, count


def by_name(topics: list[OffsetFetchResponseTopics]) -> dict[str, list[OffsetFetchResponsePartitions]]:
    return {topic.name: sorted(topic.partitions, key=lambda one: one.partition_index) for topic in topics}


@pytest.mark.parametrize("unstable", [set(), {("t", 1), ("u", 2)}])
def test_a_fetch_of_all_offsets_goes_in_portions(unstable: set[TopicPartition]) -> None:
    """In portions of bounded size."""
    counts = {"t": 3 * OFFSETS_PER_STEP, "u": 7}

    answer, steps = finish(steps_of(store_of(counts), None, unstable=unstable))

    assert by_name(answer.topics) == by_name([expected_of(topic, range(n), counts, unstable) for topic, n in counts.items()])
    assert steps > 3


@pytest.mark.parametrize("unstable", [set(), {("t", 1), ("u", 2)}])
def test_requested_offsets(unstable: set[TopicPartition]) -> None:
    """In the order of the request, unknown and repeated ones included, by name or by id."""
    counts = {"t": OFFSETS_PER_STEP, "u": 7}
    asked = [
        OffsetFetchRequestTopics("t", partition_indexes=[*range(OFFSETS_PER_STEP + 3), 1, 1]),
        OffsetFetchRequestTopics("v", partition_indexes=[4]),
        OffsetFetchRequestTopics("u", TOPIC_ID, [2, 3, 9]),
        OffsetFetchRequestTopics("u", bytes(16)[:-1] + b"x", [2, 3]),
        OffsetFetchRequestTopics("t", partition_indexes=[]),
    ]

    answer, steps = finish(steps_of(store_of(counts), asked, unstable=unstable))

    assert answer.topics == [
        expected_of(topic.name, topic.partition_indexes, counts, unstable, topic.topic_id) for topic in asked
    ]
    assert steps > 1


def test_changes_between_the_steps_are_not_seen() -> None:
    """The answer is of the moment of the copy, and that may be an earlier offset."""
    registry = SnapshotRegistry()
    store = store_of({"t": OFFSETS_PER_STEP + 1}, registry)
    registry.snapshot(100)
    store.replay(100, OffsetCommitKey("g", "t", 0), OffsetCommitValue(77))
    store.replay(101, OffsetCommitKey("g", "t", 1), None)
    store.replay(102, OffsetCommitKey("g", "new", 0), OffsetCommitValue(77))
    steps = steps_of(store, None, at=100)

    next(steps)
    registry.delete_up_to(103)
    for index in range(OFFSETS_PER_STEP + 1):
        store.replay(103, OffsetCommitKey("g", "t", index), None)
    topics = finish(steps)[0].topics

    assert {name: len(found) for name, found in by_name(topics).items()} == {"t": OFFSETS_PER_STEP + 1}
    assert {one.committed_offset - one.partition_index for topic in topics for one in topic.partitions} == {5}


def test_few_requested_offsets_are_not_copied_with_the_others() -> None:
    """Of a group that has many."""
    store = store_of({"t": OFFSETS_PER_STEP + 5})
    offsets = store.of_group_at("g", LATEST)
    assert offsets is not None
    few, many = asked(3, 3, 10**6), asked(*[3] * (OFFSETS_PER_STEP + 1))

    assert [*moment_of(offsets, LATEST, few).offsets] == [("t", 3)]
    assert len(moment_of(offsets, LATEST, many).offsets) == OFFSETS_PER_STEP + 5


def test_rows_are_prepared_an_entry_at_a_time() -> None:
    """Oldest first, so what is read between the steps is the same."""
    store = OffsetStore(SnapshotRegistry())
    offsets = store.to_change("g")
    for entry in range(5):
        rows = rows_of([OffsetCommitRequestPartition(index, 10 * entry) for index in range(entry, entry + 10)])
        offsets.put_rows(("t", partitions_of(rows)), CommittedRows(10 * entry, 0, TOPIC_ID, rows))
    everything = offsets.copy_at(LATEST)

    prepared = []
    while not store.prepare("g", 5):
        prepared.append(offsets.unprepared())
        assert offsets.copy_at(LATEST) == everything

    assert prepared == [40, 30, 20, 10]
    assert offsets.copy_at(LATEST) == everything
