"""The segments of all shards of one log."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from coordinator_server.log.shards import ShardId
from coordinator_server.log.storage import Storage
from coordinator_server.log.write.segments import Limits, Segments, ShardLog


class ShardLogs:
    """The open shards, ``by_shard``. The caller's loop adds to it; other threads take ``all``.

    ``released`` has the shards that another loop is about to take: nothing is written to them here, and this loop's journal still
    states how far they are durable.
    """

    def __init__(self, storage: Storage, data_dir: str, limits: Limits, owns: Callable[[ShardId], bool] | None = None) -> None:
        self.by_shard: dict[ShardId, ShardLog] = {}
        self.released: dict[ShardId, ShardLog] = {}
        self._storage = storage
        self._data_dir = data_dir
        self._limits = limits
        self._owns = owns

    def add(self, shard: ShardId, segments: Segments) -> ShardLog:
        """Open a shard, with the segments that it has. ValueError if it belongs to another loop."""
        if (self._owns is not None and not self._owns(shard)) or shard in self.released:
            raise ValueError(f"{shard} belongs to another loop's journal")
        return self.put(shard, segments)

    def put(self, shard: ShardId, segments: Segments) -> ShardLog:
        """Open a shard that another loop has released, or this one before."""
        self.released.pop(shard, None)
        log = self.by_shard[shard] = ShardLog(self._storage, f"{self._data_dir}/{shard}", shard, segments, self._limits)
        return log

    def release(self, shards: Iterable[ShardId]) -> list[ShardLog]:
        """Take no more batches of these shards. Return those that were open."""
        logs = [log for shard in shards if (log := self.by_shard.pop(shard, None)) is not None]
        self.released.update((log.shard, log) for log in logs)
        return logs

    def keep(self, logs: Iterable[ShardLog]) -> None:
        """Go on with shards that could not be released."""
        for log in logs:
            self.by_shard[log.shard] = self.released.pop(log.shard)

    def forget(self, shards: Iterable[ShardId]) -> list[ShardLog]:
        """Let the journal state these shards no more. Return those that were open."""
        for shard in (shards := list(shards)):
            self.released.pop(shard, None)
        return [log for shard in shards if (log := self.by_shard.pop(shard, None)) is not None]

    def journaled(self) -> list[ShardLog]:
        """Every shard that the journal has to state."""
        return [*self.by_shard.values(), *self.released.values()]

    def all(self) -> list[ShardLog]:
        """Every open shard, as a list that does not change while it is read."""
        return list(self.by_shard.values())
