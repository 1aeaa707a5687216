"""The segments of all shards of one log."""

from __future__ import annotations

from collections.abc import Callable

from coordinator_server.log.shards import ShardId
from coordinator_server.log.storage import Storage
from coordinator_server.log.write.segments import Limits, Segments, ShardLog


class ShardLogs:
    """The open shards, ``by_shard``. The caller's loop adds to it; other threads take ``all``."""

    def __init__(self, storage: Storage, data_dir: str, limits: Limits, owns: Callable[[ShardId], bool] | None = None) -> None:
        self.by_shard: dict[ShardId, ShardLog] = {}
        self._storage = storage
        self._data_dir = data_dir
        self._limits = limits
        self._owns = owns

    def add(self, shard: ShardId, segments: Segments) -> ShardLog:
        """Open a shard, with the segments that it has. ValueError if it belongs to another loop."""
        if self._owns is not None and not self._owns(shard):
            raise ValueError(f"{shard} belongs to another loop's journal")
        log = self.by_shard[shard] = ShardLog(self._storage, f"{self._data_dir}/{shard}", shard, segments, self._limits)
        return log

    def all(self) -> list[ShardLog]:
        """Every open shard, as a list that does not change while it is read."""
        return list(self.by_shard.values())
