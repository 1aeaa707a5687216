"""Compaction of ``__share_group_state``: keeps one snapshot per share partition, at the offset of its last record.

A deleted share partition keeps its tombstone. If a fencing epoch is higher than the epoch of the last record, a second snapshot
with the higher epochs is written at the offset of the record before the last, so that replaying both gives the same fences.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from coordinator_server.machine.timeline import LATEST
from coordinator_server.share.shard import ShareShard
from coordinator_server.share.share_partition import SharePartition, snapshot_key, snapshot_value
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.share_records import ShareSnapshotKey, ShareUpdateKey
from protocol.share_partition_names import SharePartitionKey


class ShareFold:
    """Replays records into a shard, and collects their offsets."""

    def __init__(self, shard: ShareShard) -> None:
        self._shard = shard
        # By share partition: the offsets of its last record and of the record before it.
        self._offsets: dict[SharePartitionKey, tuple[int, int]] = {}

    def add(self, offset: int, record: CoordinatorRecord, /) -> None:
        """Replay one record."""
        self._shard.replay(offset, record)
        key = record.key
        if isinstance(key, ShareSnapshotKey) or (isinstance(key, ShareUpdateKey) and record.value is not None):
            share_partition = SharePartitionKey(key.group_id, key.topic_id, key.partition)
            before, _ = self._offsets.get(share_partition, (-1, -1))
            self._offsets[share_partition] = (offset, before)

    def records(self) -> Iterator[tuple[int, CoordinatorRecord]]:
        """Yield the records to keep with their offsets, in no particular order."""
        for key, (last, before) in self._offsets.items():
            state = self._shard.share_partition(LATEST, key)
            if state is None:
                yield last, CoordinatorRecord(snapshot_key(key), None)
                continue
            if (state.highest_leader_epoch, state.highest_state_epoch) != (state.leader_epoch, state.state_epoch):
                yield before, CoordinatorRecord(snapshot_key(key), snapshot_value(_fenced(state)))
            yield last, CoordinatorRecord(snapshot_key(key), snapshot_value(state))


def _fenced(state: SharePartition) -> SharePartition:
    """Return the state with its epochs replaced by the fencing epochs."""
    return msgspec.structs.replace(state, leader_epoch=state.highest_leader_epoch, state_epoch=state.highest_state_epoch)
