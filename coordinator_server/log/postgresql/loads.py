"""What is read of a shard before a node answers for it: its newest layer, and all rows after it.

    prepare   while another node owns it. Rows never change, so what is read is right whoever writes the next ones
    tail      when this node owns it, in one snapshot that has its epoch: all of it, or by one statement what came after ``prepare``

What was prepared is compared with the database by its last row: one that has lost rows since then may have others in their place.
What does not fit is read again from the start.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

from coordinator_server.log.errors import DamagedLog, Fenced, LogError, Unavailable
from coordinator_server.log.postgresql.layers import LayerCopies, Newest
from coordinator_server.log.postgresql.rows import LAST_ROW, SHARD_ROW, Row, check_row, end_ms, first_row
from coordinator_server.log.postgresql.segments import SegmentCopies, kept_rows
from coordinator_server.log.postgresql.session import Session
from coordinator_server.log.postgresql.tails import Tail
from coordinator_server.log.shards import Ownership, ShardId

KEPT_S: Final = 30.0
"""What was prepared and not opened after so long is forgotten when something else is prepared."""
# The row of a shard, and its first rows from an offset on.
FOLLOWING: Final = """
SELECT s.epoch, s.resolution, s.log_start, s.next_offset, l.base_offset, l.next_offset, l.data FROM shard s LEFT JOIN LATERAL
  (SELECT * FROM log WHERE sid = s.sid AND base_offset >= $2 ORDER BY base_offset LIMIT 64) l ON true
WHERE s.sid = $1 ORDER BY l.base_offset"""


class _Prepared(NamedTuple):
    newest: Newest
    tail: Tail
    last: Row | None
    at_s: float


class Loads:
    """The reads of a node. ``preparing`` is the session for shards of others: nobody who owns a shard waits for these."""

    def __init__(self, session: Session, preparing: Session, sids: Mapping[ShardId, int], copies: LayerCopies) -> None:
        self._session = session
        self._preparing = preparing
        self._sids = sids
        self._copies = copies
        self._segments = SegmentCopies(copies)
        self._prepared: dict[ShardId, _Prepared] = {}

    def close(self) -> None:
        """End the connections."""
        self._session.close()
        self._preparing.close()

    async def prepare(self, shards: Sequence[ShardId]) -> None:
        """Read shards that other nodes own. What cannot be read is left for ``tail``."""
        now_s = time.monotonic()
        self._prepared = {shard: each for shard, each in self._prepared.items() if now_s - each.at_s < KEPT_S}
        for shard in shards:
            with suppress(LogError):
                tail = await self._whole(self._preparing, shard)
                rows = tail.rows_from(tail.begin)
                self._prepared[shard] = _Prepared(tail.newest, tail, rows[-1] if rows else None, now_s)

    async def tail(self, owned: Ownership) -> Tail:
        """Return the tail of a shard that this node owns.

        It is of one moment, which has the owner's epoch: so it has all that was written before. Raises Fenced if the shard
        has another epoch, DamagedLog if rows are missing or damaged, and LogError.
        """
        prepared = self._prepared.pop(owned.shard, None)
        tail = None if prepared is None else await self._continued(owned.shard, prepared)
        if tail is None:
            tail = await self._whole(self._session, owned.shard)
        if tail.epoch != owned.epoch:
            raise Fenced(f"{owned.shard} has the epoch {tail.epoch}, not {owned.epoch}")
        return tail

    async def _continued(self, shard: ShardId, prepared: _Prepared) -> Tail | None:
        """Return what was prepared with what came after it; None if that does not fit, or is much."""
        tail, last = prepared.tail, prepared.last
        found = await self._session.read(
            FOLLOWING, self._sids[shard], tail.end if last is None else last.base_offset, waits=False
        )
        (epoch, resolution, start, end, *_), rows = found[0], [Row(*each[4:]) for each in found if each[4] is not None]
        if last is not None and (not rows or rows.pop(0) != last):
            return None
        try:
            for row in rows:
                check_row(shard, row, tail.end)
                tail.append(row, end_ms(row.data))
        except DamagedLog:
            return None
        tail.epoch, tail.resolutions = epoch, resolution
        return tail if tail.end == end and prepared.newest.to_offset >= start else None

    async def _whole(self, session: Session, shard: ShardId) -> Tail:
        """Return all of a shard, with the epoch that it has. Raises LogError."""
        sid = self._sids[shard]
        newest = await self._copies.newest(partial(session.read, waits=False), shard, sid)
        self._copies.keep_only(shard, newest.layer)
        async with session.snapshot() as read:
            [(epoch, resolution, start, end)] = await read(SHARD_ROW, sid)
            if newest.to_offset < start:
                raise Unavailable(f"rows of {shard} were removed meanwhile")
            begin = await first_row(read, sid, newest.to_offset, end)
            tail = Tail(shard, begin, epoch, is_loaded=False, newest=newest)
            tail.resolutions = resolution
            async for row in kept_rows(read, self._segments, shard, sid, begin, end):
                tail.append(row, end_ms(row.data))
            if tail.end_ms < 0:
                for _, _, data in await read(LAST_ROW, sid):
                    tail.end_ms = end_ms(data)
        if tail.end_ms < 0 and newest.layer is not None:
            tail.end_ms = await asyncio.to_thread(newest.layer.end_time)
        return tail
