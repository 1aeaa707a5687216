"""The committed offsets of all groups of a shard: hard state, changed only by replaying records.

A group is here while it has at least one offset. A tombstone removes the offset, and with the last one the group.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat

from msgspec import Struct

from coordinator_server.machine.timeline import SnapshotRegistry, TimelineDict
from protocol.fields import ZERO_UUID
from protocol.messages.group_records import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)

TopicPartition = tuple[str, int]
NO_TIMESTAMP = -1


class OffsetAndMetadata(Struct, frozen=True, gc=False):
    """One committed position, and the log offset of the record that says so."""

    committed_offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp_ms: int
    record_offset: int
    # Only OffsetCommit versions 2-4 could set it; NO_TIMESTAMP otherwise.
    expire_timestamp_ms: int = NO_TIMESTAMP
    topic_id: bytes = ZERO_UUID


def committed_by(record_offset: int, value: OffsetCommitValue) -> OffsetAndMetadata:
    """What an OffsetCommit record's value says."""
    return OffsetAndMetadata(
        value.offset,
        value.leader_epoch,
        value.metadata,
        value.commit_timestamp,
        record_offset,
        value.expire_timestamp,
        value.topic_id,
    )


GroupOffsets = TimelineDict[TopicPartition, OffsetAndMetadata]


class OffsetStore:
    """Offsets by group, then by topic and partition."""

    __slots__ = ("_registry", "by_group", "on_tombstone")

    def __init__(self, registry: SnapshotRegistry) -> None:
        self._registry = registry
        self.by_group: TimelineDict[str, GroupOffsets] = TimelineDict(registry)
        # Told of every tombstone, also where there is nothing to remove.
        self.on_tombstone: Callable[[str, TopicPartition], None] | None = None

    def __contains__(self, group_id: str) -> bool:
        return group_id in self.by_group

    def of_group_at(self, group_id: str, committed_offset: int) -> GroupOffsets | None:
        """The offsets of a group that existed at ``committed_offset``; read them at the same offset."""
        return self.by_group.get_at(group_id, committed_offset)

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
        offsets = self.by_group.get(group_id)
        return None if offsets is None else offsets.get(position)

    def replay_many(
        self,
        record_offset: int,
        group_id: str,
        topic: str,
        topic_id: bytes,
        rows: tuple[Sequence[int], Sequence[int], Sequence[int]],
        timestamp_ms: int,
    ) -> None:
        """Apply OffsetCommit records of one topic, without metadata and expiry; ``rows`` are partitions, offsets and leader epochs."""
        partitions, committed_offsets, leader_epochs = rows
        topic = sys.intern(topic)
        record_offsets = range(record_offset, record_offset + len(partitions))
        columns = zip(committed_offsets, leader_epochs, record_offsets, strict=True)
        committed = [
            OffsetAndMetadata(offset, epoch, "", timestamp_ms, written_at, NO_TIMESTAMP, topic_id)
            for offset, epoch, written_at in columns
        ]
        self._of_group(group_id).put_all(dict(zip(zip(repeat(topic), partitions), committed, strict=True)))

    def put(self, group_id: str, topic: str, partition: int, committed: OffsetAndMetadata) -> None:
        """The offset of a position from now on."""
        offsets = self._of_group(group_id)
        position = (topic, partition)
        if position not in offsets:
            # One name for all the partitions and groups of a topic: there may be millions of positions.
            position = (sys.intern(topic), partition)
        offsets[position] = committed

    def put_all(self, group_id: str, committed: Iterable[tuple[TopicPartition, OffsetAndMetadata]]) -> None:
        """``put`` for many positions of a group, while no snapshot is open."""
        offsets = self.by_group.get(group_id)
        if offsets is None:
            offsets = self.by_group[group_id] = TimelineDict(self._registry)
        offsets.fill(committed)

    def remove(self, group_id: str, position: TopicPartition) -> None:
        """No offset of this position from now on."""
        offsets = self.by_group.get(group_id)
        if offsets is None or position not in offsets:
            return
        del offsets[position]
        if not offsets:
            del self.by_group[group_id]

    def _bury(self, group_id: str, position: TopicPartition) -> None:
        if self.on_tombstone is not None:
            self.on_tombstone(group_id, position)
        self.remove(group_id, position)

    def _of_group(self, group_id: str) -> GroupOffsets:
        offsets = self.by_group.get(group_id)
        if offsets is None:
            offsets = self.by_group[group_id] = TimelineDict(self._registry)
        return offsets
