"""The share state machine: what snapshots, updates and tombstones leave, and what its digest covers."""

from __future__ import annotations

import msgspec
import pytest

from coordinator_server.machine.digest import StateDigest
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.share.digest import share_partition_digest
from coordinator_server.share.shard import UPDATES_PER_SNAPSHOT, ShareShard
from coordinator_server.share.share_partition import SharePartition
from coordinator_server.share.state_batches import StateBatch
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages import share_records
from protocol.messages.share_records import ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue
from protocol.share_partition_names import SharePartitionKey
from protocol.share_state_rows import rows_of

KEY = SharePartitionKey("g", b"0123456789abcdef", 3)


def batch(first: int, last: int, count: int, state: int) -> share_records.StateBatch:
    return share_records.StateBatch(first, last, delivery_state=state, delivery_count=count)


def snapshot(**fields: object) -> CoordinatorRecord:
    return CoordinatorRecord(ShareSnapshotKey(*KEY), ShareSnapshotValue(**fields))  # type: ignore[arg-type]


def update(**fields: object) -> CoordinatorRecord:
    return CoordinatorRecord(ShareUpdateKey(*KEY), ShareUpdateValue(**fields))  # type: ignore[arg-type]


def test_the_kafka_default_decides_when_updates_become_a_snapshot() -> None:
    """share.coordinator.snapshot.update.records.per.snapshot."""
    assert UPDATES_PER_SNAPSHOT == 500


def test_a_digest_has_its_parts_when_they_are_asked_for() -> None:
    """They are as many as there are share partitions."""
    shard = replayed(snapshot(snapshot_epoch=1))

    assert shard.digest(LATEST).parts == {}
    assert len(shard.digest(LATEST, with_parts=True).parts) == 1


def replayed(*records: CoordinatorRecord) -> ShareShard:
    shard = ShareShard(registry=SnapshotRegistry())
    for offset, record in enumerate(records):
        shard.replay(offset, record)
    return shard


def state_of(*records: CoordinatorRecord) -> SharePartition:
    state = replayed(*records).share_partition(LATEST, KEY)
    assert state is not None
    return state


def test_updates_add_up_over_their_snapshot() -> None:
    """None of the three records says it all."""
    state = state_of(
        snapshot(snapshot_epoch=1, state_epoch=2, leader_epoch=3, start_offset=10, create_timestamp=5, write_timestamp=6),
        update(leader_epoch=3, start_offset=-1, delivery_complete_count=4, state_batches=[batch(10, 19, 1, 0)]),
        update(leader_epoch=4, start_offset=12, delivery_complete_count=5, state_batches=[batch(15, 16, 1, 2)]),
    )

    assert state.state_batches == (StateBatch(12, 14, 1, 0), StateBatch(15, 16, 1, 2), StateBatch(17, 19, 1, 0))
    assert (state.start_offset, state.leader_epoch, state.state_epoch, state.snapshot_epoch) == (12, 4, 2, 1)
    assert (state.delivery_complete_count, state.create_timestamp, state.write_timestamp) == (5, 5, 6)
    assert state.update_count == 2


def test_a_snapshot_is_the_whole_state_but_for_the_fences() -> None:
    """A lower epoch does not let an old leader back in."""
    state = state_of(snapshot(leader_epoch=7, state_epoch=4, state_batches=[batch(0, 3, 1, 0)]), snapshot(leader_epoch=2))

    assert (state.leader_epoch, state.state_epoch, state.state_batches) == (2, 0, ())
    assert (state.highest_leader_epoch, state.highest_state_epoch) == (7, 4)


def test_an_update_without_a_leader_epoch_leaves_it() -> None:
    assert state_of(snapshot(leader_epoch=7), update(leader_epoch=-1)).leader_epoch == 7


def test_a_tombstone_removes_the_share_partition_state_and_its_fences() -> None:
    """What comes after it begins anew, fences included."""
    tombstone = CoordinatorRecord(ShareSnapshotKey(*KEY), None)

    assert replayed(snapshot(leader_epoch=7), tombstone).share_partition(LATEST, KEY) is None
    assert state_of(snapshot(leader_epoch=7), tombstone, snapshot(leader_epoch=1)).highest_leader_epoch == 1


def test_an_update_without_a_value_says_nothing() -> None:
    """No coordinator writes one."""
    assert state_of(snapshot(leader_epoch=7), CoordinatorRecord(ShareUpdateKey(*KEY), None)) == state_of(snapshot(leader_epoch=7))


def test_state_is_read_as_of_an_offset() -> None:
    """What is not durable yet is not seen."""
    registry = SnapshotRegistry()
    shard = ShareShard(registry=registry)
    shard.replay(0, snapshot(leader_epoch=1))
    registry.snapshot(1)
    shard.replay(1, update(leader_epoch=2))

    seen = [shard.share_partition(offset, KEY) for offset in (1, LATEST)]

    assert [state.leader_epoch for state in seen if state is not None] == [1, 2]
    assert shard.digest(1)[1] != shard.digest(LATEST)[1]
    assert dict(shard.share_partitions(LATEST)) == {KEY: seen[1]}


@pytest.mark.parametrize("name", [name for name in SharePartition.__struct_fields__ if name != "update_count"])
def test_the_digest_covers_every_field(name: str) -> None:
    """But the count of updates, which compaction changes."""
    state = state_of(snapshot(state_batches=[batch(0, 3, 1, 0)]))
    changed = getattr(state, name)
    other = rows_of([batch(0, 3, 2, 0)]) if name == "rows" else changed + 1

    assert share_partition_digest(KEY, msgspec.structs.replace(state, **{name: other})) != share_partition_digest(KEY, state)


def test_the_digest_covers_the_key_and_nothing_of_the_count() -> None:
    state = state_of(snapshot())
    counted = msgspec.structs.replace(state, update_count=9)

    assert share_partition_digest(KEY, counted) == share_partition_digest(KEY, state)
    assert share_partition_digest(KEY._replace(partition=4), state) != share_partition_digest(KEY, state)
    assert replayed().digest(0) == StateDigest(0, "0" * 32, {})
