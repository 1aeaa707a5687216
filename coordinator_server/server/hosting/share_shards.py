"""Finds the shard of ``__share_group_state`` that keeps the state of a share partition
(``ShareCoordinatorService.partitionFor``).
"""

from __future__ import annotations

from typing import Final

from coordinator_server.runtime.partitioner import partition_for
from protocol.share_partition_names import SharePartitionKey, coordinator_key, key_of, name_of

MOST_CACHED: Final = 1 << 16
"""The number of share partitions whose shards are cached: up to 32 MiB, with the longest names that are cached."""
LONGEST_CACHED: Final = 280
"""The largest size of a name that is cached. Of these bytes, the group id has all but 22."""


class ShareShards(dict[bytes, int]):
    """The shards of share partitions by name (``protocol/share_partition_names.py``), found when they are first used.

    Emptied when there are too many.
    """

    def __init__(self, partitions: int) -> None:
        """``partitions`` is the number of shards."""
        super().__init__()
        self._partitions = partitions

    def __call__(self, group_id: str, topic_id: bytes, partition: int, /) -> int:
        return self[name_of(SharePartitionKey(group_id, topic_id, partition))]

    def __missing__(self, name: bytes) -> int:
        shard = partition_for(coordinator_key(key_of(name)), self._partitions)
        if len(name) <= LONGEST_CACHED:
            if len(self) >= MOST_CACHED:
                self.clear()
            self[name] = shard
        return shard
