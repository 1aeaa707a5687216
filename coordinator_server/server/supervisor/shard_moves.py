"""Moves of shards between the loops, one shard after the other. Nobody takes from a living loop:

    former owner       release-shards   unloads; everything is in synced segments. A dead loop's journal is read instead
    next owner         take-shards      its journal states the shard
    supervisor         owners.json      the next owner, in the next epoch, is durable
    all other loops    use-view         they know it; the former owner lets go of the log
    next owner         use-view         begins to load: only now it answers and sends messages

What fails before ``owners.json`` is written gives the shard back, in an epoch of its own, after the next owner has closed what it
took. No loop is started during a move, so that one is started with the view that holds. A loop that does not answer a step is
killed: it might do it later, when another loop has the shard.

{"op": "move-shard", "shard": "__consumer_offsets-7", "loop": 1}
{"ok": true, "shard": "__consumer_offsets-7", "from": 0, "to": 1, "epoch": 2, "ms": 24}
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import structlog

from coordinator_server.log.errors import LogError
from coordinator_server.log.opening import recover_dead_loop, write_owners
from coordinator_server.log.shards import LoopShards, ShardEnd, ShardId
from coordinator_server.server.cluster.view import Owner, View, moved_shards
from coordinator_server.server.control.described_owners import described_owners
from coordinator_server.server.hosting.moves import LOADED, RELEASE, TAKE, USE_VIEW
from coordinator_server.server.local_operation import Operation, Refusal
from coordinator_server.server.supervisor.loop_process import LoopProcess, Unanswered
from coordinator_server.server.supervisor.shared_lock import SharedLock

log = structlog.get_logger(__name__)

_ENCODE: Final = msgspec.msgpack.Encoder().encode


class ShardMoves:
    """The moves of one server. ``view`` is the one that holds; ``processes`` has the newest process of each loop.

    ``lock`` is held during a move, and whenever a loop is started. ``places`` is had alone during a move; operations that need
    the answers of all loops share it, so that they find each shard at one of them.
    """

    def __init__(self, data_dir: Path, view: View, partitions: Mapping[str, int], processes: Mapping[int, LoopProcess]) -> None:
        self.view = view
        self.lock = asyncio.Lock()
        self.places = SharedLock()
        self._data_dir = data_dir
        self._partitions = partitions
        self._processes = processes

    @property
    def operations(self) -> dict[str, Operation]:
        """The operations of ``control.sock``."""
        return {"owners": self._owners, "move-shard": self._move_one}

    async def _owners(self, _request: Mapping[str, Any]) -> Mapping[str, Any]:
        return described_owners(self.view, self._partitions)

    async def _move_one(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Move a shard to a loop, unless that owns it. Raises Refusal."""
        shard, to = self._shard(str(request.get("shard"))), request.get("loop")
        if not isinstance(to, int) or to not in self._processes:
            raise Refusal(f"there is no loop {to}: the loops are 0 to {len(self._processes) - 1}")
        try:
            return await self._move(shard, to)
        except Refusal as refused:
            log.warning("shard-not-moved", shard=str(shard), to=to, why=str(refused))
            raise

    def _shard(self, name: str) -> ShardId:
        topic, _, number = name.rpartition("-")
        if not number.isdecimal() or int(number) >= self._partitions.get(topic, 0):
            raise Refusal(f"there is no shard {name}: 'coordinator-server shards list' names all")
        return ShardId(topic, int(number))

    async def _move(self, shard: ShardId, to: int) -> Mapping[str, Any]:
        async with self.places.alone(), self.lock:
            source = self.view.loop_of(shard)
            if source == to:
                return {"shard": str(shard), "from": to, "to": to, "epoch": self.view.owner_of(shard).epoch, "ms": 0}
            self._check_loops(source, to)
            began_s = time.monotonic()
            target, former = self._processes[to], self._processes[source]
            ends = await (self._released(former, shard) if former.is_up else self._recovered(former, shard))
            view = self._with_owner(shard, to, 1)
            try:
                await _step(target, {"op": TAKE, "shards": [shard], "ends": ends})
                await asyncio.to_thread(self._write, view)
            except (Refusal, LogError) as failure:
                await self._give_back(shard, target, former, ends)
                raise Refusal(str(failure), is_temporary=True) from None
            await self._use(view, last=target)
        await _ask(target, {"op": LOADED, "shards": [shard]})
        owner, took_ms = view.owner_of(shard), round((time.monotonic() - began_s) * 1000)
        log.info("shard-moved", shard=str(shard), source=source, to=to, epoch=owner.epoch, ms=took_ms)
        return {"shard": str(shard), "from": source, "to": to, "epoch": owner.epoch, "ms": took_ms}

    def _check_loops(self, source: int, to: int) -> None:
        """Raise Refusal if a loop is being started: it would not get the next view."""
        for loop, process in self._processes.items():
            is_dead = process.ended.is_set()
            if not process.is_up and not (is_dead and loop != to):
                raise Refusal(f"loop {loop} is being started: try again in a moment", is_temporary=True)

    async def _released(self, former: LoopProcess, shard: ShardId) -> Sequence[ShardEnd]:
        answer = await _step(former, {"op": RELEASE, "shards": [shard]})
        return msgspec.convert(answer["ends"], list[ShardEnd])

    async def _recovered(self, former: LoopProcess, shard: ShardId) -> Sequence[ShardEnd]:
        """Bring the shard of a dead loop up to its journal."""
        part = LoopShards(former.loop, lambda each: each == shard)
        try:
            return await asyncio.to_thread(recover_dead_loop, self._data_dir, part)
        except LogError as failure:
            raise Refusal(f"what loop {former.loop} has left cannot be recovered: {failure}") from None

    def _with_owner(self, shard: ShardId, loop: int, epochs: int) -> View:
        """Return the next view, in which a loop owns a shard, in an epoch that is ``epochs`` later."""
        view = self.view
        [node_id] = [node.id for node in view.nodes if node.loop == loop]
        owner = Owner(node_id, view.owner_of(shard).epoch + epochs)
        return msgspec.structs.replace(view, version=view.version + epochs, owners={**view.owners, shard: owner})

    def _write(self, view: View) -> None:
        """Make a view durable. Raises LogError."""
        write_owners(self._data_dir, moved_shards(view))

    async def _use(self, view: View, last: LoopProcess) -> None:
        """Let all loops use a view, its new owner after the others. One that is down gets it when it is started."""
        self.view = view
        request = {"op": USE_VIEW, "view": _ENCODE(view)}
        await asyncio.gather(*(_send_view(each, request) for each in self._processes.values() if each is not last))
        await _send_view(last, request)

    async def _give_back(self, shard: ShardId, target: LoopProcess, former: LoopProcess, ends: Sequence[ShardEnd]) -> None:
        """Let the former owner go on. If it is down, or dies of this, its next process owns the shard and recovers it."""
        # The epoch and the version of the move that failed may be known already.
        view = self.view = self._with_owner(shard, former.loop, 2)
        await _send_view(target, {"op": USE_VIEW, "view": _ENCODE(view)})
        try:
            if former.is_up:
                await _step(former, {"op": TAKE, "shards": [shard], "ends": ends})
        except Refusal as refused:
            _kill(former, f"it cannot take {shard} back: {refused}")
        try:
            await asyncio.to_thread(self._write, view)
        except LogError as failure:
            log.warning("owners-not-written", why=str(failure), action="the next start of the server has the owners before")
        await self._use(view, last=former)


async def _send_view(process: LoopProcess, request: Mapping[str, Any]) -> None:
    """Let a loop use a view. One that is down, or does not use it, gets it when it is started."""
    try:
        if process.is_up:
            await _ask(process, request)
    except Refusal as refused:
        if process.is_up:
            _kill(process, f"it does not use the present owners: {refused}")


async def _step(process: LoopProcess, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the answer of a loop. Raises Refusal if it refuses, or does not answer; then it is killed."""
    try:
        return await _ask(process, request)
    except Unanswered as silent:
        _kill(process, f"{request['op']}: {silent}")
        raise


async def _ask(process: LoopProcess, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the answer of a loop. Raises Refusal if it refuses, or does not answer."""
    answer = await process.ask(request)
    if not answer["ok"]:
        raise Refusal(answer["error"], is_temporary=answer.get("temporary", False))
    return answer


def _kill(process: LoopProcess, why: str) -> None:
    log.error("loop-killed", loop=process.loop, why=why, action="it is started again")
    process.kill()
