"""The committed offsets of all groups of a shard: hard state, changed only by replaying records.

A group is here while it has at least one offset. A tombstone removes the offset, and with the last one the group.

Where there is a checkpoint, most groups rest in it (``resting_groups.py``). One that is changed becomes part of the state: it enters below all
open snapshots, as if it had been there all the time, since none of them has seen it change.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator

from coordinator_server.machine.shard import CheckpointState
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry, TimelineDict
from coordinator_server.offsets.group_offsets import GroupOffsets
from coordinator_server.offsets.resting_block import ExpiryBounds, Row
from coordinator_server.offsets.resting_groups import RestingGroups
from coordinator_server.offsets.values import NO_TIMESTAMP, OffsetAndMetadata, TopicPartition, committed_by
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.group_records import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)

__all__ = ["NO_TIMESTAMP", "GroupOffsets", "OffsetAndMetadata", "OffsetStore", "TopicPartition"]


class OffsetStore:
    """Offsets by group, then by topic and partition."""

    __slots__ = ("_registry", "_resting", "by_group", "on_entered", "on_tombstone")

    def __init__(self, registry: SnapshotRegistry) -> None:
        self._registry = registry
        # Groups that do not rest. ``groups_at`` and ``of_group_at`` know all.
        self.by_group: TimelineDict[str, GroupOffsets] = TimelineDict(registry)
        self._resting: RestingGroups | None = None
        # Told of every group of the checkpoint that becomes part of the state.
        self.on_entered: Callable[[str], None] | None = None
        # Told of every tombstone, also where there is nothing to remove.
        self.on_tombstone: Callable[[str, TopicPartition], None] | None = None

    def rest_on(self, checkpoint: CheckpointState) -> None:
        """Have the groups of a checkpoint in the state from now on; for an empty store."""
        self._resting = RestingGroups(self._registry, checkpoint, _read_records)

    def close(self) -> None:
        """Let go of the checkpoint: the shard is given up."""
        if self._resting is not None:
            self._resting.close()

    def __contains__(self, group_id: str) -> bool:
        return group_id in self.by_group or self._is_resting(group_id)

    def groups_at(self, committed_offset: int) -> Iterator[str]:
        """The groups that existed at ``committed_offset``, in no particular order."""
        for group_id, _ in self.by_group.items_at(committed_offset):
            yield group_id
        if self._resting is not None:
            yield from self._resting

    def of_group_at(self, group_id: str, committed_offset: int) -> GroupOffsets | None:
        """The offsets of a group that existed at ``committed_offset``; for reading, at the same offset."""
        found = self.by_group.get_at(group_id, committed_offset)
        if found is None and self._resting is not None and group_id in self._resting:
            return self._resting.read(group_id)
        return found

    def replay(self, record_offset: int, key: OffsetCommitKey, value: OffsetCommitValue | None) -> None:
        """Apply one OffsetCommit record."""
        if value is None:
            self._bury(key.group, (key.topic, key.partition))
            return
        self.put(key.group, key.topic, key.partition, committed_by(record_offset, value))

    def replay_legacy(self, record_offset: int, key: LegacyOffsetCommitKey, value: LegacyOffsetCommitValue | None) -> None:
        """Apply one record of the type that clusters wrote before 0.9."""
        if value is None:
            self._bury(key.group, (key.topic, key.partition))
            return
        committed = OffsetAndMetadata(value.offset, -1, value.metadata, value.commit_timestamp, record_offset)
        self.put(key.group, key.topic, key.partition, committed)

    def find(self, group_id: str, position: TopicPartition) -> OffsetAndMetadata | None:
        """The present offset, committed or not."""
        offsets = self.of_group_at(group_id, LATEST)
        return None if offsets is None else offsets.get(position)

    def put(self, group_id: str, topic: str, partition: int, committed: OffsetAndMetadata) -> None:
        """The offset of a position from now on."""
        offsets = self.to_change(group_id).single()
        position = (topic, partition)
        if position not in offsets:
            # One name for all the partitions and groups of a topic: there may be millions of positions.
            position = (sys.intern(topic), partition)
        offsets[position] = committed

    def to_change(self, group_id: str) -> GroupOffsets:
        """Return where to put a group's offsets."""
        offsets = self.by_group.get(group_id)
        if offsets is not None:
            return offsets
        resting = self._resting
        if resting is not None and group_id in resting:
            return resting.tail(group_id) if self._registry.newest is None else self._enter(resting, group_id)
        offsets = self.by_group[group_id] = GroupOffsets(self._registry)
        return offsets

    def remove(self, group_id: str, position: TopicPartition) -> None:
        """No offset of this position from now on."""
        offsets, resting = self.by_group.get(group_id), self._resting
        if offsets is None and resting is not None and group_id in resting:
            offsets = self._enter(resting, group_id)
        if offsets is None or position not in offsets:
            return
        del offsets.single()[position]
        if not offsets:
            del self.by_group[group_id]

    def _bury(self, group_id: str, position: TopicPartition) -> None:
        if self.on_tombstone is not None:
            self.on_tombstone(group_id, position)
        self.remove(group_id, position)

    # Groups of the checkpoint

    def resting_bounds(self, group_id: str) -> ExpiryBounds | None:
        """Return what bounds the expiry of a group that rests and has no newer commits."""
        resting = self._resting
        return resting.bounds(group_id) if resting is not None and group_id in resting else None

    def _is_resting(self, group_id: str) -> bool:
        return self._resting is not None and group_id in self._resting

    def _enter(self, resting: RestingGroups, group_id: str) -> GroupOffsets:
        offsets = resting.take(group_id)
        self.by_group.fill([(group_id, offsets)])
        if self.on_entered is not None:
            self.on_entered(group_id)
        return offsets


def _read_records(checkpoint: CheckpointState, group_id: str) -> Iterable[Row]:
    """Return the offsets of a group from the records that the checkpoint was made of."""
    store = OffsetStore(SnapshotRegistry())
    for record_offset, record in checkpoint.records():
        match record:
            case CoordinatorRecord(OffsetCommitKey(group=group) as key, (OffsetCommitValue() | None) as value) if (
                group == group_id
            ):
                store.replay(record_offset, key, value)
            case CoordinatorRecord(LegacyOffsetCommitKey(group=group) as old, (LegacyOffsetCommitValue() | None) as was) if (
                group == group_id
            ):
                store.replay_legacy(record_offset, old, was)
    return store.by_group[group_id].items()
