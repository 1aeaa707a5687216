"""The committed offsets of all groups of a shard: hard state, changed only by replaying records.

A group is here while it has at least one offset. A tombstone removes the offset, and with the last one the group.

Where there is a checkpoint, most groups *rest* in it: their offsets are a block of bytes there, which is read without being kept when somebody asks
for them, and becomes part of the state when something changes them. It then enters below all open snapshots, as if it had been there all the time; once, so what
is deleted afterwards stays deleted. What a start replays from the log's tail for a resting group lies over its block until then.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

from coordinator_server.machine.shard import StateBelow
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry, TimelineDict
from coordinator_server.offsets.group_offsets import GroupOffsets
from coordinator_server.offsets.resting import ExpiryBounds, wake
from coordinator_server.offsets.values import NO_TIMESTAMP, OffsetAndMetadata, TopicPartition, committed_by
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.group_records import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)

__all__ = ["NO_TIMESTAMP", "GroupOffsets", "OffsetAndMetadata", "OffsetStore", "TopicPartition"]

# Of resting groups that were read: so many offsets are remembered.
READ_ROWS = 2_000


class OffsetStore:
    """Offsets by group, then by topic and partition."""

    __slots__ = ("_below", "_entered", "_over", "_read", "_read_rows", "_registry", "by_group", "on_entered", "on_tombstone")

    def __init__(self, registry: SnapshotRegistry) -> None:
        self._registry = registry
        # Groups that do not rest. ``groups_at`` and ``of_group_at`` know all.
        self.by_group: TimelineDict[str, GroupOffsets] = TimelineDict(registry)
        self._below: StateBelow | None = None
        # Groups of the checkpoint that rest no more.
        self._entered: set[str] = set()
        # What the log's tail says of groups that rest.
        self._over: dict[str, GroupOffsets] = {}
        # Resting groups that were read lately: the members of a group start at the same time, and each asks for its own.
        self._read: dict[str, GroupOffsets] = {}
        self._read_rows = 0
        # Told of every group of the checkpoint that becomes part of the state.
        self.on_entered: Callable[[str], None] | None = None
        # Told of every tombstone, also where there is nothing to remove.
        self.on_tombstone: Callable[[str, TopicPartition], None] | None = None

    def rest_on(self, below: StateBelow) -> None:
        """The groups of a checkpoint are in the state from now on; for an empty store."""
        self._below = below

    def close(self) -> None:
        """The shard is given up: let go of the checkpoint."""
        if self._below is not None:
            self._below.close()

    def __contains__(self, group_id: str) -> bool:
        return group_id in self.by_group or self._is_resting(group_id)

    def groups_at(self, committed_offset: int) -> Iterator[str]:
        """The groups that existed at ``committed_offset``, in no particular order."""
        for group_id, _ in self.by_group.items_at(committed_offset):
            yield group_id
        if self._below is not None:
            yield from (group_id for group_id in self._below if group_id not in self._entered)

    def of_group_at(self, group_id: str, committed_offset: int) -> GroupOffsets | None:
        """The offsets of a group that existed at ``committed_offset``; for reading, at the same offset."""
        found = self.by_group.get_at(group_id, committed_offset)
        return self._resting(group_id) if found is None and self._is_resting(group_id) else found

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
        if self._below is not None and (group_id in self._over or self._is_resting(group_id)):
            return self._lie_over(group_id) if self._registry.newest is None else self._enter(group_id)
        offsets = self.by_group[group_id] = GroupOffsets(self._registry)
        return offsets

    def remove(self, group_id: str, position: TopicPartition) -> None:
        """No offset of this position from now on."""
        offsets = self.by_group.get(group_id)
        if offsets is None and self._is_resting(group_id):
            offsets = self._enter(group_id)
        if offsets is None or position not in offsets:
            return
        del offsets.single()[position]
        if not offsets:
            del self.by_group[group_id]

    def _bury(self, group_id: str, position: TopicPartition) -> None:
        if self.on_tombstone is not None:
            self.on_tombstone(group_id, position)
        self.remove(group_id, position)

    # Groups of the checkpoint.

    def resting_bounds(self, group_id: str) -> ExpiryBounds | None:
        """What bounds the expiry of a group that rests and has no newer commits."""
        below = self._below
        if below is None or group_id in self._over or not self._is_resting(group_id):
            return None
        return ExpiryBounds(*below.bounds(group_id))

    def _is_resting(self, group_id: str) -> bool:
        below = self._below
        return below is not None and group_id not in self._entered and group_id in below

    def _lie_over(self, group_id: str) -> GroupOffsets:
        """Nothing can be reverted and nobody reads an earlier state: what is put needs not know what it replaces."""
        self._forget_read(group_id)
        offsets = self._over.get(group_id)
        if offsets is None:
            offsets = self._over[group_id] = GroupOffsets(self._registry)
        return offsets

    def _enter(self, group_id: str) -> GroupOffsets:
        """A resting group becomes part of the state, below all open snapshots: none of them has seen it change."""
        offsets = self._resting(group_id)
        self._forget_read(group_id)
        self._over.pop(group_id, None)
        self._entered.add(group_id)
        self.by_group.fill([(group_id, offsets)])
        if self.on_entered is not None:
            self.on_entered(group_id)
        return offsets

    def _resting(self, group_id: str) -> GroupOffsets:
        """The offsets of a resting group, which are not to be changed."""
        found = self._read.get(group_id)
        if found is not None:
            return found
        assert self._below is not None
        block = self._below.block(group_id)
        found = GroupOffsets(self._registry)
        found.single().fill(wake(block) if block is not None else self._from_records(self._below, group_id))
        over = self._over.get(group_id)
        if over is not None:
            found.single().fill(over.items())
        if self._read_rows + len(found) > READ_ROWS:
            self._read.clear()
            self._read_rows = 0
        self._read[group_id] = found
        self._read_rows += len(found)
        return found

    def _forget_read(self, group_id: str) -> None:
        found = self._read.pop(group_id, None)
        if found is not None:
            self._read_rows -= len(found)

    def _from_records(self, below: StateBelow, group_id: str) -> list[tuple[TopicPartition, OffsetAndMetadata]]:
        """A group whose block is damaged."""
        store = OffsetStore(SnapshotRegistry())
        for record_offset, record in below.records():
            match record:
                case CoordinatorRecord(OffsetCommitKey(group=group) as key, (OffsetCommitValue() | None) as value) if (
                    group == group_id
                ):
                    store.replay(record_offset, key, value)
                case CoordinatorRecord(LegacyOffsetCommitKey(group=group) as old, (LegacyOffsetCommitValue() | None) as was) if (
                    group == group_id
                ):
                    store.replay_legacy(record_offset, old, was)
        return list(store.by_group[group_id].items())
