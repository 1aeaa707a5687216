"""The committed offsets of all groups of a shard: hard state, changed only by replaying records.

A group exists here while it has at least one offset. A tombstone removes the offset; with the last offset it removes the group.

Most groups rest (``resting_groups.py``): in the checkpoint, or as bytes in memory after ``rest``. A resting group enters
``by_group`` when it is changed. It is inserted below all open snapshots, as if it had always been there, because none of them has
recorded a change of it; and it may rest again when that is so again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from coordinator_server.machine.shard import CheckpointState
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry, TimelineDict
from coordinator_server.offsets.group_offsets import GroupOffsets
from coordinator_server.offsets.resting_block import ExpiryBounds, Row
from coordinator_server.offsets.resting_groups import RestingGroups
from coordinator_server.offsets.values import NO_TIMESTAMP, OffsetAndMetadata, TopicPartition, committed_by
from protocol.messages.group_records import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)

__all__ = ["NO_TIMESTAMP", "GroupOffsets", "OffsetAndMetadata", "OffsetStore", "TopicPartition"]


OFFSETS_PER_READ: Final = 4
"""The work of letting an offset rest that has to be read for it, compared with one that lies in rows."""


class OffsetStore:
    """The offsets of a shard by group, then by topic and partition."""

    __slots__ = ("_registry", "_resting", "by_group", "on_entered", "on_rested", "on_tombstone")

    def __init__(self, registry: SnapshotRegistry) -> None:
        self._registry = registry
        # Groups that do not rest. ``groups_at`` and ``of_group_at`` include resting groups.
        self.by_group: TimelineDict[str, GroupOffsets] = TimelineDict(registry)
        self._resting: RestingGroups | None = None
        # Called with each resting group that enters ``by_group``, and with each one that leaves it to rest, and its offsets.
        self.on_entered: Callable[[str], None] | None = None
        self.on_rested: Callable[[str, GroupOffsets], None] | None = None
        # Called for each tombstone, even if there is no offset to remove.
        self.on_tombstone: Callable[[str, TopicPartition], None] | None = None

    def use_checkpoint(self, checkpoint: CheckpointState) -> None:
        """Add the groups of a checkpoint. The store must be empty."""
        self._resting = RestingGroups(self._registry, checkpoint, _read_records)

    def close(self) -> None:
        """Close the checkpoint. Called when the shard is unloaded."""
        if self._resting is not None:
            self._resting.close()

    def __contains__(self, group_id: str) -> bool:
        return group_id in self.by_group or self._is_resting(group_id)

    def groups_at(self, committed_offset: int) -> Iterator[str]:
        """Yield the groups with offsets as of ``committed_offset``, in no particular order."""
        for group_id, _ in self.by_group.items_at(committed_offset):
            yield group_id
        if self._resting is not None:
            yield from self._resting

    def has_group_at(self, group_id: str, committed_offset: int) -> bool:
        """Return whether a group had offsets as of ``committed_offset``, without reading the checkpoint."""
        return self.by_group.get_at(group_id, committed_offset) is not None or self._is_resting(group_id)

    def of_group_at(self, group_id: str, committed_offset: int) -> GroupOffsets | None:
        """Return a group's offsets if it had any as of ``committed_offset``, for reads at the same offset."""
        found = self.by_group.get_at(group_id, committed_offset)
        if found is None and self._resting is not None and group_id in self._resting:
            return self._resting.read(group_id)
        return found

    def is_as_of(self, group_id: str, committed_offset: int) -> bool:
        """Return whether the offsets of a group have not changed since ``committed_offset``."""
        offsets = self.by_group.get(group_id)
        if offsets is None:
            return self.by_group.get_at(group_id, committed_offset) is None
        return offsets.is_as_of(committed_offset)

    def count(self, group_id: str) -> int:
        """Return an upper bound of the number of offsets of a group, without reading them."""
        offsets = self.by_group.get(group_id)
        if offsets is not None:
            return offsets.count()
        return self._resting.count(group_id) if self._resting is not None and group_id in self._resting else 0

    def unprepared(self, group_id: str) -> int:
        """Return the number of offsets that the next read of a group has to convert before, however few it wants."""
        offsets, resting = self.by_group.get(group_id), self._resting
        if offsets is not None:
            return offsets.unprepared()
        return resting.unread(group_id) if resting is not None and group_id in resting else 0

    def prepare(self, group_id: str, most: int) -> bool:
        """Do a part of the work of reading all offsets of a group, about ``most`` of them. Return whether little is left."""
        offsets, resting = self.by_group.get(group_id), self._resting
        if offsets is None:
            return resting is None or group_id not in resting or resting.prepare(group_id, most)
        return offsets.prepare(most)

    def replay(self, record_offset: int, key: OffsetCommitKey, value: OffsetCommitValue | None) -> None:
        """Apply one OffsetCommit record."""
        if value is None:
            self._bury(key.group, (key.topic, key.partition))
            return
        self.put(key.group, key.topic, key.partition, committed_by(record_offset, value))

    def replay_legacy(self, record_offset: int, key: LegacyOffsetCommitKey, value: LegacyOffsetCommitValue | None) -> None:
        """Apply one record of the type that clusters before Kafka 0.9 wrote."""
        if value is None:
            self._bury(key.group, (key.topic, key.partition))
            return
        committed = OffsetAndMetadata(value.offset, -1, value.metadata, value.commit_timestamp, record_offset)
        self.put(key.group, key.topic, key.partition, committed)

    def find(self, group_id: str, position: TopicPartition) -> OffsetAndMetadata | None:
        """Return the latest offset of a position, committed or not."""
        offsets = self.of_group_at(group_id, LATEST)
        return None if offsets is None else offsets.get(position)

    def put(self, group_id: str, topic: str, partition: int, committed: OffsetAndMetadata) -> None:
        """Set the offset of a position."""
        # Interned, so that millions of positions share one name per topic.
        self.to_change(group_id).to_set()[sys.intern(topic), partition] = committed

    def to_change(self, group_id: str) -> GroupOffsets:
        """Return the container for changes of a group's offsets."""
        offsets = self.by_group.get(group_id)
        if offsets is not None:
            return offsets
        resting = self._resting
        if resting is not None and group_id in resting:
            return resting.newer(group_id) if self._registry.newest is None else self._enter(resting, group_id)
        offsets = self.by_group[group_id] = GroupOffsets(self._registry)
        return offsets

    def remove(self, group_id: str, position: TopicPartition) -> None:
        """Remove the offset of a position, if any."""
        offsets, resting = self.by_group.get(group_id), self._resting
        if offsets is None and resting is not None and group_id in resting:
            offsets = self._enter(resting, group_id)
        if offsets is None or position not in offsets:
            return
        del offsets.single()[position]
        if not offsets:
            del self.by_group[group_id]

    def bury(self, group_id: str, positions: Sequence[TopicPartition]) -> None:
        """Apply tombstones of a group."""
        if self.on_tombstone is not None:
            for position in positions:
                self.on_tombstone(group_id, position)
        offsets, resting = self.by_group.get(group_id), self._resting
        if offsets is None and resting is not None and group_id in resting:
            offsets = self._enter(resting, group_id)
        if offsets is not None:
            offsets.single().remove_all(positions)
            if not offsets:
                del self.by_group[group_id]

    def _bury(self, group_id: str, position: TopicPartition) -> None:
        if self.on_tombstone is not None:
            self.on_tombstone(group_id, position)
        self.remove(group_id, position)

    # Resting groups

    def rest(self, group_id: str, committed_before_ms: int) -> int:
        """Let a group rest if its last commit was before a time and no open snapshot knows a change of it.

        Return its cost in offsets; 0 if it does not come to rest now, or rests already.
        """
        resting, offsets = self._resting, self.by_group.get(group_id)
        if offsets is None:
            newer = None if resting is None else resting.newest(group_id)
            if resting is None or newer is None or not _is_unchanged(newer, committed_before_ms):
                return 0
            offsets = resting.whole(group_id)
            found, is_short = offsets.at_rest()
            resting.put(group_id, found)
            return found.rows if is_short else found.rows * OFFSETS_PER_READ
        if not _is_unchanged(offsets, committed_before_ms):
            return 0
        if resting is None:
            resting = self._resting = RestingGroups(self._registry, None, _read_records)
        found, is_short = offsets.at_rest()
        resting.put(group_id, found)
        # What was read of these offsets is not known to be the same from now on.
        offsets.changes += 1
        self.by_group.withdraw(group_id)
        if self.on_rested is not None:
            self.on_rested(group_id, offsets)
        return found.rows if is_short else found.rows * OFFSETS_PER_READ

    def resting_in_memory(self) -> Iterable[str]:
        """Return the groups that came to rest since the load, until the next change."""
        return () if self._resting is None else self._resting.in_memory()

    def groups_of_checkpoint(self) -> Iterable[str]:
        """Return the groups that rest in the checkpoint, and those that did before. Groups may change meanwhile."""
        return () if self._resting is None else self._resting.of_checkpoint()

    def resting_count(self) -> int:
        """Return an upper bound of the number of groups that rest."""
        return 0 if self._resting is None else len(self._resting)

    def bounds(self, group_id: str) -> ExpiryBounds | None:
        """Return the expiry bounds of a group, which may be too early; None if it has none, or they have to be read for it."""
        offsets, resting = self.by_group.get(group_id), self._resting
        if offsets is not None:
            return offsets.bounds()
        return resting.bounds(group_id) if resting is not None and group_id in resting else None

    def _is_resting(self, group_id: str) -> bool:
        return self._resting is not None and group_id in self._resting

    def _enter(self, resting: RestingGroups, group_id: str) -> GroupOffsets:
        offsets = resting.take(group_id)
        self.by_group.fill([(group_id, offsets)])
        if self.on_entered is not None:
            self.on_entered(group_id)
        return offsets


def _is_unchanged(offsets: GroupOffsets, since_ms: int) -> bool:
    """Return whether nothing was committed since that time, and no open snapshot knows a change."""
    if not offsets.is_as_of(0):
        return False
    newest_ms = offsets.newest_commit_ms()
    return newest_ms is not None and newest_ms < since_ms


def _read_records(checkpoint: CheckpointState, group_id: str) -> Iterable[Row]:
    """Return the offsets of a group from the source records of the checkpoint."""
    store = OffsetStore(SnapshotRegistry())
    for record_offset, record in checkpoint.records():
        key, value = record.key, record.value
        if isinstance(key, OffsetCommitKey) and key.group == group_id:
            assert value is None or isinstance(value, OffsetCommitValue)
            store.replay(record_offset, key, value)
        elif isinstance(key, LegacyOffsetCommitKey) and key.group == group_id:
            assert value is None or isinstance(value, LegacyOffsetCommitValue)
            store.replay_legacy(record_offset, key, value)
    return store.by_group[group_id].items()
