"""OffsetFetch in steps: the same answer as at once, of one moment, and short steps."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

import pytest

from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.offsets.fetch import fetch_offsets
from coordinator_server.offsets.group_offsets import CommittedRows
from coordinator_server.offsets.moment import OFFSETS_PER_STEP, OffsetsMoment, answer_in_steps, moment_of
from coordinator_server.offsets.store import OffsetStore, TopicPartition
from protocol.commit_rows import partitions_of
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.offset_commit import OffsetCommitRequestPartition
from protocol.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from tests.support.commit_rows import rows_of

R = TypeVar("R")
TOPIC_ID = bytes(range(16))


def store_of(counts: dict[str, int], registry: SnapshotRegistry | None = None) -> OffsetStore:
    """One group with so many offsets of each topic."""
    store = OffsetStore(registry or SnapshotRegistry())
    for topic, count in counts.items():
        for index in range(count):
            store.replay(index, OffsetCommitKey("g", topic, index), OffsetCommitValue(index + 5, 1, "note", topic_id=TOPIC_ID))
    return store


def whole(store: OffsetStore, at: int = LATEST, unstable: set[TopicPartition] | None = None) -> OffsetsMoment:
    offsets = store.of_group_at("g", at)
    return OffsetsMoment({} if offsets is None else offsets.copy_at(at), unstable or set())


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
def test_all_offsets(unstable: set[TopicPartition]) -> None:
    """In portions of bounded size."""
    store = store_of({"t": 3 * OFFSETS_PER_STEP, "u": 7})
    expected = fetch_offsets(store, LATEST, OffsetFetchRequestGroup("g", topics=None), unstable)

    topics, steps = finish(answer_in_steps(whole(store, unstable=unstable), None))

    assert by_name(topics) == by_name(expected.topics)
    assert steps > 3


@pytest.mark.parametrize("unstable", [set(), {("t", 1), ("u", 2)}])
def test_requested_offsets(unstable: set[TopicPartition]) -> None:
    """In the order of the request, unknown and repeated ones included, by name or by id."""
    store = store_of({"t": OFFSETS_PER_STEP, "u": 7})
    asked = [
        OffsetFetchRequestTopics("t", partition_indexes=[*range(OFFSETS_PER_STEP + 3), 1, 1]),
        OffsetFetchRequestTopics("v", partition_indexes=[4]),
        OffsetFetchRequestTopics("u", TOPIC_ID, [2, 3, 9]),
        OffsetFetchRequestTopics("u", bytes(16)[:-1] + b"x", [2, 3]),
        OffsetFetchRequestTopics("t", partition_indexes=[]),
    ]
    expected = fetch_offsets(store, LATEST, OffsetFetchRequestGroup("g", topics=asked), unstable)

    topics, steps = finish(answer_in_steps(whole(store, unstable=unstable), asked))

    assert topics == expected.topics
    assert steps > 1


def test_changes_between_the_steps_are_not_seen() -> None:
    """The answer is of the moment of the copy, and that may be an earlier offset."""
    registry = SnapshotRegistry()
    store = store_of({"t": OFFSETS_PER_STEP + 1}, registry)
    registry.snapshot(100)
    store.replay(100, OffsetCommitKey("g", "t", 0), OffsetCommitValue(77))
    store.replay(101, OffsetCommitKey("g", "t", 1), None)
    store.replay(102, OffsetCommitKey("g", "new", 0), OffsetCommitValue(77))
    steps = answer_in_steps(whole(store, at=100), None)

    next(steps)
    registry.delete_up_to(103)
    for index in range(OFFSETS_PER_STEP + 1):
        store.replay(103, OffsetCommitKey("g", "t", index), None)
    topics, _ = finish(steps)

    assert {name: len(found) for name, found in by_name(topics).items()} == {"t": OFFSETS_PER_STEP + 1}
    assert {one.committed_offset - one.partition_index for topic in topics for one in topic.partitions} == {5}


def test_few_requested_offsets_are_not_copied_with_the_others() -> None:
    """Of a group that has many."""
    store = store_of({"t": OFFSETS_PER_STEP + 5})
    offsets = store.of_group_at("g", LATEST)
    assert offsets is not None
    few = [OffsetFetchRequestTopics("t", partition_indexes=[3, 3, 10**6])]
    many = [OffsetFetchRequestTopics("t", partition_indexes=[3] * (OFFSETS_PER_STEP + 1))]

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
        prepared.append(offsets.row_count())
        assert offsets.copy_at(LATEST) == everything

    assert prepared == [40, 30, 20, 10]
    assert offsets.copy_at(LATEST) == everything
