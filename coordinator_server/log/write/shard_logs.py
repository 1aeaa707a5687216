"""The segments of all shards of one log."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from coordinator_server.log.shards import ShardId
from coordinator_server.log.storage import Storage
from coordinator_server.log.write.segments import Limits, Segments, ShardLog


class ShardLogs:
    """The open shards, ``by_shard``. The caller's loop adds to it; other threads take ``all`` and ``journaled``.

    A shard that another loop is about to take is not in ``by_shard``: nothing is written to it here. This loop's journal still
    states how far it is durable.
    """

    def __init__(self, storage: Storage, data_dir: str, limits: Limits, owns: Callable[[ShardId], bool] | None = None) -> None:
        self.by_shard: dict[ShardId, ShardLog] = {}
        # Each change is one insertion or one removal, so that a thread that makes a journal head sees a shard in it at any moment.
        self._stated: dict[ShardId, ShardLog] = {}
        self._storage = storage
        self._data_dir = data_dir
        self._limits = limits
        self._owns = owns

    def add(self, shard: ShardId, segments: Segments) -> ShardLog:
        """Open a shard, with the segments that it has. ValueError if it belongs to another loop."""
        if (self._owns is not None and not self._owns(shard)) or shard in self._stated:
            raise ValueError(f"{shard} belongs to another loop's journal")
        return self.put(shard, segments)

    def put(self, shard: ShardId, segments: Segments) -> ShardLog:
        """Open a shard that another loop has released, or this one before."""
        log = ShardLog(self._storage, f"{self._data_dir}/{shard}", shard, segments, self._limits)
        self._stated[shard] = self.by_shard[shard] = log
        return log

    def release(self, shards: Iterable[ShardId]) -> list[ShardLog]:
        """Take no more batches of these shards. Return those that were open."""
        return [log for shard in shards if (log := self.by_shard.pop(shard, None)) is not None]

    def keep(self, logs: Iterable[ShardLog]) -> None:
        """Go on with shards that could not be released."""
        for log in logs:
            log.is_released = False
            self.by_shard[log.shard] = log

    def forget(self, shards: Iterable[ShardId]) -> list[ShardLog]:
        """Let the journal state these shards no more. Return those that were open."""
        logs = self.release(shards := list(shards))
        for shard in shards:
            self._stated.pop(shard, None)
        return logs

    def journaled(self) -> list[ShardLog]:
        """Every shard that the journal has to state."""
        return list(self._stated.values())

    def all(self) -> list[ShardLog]:
        """Every open shard, as a list that does not change while it is read."""
        return list(self.by_shard.values())
