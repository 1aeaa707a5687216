"""The epochs of all shards as a loop knows them: from the view, and from the messages of others.

An owner starts from what the view says of all shards when it acquires its own: what it has seen itself would die with the process.
So a loop uses a view before it loads what the view gives to it. A message carries the epochs of the shard that sends it and of the
shard that gets it. One of an older owner has no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Protocol

from coordinator_server.log.shards import Ownership, ShardId

FIRST_EPOCH: Final = 1
"""The epoch of a shard that has never had a second owner."""


class HasEpoch(Protocol):
    """What is read of an owner."""

    @property
    def epoch(self) -> int: ...


class Epochs:
    """The newest known epoch of each shard. It never goes back. ``owners`` returns the present view's of shards that have moved."""

    def __init__(self, owners: Callable[[], Mapping[ShardId, HasEpoch]]) -> None:
        self._owners = owners
        self._seen: dict[ShardId, int] = {}

    def newest(self, shard: ShardId) -> int:
        """Return the newest epoch that is known of a shard."""
        seen = self._seen.get(shard, FIRST_EPOCH)
        owner = self._owners().get(shard)
        return seen if owner is None else max(owner.epoch, seen)

    def note(self, owned: Ownership) -> bool:
        """Note an owner of a shard. Return whether no later one is known."""
        known = self.newest(owned.shard)
        if owned.epoch > known:
            self._seen[owned.shard] = owned.epoch
        return owned.epoch >= known
