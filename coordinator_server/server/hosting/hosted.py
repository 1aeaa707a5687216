"""The shards of this loop, by kind, and the progress of their loads.

A permanent kind is loaded at the start. Any other kind is loaded when the catalog lists its topic; before that it has no shard
and no directory here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import structlog

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.log.shards import ShardId
from coordinator_server.runtime.context import Progress, ShardState
from coordinator_server.runtime.runtime import CoordinatorRuntime
from coordinator_server.server.cluster.catalog import Catalog
from coordinator_server.server.cluster.nodes import Nodes
from coordinator_server.server.errors import StartError
from protocol.error_codes import ErrorCode

log = structlog.get_logger(__name__)

PROGRESS_SECONDS: Final = 2.0
HAS_LEFT: Final = ErrorCode.COORDINATOR_NOT_AVAILABLE
"""The outcome of a load of a shard that left before it was over."""


class Hosted:
    """The runtimes by topic, and the loads of their shards."""

    def __init__(
        self,
        runtimes: Mapping[str, CoordinatorRuntime[Any]],
        partitions: Mapping[str, int],
        nodes: Nodes,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.runtimes = runtimes
        self._partitions = partitions
        self._nodes = nodes
        self._loop = loop
        # By kind in use, and partition.
        self._loads: dict[str, dict[int, asyncio.Future[ErrorCode]]] = {}
        self._left: set[ShardId] = set()
        # How long it took until all shards were loaded at the start.
        self.loaded_in_s: float | None = None

    def use(self, topic: str) -> Sequence[asyncio.Future[ErrorCode]]:
        """Start to load this loop's shards of a kind, unless already started. Return the outcomes."""
        loads = self._loads.get(topic)
        if loads is None:
            loads = self._loads[topic] = {}
            for partition in range(self._partitions[topic]):
                shard = ShardId(topic, partition)
                if self._nodes.owns(shard) and shard not in self._left:
                    loads[partition] = self._load(shard)
        return list(loads.values())

    def _load(self, shard: ShardId, when_here: Callable[[Callable[[], None]], None] | None = None) -> asyncio.Future[ErrorCode]:
        outcome: asyncio.Future[ErrorCode] = self._loop.create_future()

        def loaded(error: ErrorCode) -> None:
            # A shard that leaves has its outcome already.
            if not outcome.done():
                outcome.set_result(error)

        epoch = self._nodes.view.owner_of(shard).epoch
        self.runtimes[shard.topic].load(shard.partition, epoch, loaded, when_here=when_here)
        return outcome

    # A shard that moves (moves.py).

    def leave(self, shard: ShardId) -> None:
        """Unload a shard that another loop is about to own. Until the view says so, it is not loaded again."""
        self._left.add(shard)
        loading = self._loads[shard.topic].pop(shard.partition, None) if self.is_used(shard.topic) else None
        if loading is not None and not loading.done():
            loading.set_result(HAS_LEFT)
        self.runtimes[shard.topic].unload(shard.partition)

    def enter(
        self, shard: ShardId, when_here: Callable[[Callable[[], None]], None] | None = None
    ) -> asyncio.Future[ErrorCode] | None:
        """Load a shard that this loop owns now, or still. Return the outcome; None if its kind is not in use.

        If its log is not here yet, ``when_here`` calls back when it is. A kind that is not in use may load nothing before that.
        """
        if not self.is_used(shard.topic):
            if when_here is None:
                self._left.discard(shard)
            return None
        self._left.discard(shard)
        load = self._loads[shard.topic][shard.partition] = self._load(shard, when_here)
        return load

    def has_left(self, shard: ShardId) -> bool:
        """Return whether ``leave`` was called, and neither ``enter`` nor ``forget`` since then."""
        return shard in self._left

    def left(self) -> list[ShardId]:
        """Return the shards that were left, and that the view has not given to another loop yet."""
        return sorted(self._left)

    def forget(self, shards: Iterable[ShardId]) -> None:
        """Let other loops have shards that were left."""
        self._left.difference_update(shards)

    def is_used(self, topic: str) -> bool:
        """Return whether this loop's shards of a kind are loaded or loading."""
        return topic in self._loads

    def use_listed(self, catalog: Catalog) -> None:
        """Call ``use`` for every kind whose topic the catalog has."""
        for topic in self.runtimes:
            if topic not in self._loads and catalog.read(CatalogShard.topic, topic) is not None:
                self.use(topic)

    async def finish_loading(self) -> None:
        """Wait until every shard is loaded, logging the progress periodically. Raises StartError."""
        started, left = self._loop.time(), -1
        while left:
            loads = [load for of_kind in self._loads.values() for load in of_kind.values()]
            if pending := [load for load in loads if not load.done()]:
                await asyncio.wait(pending, timeout=PROGRESS_SECONDS)
            left = sum(not load.done() for load in loads)
            seconds = round(self._loop.time() - started, 1)
            records = sum(runtime.records_loaded for runtime in self.runtimes.values())
            log.info("loading" if left else "loaded", records=records, shards=len(loads), shards_left=left, seconds=seconds)
        self.loaded_in_s = self._loop.time() - started
        failed = sum(load.result() not in {ErrorCode.NONE, HAS_LEFT} for load in loads)
        if failed:
            raise StartError(f"{failed} of {len(loads)} shards could not be loaded: the lines above name the damaged files")

    @property
    def progress(self) -> list[Progress]:
        """The state and the load progress of each shard of this loop."""
        return [each for runtime in self.runtimes.values() for each in runtime.progress]

    @property
    def left_to_load(self) -> int:
        """The number of shards that are still loading."""
        return sum(each.state is ShardState.LOADING for each in self.progress)

    def close(self) -> None:
        """Unload all shards and accept no more."""
        for runtime in reversed(list(self.runtimes.values())):
            runtime.close()
