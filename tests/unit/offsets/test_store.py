"""OffsetStore: what replay makes of OffsetCommit records."""

from __future__ import annotations

from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.offsets.store import OffsetAndMetadata, OffsetStore
from coordinator_server.offsets.values import CommittedRows
from protocol.commit_rows import partitions_of
from protocol.messages.group_records import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from protocol.messages.offset_commit import OffsetCommitRequestPartition
from tests.support.commit_rows import rows_of
from tests.support.resting import Legacy, MemoryCheckpoint, Plain

TOPIC_ID = bytes(range(16))


def key(partition: int = 0, group: str = "g") -> OffsetCommitKey:
    return OffsetCommitKey(group, "t", partition)


def test_a_record_is_kept_with_its_own_offset() -> None:
    """Everything the value says, and where the log has it."""
    store = OffsetStore(SnapshotRegistry())

    store.replay(41, key(), OffsetCommitValue(5, 3, "note", 99, 199, TOPIC_ID))

    assert dict(store.by_group["g"]) == {("t", 0): OffsetAndMetadata(5, 3, "note", 99, 41, 199, TOPIC_ID)}


def test_groups_share_the_names_of_their_topics() -> None:
    """Millions of positions have the names of few topics, each of which was decoded anew."""
    store = OffsetStore(SnapshotRegistry())
    for group in ("g", "h"):
        name = b"orders".decode()
        store.replay(1, OffsetCommitKey(group, name, 0), OffsetCommitValue(5))

    [(first, _)], [(second, _)] = store.by_group["g"], store.by_group["h"]
    assert first == "orders"
    assert first is second


def test_the_last_record_of_a_partition_wins() -> None:
    """Whatever its offset is."""
    store = OffsetStore(SnapshotRegistry())

    store.replay(1, key(), OffsetCommitValue(5))
    store.replay(2, key(), OffsetCommitValue(3))

    assert store.by_group["g"]["t", 0].committed_offset == 3


def test_a_tombstone_removes_the_offset_and_with_the_last_one_the_group() -> None:
    """Other positions stay; a tombstone for nothing is nothing."""
    store = OffsetStore(SnapshotRegistry())
    store.replay(1, key(0), OffsetCommitValue(5))
    store.replay(2, key(1), OffsetCommitValue(6))

    store.replay(3, key(0), None)
    assert list(store.by_group["g"]) == [("t", 1)]
    store.replay(4, key(1), None)
    assert "g" not in store
    store.replay(5, key(1), None)
    store.replay(6, key(0, "unknown"), None)
    assert "unknown" not in store


def test_the_past_can_be_read_and_restored() -> None:
    """A group that came, changed or went is there as it was at an earlier offset."""
    registry = SnapshotRegistry()
    store = OffsetStore(registry)
    store.replay(0, key(), OffsetCommitValue(5))
    registry.snapshot(1)
    store.replay(1, key(), None)
    store.replay(2, key(0, "new"), OffsetCommitValue(6))

    assert "g" not in store
    past = store.of_group_at("g", 1)
    assert past is not None
    assert past.as_of(1).get(("t", 0)) is not None
    assert store.of_group_at("new", 1) is None
    registry.revert_to(1)
    assert store.by_group["g"]["t", 0].committed_offset == 5
    assert "new" not in store


def test_a_damaged_block_of_a_checkpoint_is_made_up_for_by_the_records() -> None:
    """Legacy records, from before Kafka 0.9, are among them. Records of other groups are not used."""
    records: list[Plain | Legacy] = [
        (0, LegacyOffsetCommitKey("g", "t", 0), LegacyOffsetCommitValue(3, "old", 9)),
        (1, OffsetCommitKey("g", "t", 1), OffsetCommitValue(4, 1, "new", 10)),
        (2, LegacyOffsetCommitKey("h", "t", 0), LegacyOffsetCommitValue(5, "theirs", 9)),
        (3, OffsetCommitKey("h", "t", 1), OffsetCommitValue(6)),
        (4, LegacyOffsetCommitKey("g", "t", 2), LegacyOffsetCommitValue(7, "", 9)),
        (5, LegacyOffsetCommitKey("g", "t", 2), None),
        (6, OffsetCommitKey("g", "t", 3), OffsetCommitValue(8)),
        (7, OffsetCommitKey("g", "t", 3), None),
    ]
    found = []
    for damaged in (set(), {"g"}):
        store = OffsetStore(SnapshotRegistry())
        store.use_checkpoint(MemoryCheckpoint(records, damaged))
        offsets = store.of_group_at("g", 8)
        assert offsets is not None
        found.append(dict(offsets.items()))

    expected = {("t", 0): OffsetAndMetadata(3, -1, "old", 9, 0), ("t", 1): OffsetAndMetadata(4, 1, "new", 10, 1)}
    assert found == [expected, expected]


def test_rows_are_prepared_until_no_more_are_left_than_a_read_may_convert() -> None:
    """Those that are left stay rows until they are read."""
    store = OffsetStore(SnapshotRegistry())
    for topic, record_offset in (("t", 0), ("u", 3)):
        rows = rows_of([OffsetCommitRequestPartition(index, 5) for index in range(3)])
        store.to_change("g").put_rows((topic, partitions_of(rows)), CommittedRows(record_offset, 0, TOPIC_ID, rows))

    assert store.prepare("g", 2) is False
    assert store.unprepared("g") == 3
    assert store.prepare("g", 3) is True
    assert store.unprepared("g") == 3
    assert store.prepare("g", 2) is True
    assert store.unprepared("g") == 0


def test_groups_that_commit_rows_have_no_container_of_single_offsets() -> None:
    """It would take as much memory as their rows do. One object stands for what all of them lack, also when they are read."""
    registry = SnapshotRegistry()
    store = OffsetStore(registry)
    rows = rows_of([OffsetCommitRequestPartition(index, 5) for index in range(3)])
    for group in ("g", "h"):
        store.to_change(group).put_rows(("t", partitions_of(rows)), CommittedRows(0, 0, TOPIC_ID, rows))
    first, second = store.by_group["g"], store.by_group["h"]
    registry.snapshot(3)

    assert first.below_rows() is second.below_rows()
    assert len(list(first.items_at(3))) == 3
    assert first.below_rows() is second.below_rows()
    store.replay(3, key(), OffsetCommitValue(6))
    assert (first.is_as_of(3), second.is_as_of(3)) == (False, True)
    assert first["t", 0].committed_offset == 6
    assert second["t", 0].committed_offset == 5
