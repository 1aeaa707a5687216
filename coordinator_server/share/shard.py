"""ShareShard: one partition of ``__share_group_state`` as a state machine (Kafka's ``ShareCoordinatorShard``).

It has no write operations yet.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from coordinator_server.machine.digest import StateDigest, digest_text
from coordinator_server.machine.shard import CoordinatorShard
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry, TimelineDict
from coordinator_server.share.digest import share_partition_digest
from coordinator_server.share.share_partition import (
    SharePartition,
    SharePartitionKey,
    after_snapshot,
    after_update,
    coordinator_key,
)
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.share_records import ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue

# The default of Kafka's share.coordinator.snapshot.update.records.per.snapshot.
UPDATES_PER_SNAPSHOT: Final = 500


class ShareShard(CoordinatorShard):
    """Share partitions by group, topic and partition."""

    def __init__(self, *, registry: SnapshotRegistry, updates_per_snapshot: int = UPDATES_PER_SNAPSHOT) -> None:
        self._updates_per_snapshot = updates_per_snapshot
        self._partitions: TimelineDict[SharePartitionKey, SharePartition] = TimelineDict(registry)

    # Read operations

    def share_partition(self, committed_offset: int, key: SharePartitionKey) -> SharePartition | None:
        """Return the state of a share partition, or None."""
        return self._partitions.get_at(key, committed_offset)

    def share_partitions(self, committed_offset: int) -> Iterable[tuple[SharePartitionKey, SharePartition]]:
        """Return every share partition, in no particular order."""
        return self._partitions.items_at(committed_offset)

    def digest(self, committed_offset: int, max_items: int = LATEST, with_parts: bool = False) -> StateDigest:
        """Return the digest of all share partitions. It is never split into steps."""
        items = {key: share_partition_digest(key, state) for key, state in self._partitions.items_at(committed_offset)}
        parts = {coordinator_key(key): digest_text(item) for key, item in items.items()} if with_parts else {}
        return StateDigest(committed_offset, digest_text(sum(items.values())), parts)

    # The shard's contract

    def replay(self, offset: int, record: CoordinatorRecord, /) -> None:
        """Apply one record."""
        match record.key, record.value:
            case ShareSnapshotKey(group_id=group_id, topic_id=topic_id, partition=partition), value:
                key = SharePartitionKey(group_id, topic_id, partition)
                if isinstance(value, ShareSnapshotValue):
                    self._partitions[key] = after_snapshot(self._partitions.get(key), value, self._updates_per_snapshot)
                else:
                    self._partitions.pop(key, None)
            case ShareUpdateKey(group_id=group_id, topic_id=topic_id, partition=partition), ShareUpdateValue() as update:
                key = SharePartitionKey(group_id, topic_id, partition)
                self._partitions[key] = after_update(self._partitions.get(key), update)

    def plain_records(self) -> None:
        """Return None: the records have different sizes, so there is no fast replay."""

    def on_loaded(self) -> None:
        """Do nothing: there is no soft state."""

    def on_unloaded(self) -> None:
        """Do nothing: there is no soft state."""
