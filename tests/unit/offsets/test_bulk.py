"""BulkReplay: which records it reads itself.
tests/property/test_bulk_replay.py compares what it reads with the regular decoders.
"""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.offsets import bulk
from coordinator_server.offsets.bulk import BulkReplay
from coordinator_server.offsets.store import OffsetStore
from coordinator_server.offsets.values import OffsetAndMetadata
from protocol.batch_builder import BatchBuilder, encode_headers
from protocol.commit_records import CommitLayout
from protocol.coordinator_records import CLASSIC_GROUP_SERDE, CoordinatorRecord
from protocol.fields import ZERO_UUID
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.offset_commit import OffsetCommitRequestPartition
from protocol.plain_commits import MOST_ROWS
from protocol.record_batch import HEADER_SIZE, Record

AT_MS = 1_700_000_000_000
Stated = tuple[OffsetCommitKey, OffsetCommitValue, int]


def replayed(data: bytes, last_delta: int) -> tuple[int, Any]:
    """How many records were read, and what the store has of them."""
    store = OffsetStore(SnapshotRegistry())
    _, count = BulkReplay(store).replay(data, HEADER_SIZE, len(data), 0, last_delta)
    return count, {group_id: dict(offsets.items()) for group_id, offsets in store.by_group.items()}


def batch_of(commits: list[Stated], *, headers: bytes = encode_headers(())) -> bytes:
    builder = BatchBuilder(0, AT_MS)
    for key, value, version in commits:
        record = CoordinatorRecord(key, value, version)
        builder.append(CLASSIC_GROUP_SERDE.encode_key(record), CLASSIC_GROUP_SERDE.encode_value(record), headers)
    return builder.finish()


def one_by_one(commits: list[Stated]) -> Any:
    store = OffsetStore(SnapshotRegistry())
    for number, (key, value, _) in enumerate(commits):
        store.replay(number, key, value)
    return {group_id: dict(offsets.items()) for group_id, offsets in store.by_group.items()}


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4])
def test_commits_of_every_size_are_read(version: int) -> None:
    """Sizes of records, keys and values take one byte below 64, and two from there on."""
    commits = [
        (OffsetCommitKey("g" * name, "t", 0), OffsetCommitValue(7, -1, "m" * metadata, AT_MS), version)
        for name, metadata in [*((length, 0) for length in range(1, 90)), *((1, length) for length in range(90))]
    ]

    assert replayed(batch_of(commits), len(commits) - 1) == (len(commits), one_by_one(commits))


def test_a_commit_whose_first_record_has_headers_is_stored_as_its_rows() -> None:
    """Twice, the second time instead of the first: as the server writes commits, and as they take the least memory."""
    store = OffsetStore(SnapshotRegistry())
    layout = CommitLayout("g", "t", ZERO_UUID)
    builder = BatchBuilder(0, AT_MS)
    for number in range(2):
        rows = [OffsetCommitRequestPartition(index, 100 * number + index, 3) for index in range(20)]
        builder.extend(layout.encode_partitions(20 * number, rows, AT_MS + number, encode_headers((("by", b"x"),))), 20)
    data = builder.finish()

    assert BulkReplay(store).replay(data, HEADER_SIZE, len(data), 0, 39) == (len(data), 40)

    [(_, committed)] = store.by_group["g"].rows_of("t")
    assert (committed.record_offset, committed.timestamp_ms) == (20, AT_MS + 1)
    assert store.by_group["g"].count() == 20
    assert store.by_group["g"]["t", 7] == OffsetAndMetadata(107, 3, "", AT_MS + 1, 27)


def test_a_commit_whose_records_differ_in_size_is_stored_as_its_rows() -> None:
    """Offset deltas from 64 on take one more byte, in the middle of a commit."""
    store = OffsetStore(SnapshotRegistry())
    commits: list[Stated] = [
        (OffsetCommitKey("g", "t", index), OffsetCommitValue(index, 3, "", AT_MS), 4) for index in range(100)
    ]
    data = batch_of(commits)

    assert BulkReplay(store).replay(data, HEADER_SIZE, len(data), 0, 99) == (len(data), 100)

    [(partitions, committed)] = store.by_group["g"].rows_of("t")
    assert (partitions.indexes(), committed.record_offset) == ([*range(100)], 0)
    assert store.by_group["g"]["t", 99] == OffsetAndMetadata(99, 3, "", AT_MS, 99)


