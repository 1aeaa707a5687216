"""The epochs of all shards as a loop knows them: from the store, and from the messages of others.

An owner starts from what the store says of all shards when it acquires its own: what it has seen itself would die with the process.
A message carries the epochs of the shard that sends it and of the shard that gets it. One of an older owner has no effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from coordinator_server.log.shards import Ownership, ShardId

FIRST_EPOCH: Final = 1
"""The epoch of a shard that has never had a second owner."""


class Epochs:
    """The newest known epoch of each shard. It never goes back."""

    def __init__(self) -> None:
        self._newest: dict[ShardId, int] = {}

    def newest(self, shard: ShardId) -> int:
        """Return the newest epoch that is known of a shard."""
        return self._newest.get(shard, FIRST_EPOCH)

    def note(self, owned: Ownership) -> bool:
        """Note an owner of a shard. Return whether no later one is known."""
        known = self.newest(owned.shard)
        if owned.epoch > known:
            self._newest[owned.shard] = owned.epoch
        return owned.epoch >= known

    def adopt(self, epochs: Mapping[ShardId, int]) -> None:
        """Note what the store says of all shards. Call it before a shard is loaded that was acquired with them."""
        for shard, epoch in epochs.items():
            self.note(Ownership(shard, epoch))
