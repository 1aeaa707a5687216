"""ShareFold: what compaction keeps of each share partition, and at which offset."""

from __future__ import annotations

from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.share.fold import ShareFold
from coordinator_server.share.shard import ShareShard
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.share_records import ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue
from protocol.share_partition_names import SharePartitionKey

KEY = SharePartitionKey("g", b"0123456789abcdef", 3)
SNAPSHOT = CoordinatorRecord(ShareSnapshotKey(*KEY), ShareSnapshotValue(state_epoch=2, leader_epoch=3, start_offset=10))
UPDATE = CoordinatorRecord(ShareUpdateKey(*KEY), ShareUpdateValue(leader_epoch=3, start_offset=12))


def folded(*records: CoordinatorRecord) -> list[tuple[int, CoordinatorRecord]]:
    fold = ShareFold(ShareShard(registry=SnapshotRegistry()))
    for offset, record in enumerate(records):
        fold.add(offset, record)
    return sorted(fold.records())


def kept(*records: CoordinatorRecord) -> list[tuple[int, bool]]:
    """Offsets, and whether each record has a state."""
    return [(offset, record.value is not None) for offset, record in folded(*records)]


def test_one_snapshot_is_kept_at_the_offset_of_the_last_record() -> None:
    """It has the state after all of them."""
    [(offset, record)] = folded(SNAPSHOT, UPDATE, UPDATE)

    assert (offset, record.key) == (2, ShareSnapshotKey(*KEY))
    shard = ShareShard(registry=SnapshotRegistry())
    shard.replay(offset, record)
    state = shard.share_partition(LATEST, KEY)
    assert state is not None
    assert (state.start_offset, state.state_epoch, state.leader_epoch) == (12, 2, 3)


def test_a_tombstone_is_kept() -> None:
    other = CoordinatorRecord(ShareSnapshotKey("h", b"0123456789abcdef", 3), ShareSnapshotValue())

    assert kept(SNAPSHOT, other, UPDATE, CoordinatorRecord(ShareSnapshotKey(*KEY), None)) == [(1, True), (3, False)]


def test_an_update_without_a_value_changes_nothing() -> None:
    """Nor does a record of another type."""
    nothing = CoordinatorRecord(ShareUpdateKey(*KEY), None)

    assert kept(SNAPSHOT, nothing) == [(0, True)]
    assert kept(nothing) == []


def test_a_fence_that_is_higher_than_the_last_epoch_has_a_snapshot_before() -> None:
    """At the offset of the record before the last."""
    lower = CoordinatorRecord(ShareSnapshotKey(*KEY), ShareSnapshotValue(state_epoch=1, leader_epoch=1, start_offset=20))

    (before, fence), (last, state) = folded(UPDATE, SNAPSHOT, lower)

    assert (before, last) == (1, 2)
    assert isinstance(fence.value, ShareSnapshotValue)
    assert isinstance(state.value, ShareSnapshotValue)
    assert (fence.value.state_epoch, fence.value.leader_epoch) == (2, 3)
    assert (state.value.state_epoch, state.value.leader_epoch, state.value.start_offset) == (1, 1, 20)