@pytest.mark.parametrize("second", ["another time", "another topic", "another group", "another id", "metadata", "too many"])
def test_records_of_another_commit_are_not_added_to_rows(second: str) -> None:
    group, topic = "h" if second == "another group" else "g", "u" if second == "another topic" else "t"
    at_ms, metadata = AT_MS + (second == "another time"), "m" * (second == "metadata")
    topic_id = bytes(range(16)) if second == "another id" else ZERO_UUID
    most = MOST_ROWS if second == "too many" else 64
    commits: list[Stated] = [
        *((OffsetCommitKey("g", "t", index), OffsetCommitValue(index, 3, "", AT_MS), 4) for index in range(most)),
        *(
            (OffsetCommitKey(group, topic, index), OffsetCommitValue(7, 3, metadata, at_ms, -1, topic_id), 4)
            for index in range(9)
        ),
    ]
    data = batch_of(commits)
    store = OffsetStore(SnapshotRegistry())
    BulkReplay(store).replay(data, HEADER_SIZE, len(data), 0, len(commits) - 1)

    assert {group_id: dict(offsets.items()) for group_id, offsets in store.by_group.items()} == one_by_one(commits)


def test_groups_that_commit_the_same_partitions_share_what_names_them() -> None:
    """A name of a partition is as large as its offset, and all groups are read after a start."""
    commits: list[Stated] = [
        (OffsetCommitKey(group, "t", index), OffsetCommitValue(7, -1, "", AT_MS), 4)
        for group in ("g", "h")
        for index in range(20)
    ]
    _, found = replayed(batch_of(commits), len(commits) - 1)

    assert [one is other for one, other in zip(found["g"], found["h"], strict=True)] == [True] * 20


def test_commits_with_headers_are_read() -> None:
    """Headers say who made a commit. They do not change what is committed."""
    commits = [(OffsetCommitKey("g", "t", partition), OffsetCommitValue(7), 4) for partition in range(3)]

    assert replayed(batch_of(commits, headers=encode_headers((("by", b"x"),))), 2) == (3, one_by_one(commits))


@pytest.mark.parametrize("delta_ms", [-5, -64, 63, 64, 10**9, -(2**40)])
def test_commits_of_any_time_are_read(delta_ms: int) -> None:
    """Compaction keeps the time of each record."""
    commit = OffsetCommitKey("g", "t", 0), OffsetCommitValue(7), 4
    record = CoordinatorRecord(*commit)
    builder = BatchBuilder(0, AT_MS)
    raw = CLASSIC_GROUP_SERDE.encode_key(record), CLASSIC_GROUP_SERDE.encode_value(record)
    builder.append_record(Record(0, AT_MS, *raw))
    builder.append_record(Record(1, AT_MS + delta_ms, *raw))

    assert replayed(builder.finish(), 1)[0] == 2


@pytest.mark.parametrize("count", [2, 4, 5, 63, 64, 65, 66, 130, 700])
def test_a_commit_of_many_partitions_is_read_whole(count: int) -> None:
    """Offset deltas take one byte below 64, and two from there on."""
    commits = [(OffsetCommitKey("g", "t", partition), OffsetCommitValue(partition * 7), 4) for partition in range(count)]

    assert replayed(batch_of(commits), count - 1) == (count, one_by_one(commits))


@pytest.mark.parametrize("place", [1, 2, 3, 4, 5, 40])
@pytest.mark.parametrize(
    "other",
    [
        (OffsetCommitKey("h", "t", 1), OffsetCommitValue(7), 4),
        (OffsetCommitKey("g", "u", 1), OffsetCommitValue(7), 4),
        (OffsetCommitKey("g", "t", 1), OffsetCommitValue(7, commit_timestamp=9), 4),
        (OffsetCommitKey("g", "t", 1), OffsetCommitValue(7), 3),
    ],
    ids=["group", "topic", "value", "version"],
)
def test_a_record_of_the_same_size_in_between_is_read_as_it_is(place: int, other: Stated) -> None:
    """It ends a run, wherever it is."""
    commits = [(OffsetCommitKey("g", "t", partition), OffsetCommitValue(7), 4) for partition in range(60)]
    commits[place] = other

    assert replayed(batch_of(commits), 59) == (60, one_by_one(commits))


@pytest.mark.parametrize(("version", "topic_id"), [(3, bytes(16)), (4, bytes(16)), (4, bytes(range(16)))])
def test_values_without_metadata_are_read_without_a_decoder(
    version: int, topic_id: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly all commits are such."""
    commits = [(OffsetCommitKey(group, "t", 1), OffsetCommitValue(7, 3, "", 9, -1, topic_id), version) for group in "gh"]
    monkeypatch.setattr(bulk, "decoders", lambda _: {})

    assert replayed(batch_of(commits), 1) == (2, one_by_one(commits))
