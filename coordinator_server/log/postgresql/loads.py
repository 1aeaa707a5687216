"""What is read of a shard before a node answers for it: its newest layer, and all rows after it.

    prepare   while another node owns it. Rows never change, so what is read is right whoever writes the next ones
    tail      when this node owns it, in one snapshot that has its epoch: all of it, or what came after ``prepare``

What was prepared is compared with the database by its last row: one that has lost rows since then may have others in their place.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple

from coordinator_server.log.errors import Fenced, LogError, Unavailable
from coordinator_server.log.postgresql.layers import LayerCopies, Newest
from coordinator_server.log.postgresql.rows import LAST_ROW, SHARD_ROW, Row, end_ms, first_row, rows_between
from coordinator_server.log.postgresql.session import Session
from coordinator_server.log.postgresql.tails import Tail
from coordinator_server.log.shards import Ownership, ShardId

KEPT_S: Final = 30.0
"""What was prepared and not opened after so long is forgotten when something else is prepared."""

Read = Callable[..., Awaitable[list[Any]]]


class _Prepared(NamedTuple):
    newest: Newest
    begin: int
    rows: list[Row]
    at_s: float


class Loads:
    """The reads of a node, over one session."""

    def __init__(self, session: Session, sids: Mapping[ShardId, int], copies: LayerCopies) -> None:
        self._session = session
        self._sids = sids
        self._copies = copies
        self._prepared: dict[ShardId, _Prepared] = {}

    async def prepare(self, shards: Sequence[ShardId]) -> None:
        """Read shards that other nodes own. What cannot be read is left for ``tail``."""
        now_s = time.monotonic()
        self._prepared = {shard: each for shard, each in self._prepared.items() if now_s - each.at_s < KEPT_S}
        for shard in shards:
            with suppress(LogError):
                newest = await self._newest(shard)
                async with self._session.snapshot() as read:
                    [(_, _, start, end)] = await read(SHARD_ROW, self._sids[shard])
                    begin, rows = await self._rows(read, shard, newest, start, end)
                self._prepared[shard] = _Prepared(newest, begin, rows, now_s)

    async def tail(self, owned: Ownership) -> Tail:
        """Return the tail of a shard that this node owns.

        It is of one moment, which has the owner's epoch: so it has all that was written before.

        Raises Fenced if the shard has another epoch, DamagedLog if rows are missing or damaged, and LogError.
        """
        shard = owned.shard
        prepared = self._prepared.pop(shard, None)
        newest = await self._newest(shard) if prepared is None else prepared.newest
        async with self._session.snapshot() as read:
            [(epoch, resolution, start, end)] = await read(SHARD_ROW, self._sids[shard])
            if epoch != owned.epoch:
                raise Fenced(f"{shard} has the epoch {epoch}, not {owned.epoch}")
            begin, rows = await self._rows(read, shard, newest, start, end, prepared)
            tail = Tail(shard, begin, epoch, is_loaded=False, newest=newest)
            tail.resolutions = resolution
            for row in rows:
                tail.append(row, end_ms(row.data))
            if tail.end_ms < 0:
                for _, _, data in await read(LAST_ROW, self._sids[shard]):
                    tail.end_ms = end_ms(data)
        if tail.end_ms < 0 and newest.layer is not None:
            tail.end_ms = await asyncio.to_thread(newest.layer.end_time)
        return tail

    async def _newest(self, shard: ShardId) -> Newest:
        newest = await self._copies.newest(partial(self._session.read, waits=False), shard, self._sids[shard])
        self._copies.keep_only(shard, newest.layer)
        return newest

    async def _rows(
        self, read: Read, shard: ShardId, newest: Newest, start: int, end: int, prepared: _Prepared | None = None
    ) -> tuple[int, list[Row]]:
        """Return where the rows after a layer begin, and the rows. Raises Unavailable if some were removed meanwhile."""
        if newest.to_offset < start:
            raise Unavailable(f"rows of {shard} were removed meanwhile")
        sid = self._sids[shard]
        if prepared is not None and prepared.rows and prepared.rows[-1].next_offset <= end:
            # The last one again.
            found = [row async for row in rows_between(read, shard, sid, prepared.rows[-1].base_offset, end)]
            if found[0] == prepared.rows[-1]:
                return prepared.begin, [*prepared.rows, *found[1:]]
        begin = await first_row(read, sid, newest.to_offset, end)
        return begin, [row async for row in rows_between(read, shard, sid, begin, end)]
