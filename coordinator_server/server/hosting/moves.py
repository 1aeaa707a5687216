"""This loop's part in a move of shards between loops. The supervisor asks for each step (supervisor/shard_moves.py).

    release-shards   of the owner: unload, and release the log. Parked requests get NOT_COORDINATOR, soft state ends
    take-shards      of the next owner: open the log, and state the shards in the journal
    use-view         of all loops: the present owners. The next owner begins to load, the former one lets go of the log
    shards-loaded    of the next owner: wait for the loads

A release that fails leaves everything as it was: the shards are loaded again. Shards that were taken and are not owned by a later
view are let go. Between the first step and the last one no loop has the shard: the supervisor runs no operation on all shards then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
import structlog

from coordinator_server.log.errors import LogError
from coordinator_server.log.shards import ShardEnd, ShardId
from coordinator_server.log.store import MovedLog
from coordinator_server.server.cluster.catalog_roles import RoledCatalog
from coordinator_server.server.cluster.nodes import Nodes
from coordinator_server.server.cluster.view import CATALOG_SHARD, View
from coordinator_server.server.hosting.hosted import Hosted
from coordinator_server.server.local_operation import Operation, Refusal
from protocol.error_codes import ErrorCode

log = structlog.get_logger(__name__)

RELEASE: Final = "release-shards"
TAKE: Final = "take-shards"
USE_VIEW: Final = "use-view"
LOADED: Final = "shards-loaded"
STEPS: Final = (RELEASE, TAKE, USE_VIEW, LOADED)
"""The operations that the supervisor alone may ask for."""

_READ_VIEW: Final = msgspec.msgpack.Decoder(View).decode


class Moves:
    """The steps of moves. ``after_submit`` calls back when everything that was submitted is durable or has failed.

    ``roles`` is the catalog's: its former owner follows, and the next one leads when it is loaded.
    """

    def __init__(
        self,
        hosted: Hosted,
        nodes: Nodes,
        store: MovedLog,
        after_submit: Callable[[Callable[[], None]], None],
        roles: RoledCatalog | None,
    ) -> None:
        self._hosted = hosted
        self._roles = roles
        self._nodes = nodes
        self._store = store
        self._after_submit = after_submit
        self._taken: set[ShardId] = set()
        self._loads: dict[ShardId, asyncio.Future[ErrorCode]] = {}
        # The number of shards that came and that went.
        self.counts = {"in": 0, "out": 0}

    @property
    def operations(self) -> dict[str, Operation]:
        """The steps, by name."""
        return {RELEASE: self._release, TAKE: self._take, USE_VIEW: self._use_view, LOADED: self._loaded}

    async def _release(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Unload shards. Return how far they are durable. Raises Refusal; they are loaded again then."""
        shards = [ShardId(*each) for each in request["shards"]]
        strange = [str(each) for each in shards if not self._nodes.owns(each)]
        if strange:
            raise Refusal(f"loop {self._nodes.loop} does not own {', '.join(strange)}")
        if CATALOG_SHARD in shards and self._roles is not None:
            await self._roles.follow()
        for shard in shards:
            self._hosted.leave(shard)
        loop = asyncio.get_running_loop()
        idle: asyncio.Future[None] = loop.create_future()
        self._after_submit(lambda: idle.set_result(None))
        await idle
        released: asyncio.Future[Sequence[ShardEnd] | LogError] = loop.create_future()
        self._store.release(shards, released.set_result)
        ends = await released
        if isinstance(ends, LogError):
            for shard in shards:
                self._enter(shard)
            raise Refusal(f"loop {self._nodes.loop} cannot release its shards: {ends}", is_temporary=True)
        return {"ends": ends}

    async def _take(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Open the log of released shards. Raises Refusal; nothing is open then."""
        shards = [ShardId(*each) for each in request["shards"]]
        ends = msgspec.convert(request["ends"], list[ShardEnd])
        taken: asyncio.Future[LogError | None] = asyncio.get_running_loop().create_future()
        self._store.take(ends, taken.set_result)
        error = await taken
        if error is not None:
            await self._let_go(shards)
            raise Refusal(f"loop {self._nodes.loop} cannot take the shards: {error}")
        self._taken.update(shards)
        return {}

    async def _use_view(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Use a view from now on. Begin to load what was taken and is owned now, and let go of what is not."""
        view = _READ_VIEW(request["view"])
        if not self._nodes.replace(view):
            return {}
        taken, self._taken = sorted(self._taken), set()
        for shard in taken:
            if self._nodes.owns(shard):
                self.counts["in"] += not self._hosted.has_left(shard)
                self._enter(shard)
        gone = [shard for shard in self._hosted.left() if not self._nodes.owns(shard)]
        self._hosted.forget(gone)
        self.counts["out"] += len(gone)
        await self._let_go([*gone, *(shard for shard in taken if not self._nodes.owns(shard))])
        return {}

    async def _let_go(self, shards: Sequence[ShardId]) -> None:
        """Leave shards to another loop, and close what is open of them: the other one may take them then."""
        closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._store.forget(shards, lambda: closed.set_result(None))
        await closed

    def _enter(self, shard: ShardId) -> None:
        """Load a shard. Whoever has loaded the catalog leads."""
        load = self._hosted.enter(shard)
        if load is not None and shard == CATALOG_SHARD and self._roles is not None:
            load = asyncio.get_running_loop().create_task(self._lead(self._roles, load))
        if load is not None:
            self._loads[shard] = load

    async def _lead(self, roles: RoledCatalog, load: asyncio.Future[ErrorCode]) -> ErrorCode:
        outcome = await load
        if outcome is ErrorCode.NONE:
            await roles.lead()
        return outcome

    async def _loaded(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Wait until taken shards are loaded. Raises Refusal if one cannot be loaded."""
        shards = [ShardId(*each) for each in request["shards"]]
        loads = {shard: self._loads.pop(shard) for shard in shards if shard in self._loads}
        if loads:
            await asyncio.wait(loads.values())
        failed = [str(shard) for shard, load in loads.items() if load.result() != ErrorCode.NONE]
        if failed:
            raise Refusal(f"loop {self._nodes.loop} could not load {', '.join(failed)}: the server's log names the damage")
        return {}
