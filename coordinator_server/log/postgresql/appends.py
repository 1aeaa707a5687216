"""Submits as one statement each, and the resolution of those in doubt.

    submit       UPDATE the ends of all shards that are as expected, and INSERT the rows of those
                 answered    durable; a shard that is absent from the answer is Fenced, or Diverged
                 refused     once more, shard by shard: one of them may be why
                 in doubt    OutcomeUnknown
    resolve      UPDATE the resolutions, again and again until there is an answer. After it no earlier statement writes anything,
                 so the ends that it returns say what became of the rows

A row is of the era that is the present one when the statement begins (upkeep.py).

Shards come in the order of their numbers, so that two nodes wait for each other in one order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from coordinator_server.log.errors import Diverged, Fenced, LogError, OutcomeUnknown, Unavailable
from coordinator_server.log.postgresql.rows import Row
from coordinator_server.log.postgresql.session import Session
from coordinator_server.log.shards import ShardId

_APPEND: Final = """
WITH u AS (UPDATE shard SET next_offset = $5::bigint
  WHERE sid = $1::int AND epoch = $2::bigint AND resolution = $3::int AND next_offset = $4::bigint RETURNING sid)
INSERT INTO log(era, sid, base_offset, next_offset, epoch, data) SELECT (SELECT era FROM meta), sid, $4, $5, $2, $6::bytea FROM u
RETURNING sid"""
_APPEND_MANY: Final = """
WITH b AS (SELECT * FROM unnest($1::int[], $2::bigint[], $3::int[], $4::bigint[], $5::bigint[], $6::bytea[])
    t(sid, epoch, resolution, base, next, data)),
  u AS (UPDATE shard s SET next_offset = b.next FROM b
    WHERE s.sid = b.sid AND s.epoch = b.epoch AND s.resolution = b.resolution AND s.next_offset = b.base RETURNING s.sid)
INSERT INTO log(era, sid, base_offset, next_offset, epoch, data)
SELECT (SELECT era FROM meta), sid, base, next, epoch, data FROM b JOIN u USING (sid)
RETURNING sid"""
_PRESENT: Final = "SELECT sid, epoch, resolution, next_offset FROM shard WHERE sid = ANY($1::int[])"
# A second one, after a lost answer, changes nothing, and is still a write that waits for the standby.
_RESOLVE: Final = """
UPDATE shard s SET resolution = b.resolution + 1 FROM unnest($1::int[], $2::bigint[], $3::int[]) b(sid, epoch, resolution)
WHERE s.sid = b.sid AND s.epoch = b.epoch AND s.resolution IN (b.resolution, b.resolution + 1)
RETURNING s.sid, s.next_offset"""
_LEAST_DELAY_S, _MOST_DELAY_S = 0.05, 1.0


class Pending(NamedTuple):
    """An append as a statement has it."""

    shard: ShardId
    sid: int
    epoch: int
    resolution: int
    row: Row
    end_ms: int


class Appends:
    """The writes of a loop's shards over one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._is_closed = False

    async def prepare(self, connection: Any) -> None:
        """Let a new connection know the statements, so that the first submit does not wait for that. Nothing is written."""
        await connection.fetch(self._session.written(_APPEND), -1, 0, 0, 0, 0, b"")
        await connection.fetch(self._session.written(_APPEND_MANY), [], [], [], [], [], [])

    def close(self) -> None:
        """Resolve nothing any more."""
        self._is_closed = True

    async def submit(self, rows: Sequence[Pending]) -> dict[ShardId, LogError]:
        """Write rows of different shards, in ascending order of ``sid``. Return why shards are not durable."""
        try:
            written = await self._write(rows)
        except Unavailable as refused:
            if len(rows) == 1:
                return {rows[0].shard: refused}
            failures: dict[ShardId, LogError] = {}
            for each in rows:
                failures |= await self.submit([each])
            return failures
        except OutcomeUnknown as unknown:
            return {each.shard: unknown for each in rows}
        absent = [each for each in rows if each.sid not in written]
        return await self._explain(absent) if absent else {}

    async def resolve(self, rows: Sequence[Pending]) -> dict[ShardId, LogError]:
        """Find out whether rows are durable, however long it takes, and let them never be later. Return why shards are not."""
        delay = _LEAST_DELAY_S
        while True:
            try:
                found = await self._session.write(
                    _RESOLVE, [each.sid for each in rows], [each.epoch for each in rows], [each.resolution for each in rows]
                )
            except LogError as error:
                if self._is_closed:
                    return {each.shard: OutcomeUnknown(f"the log was closed first: {error}") for each in rows}
                await asyncio.sleep(delay)
                delay = min(2 * delay, _MOST_DELAY_S)
            else:
                ends = {each[0]: each[1] for each in found}
                return {each.shard: failure for each in rows if (failure := _resolved(each, ends.get(each.sid))) is not None}

    async def _write(self, rows: Sequence[Pending]) -> set[int]:
        if len(rows) == 1:
            [(_, sid, epoch, resolution, row, _)] = rows
            found = await self._session.write(_APPEND, sid, epoch, resolution, row.base_offset, row.next_offset, row.data)
        else:
            _, sids, epochs, resolutions, data, _ = zip(*rows, strict=True)
            bases, ends, batches = zip(*data, strict=True)
            found = await self._session.write(_APPEND_MANY, sids, epochs, resolutions, bases, ends, batches)
        return {each[0] for each in found}

    async def _explain(self, absent: Sequence[Pending]) -> dict[ShardId, LogError]:
        """Return why rows were not written. If that cannot be read, a resolution finds out."""
        try:
            present = {each[0]: each for each in await self._session.read(_PRESENT, [each.sid for each in absent])}
        except LogError as error:
            return {each.shard: OutcomeUnknown(str(error)) for each in absent}
        return {each.shard: _failure(each, present) for each in absent}


def _failure(row: Pending, present: Mapping[int, Sequence[int]]) -> LogError:
    _, epoch, resolution, end = present[row.sid]
    if (epoch, resolution) != (row.epoch, row.resolution):
        return Fenced(f"{row.shard} has the epoch {epoch}.{resolution}, not {row.epoch}.{row.resolution}")
    if end == row.row.next_offset:
        # Only this process writes at this epoch: the statement has run before. Whether a standby has it, a resolution finds out.
        return OutcomeUnknown(f"{row.shard} ends at {end} already")
    return Diverged(f"{row.shard} ends at {end}, not at {row.row.base_offset}: the database has lost what it acknowledged")


def _resolved(row: Pending, end: int | None) -> LogError | None:
    base, after, _ = row.row
    if end is None:
        return Fenced(f"{row.shard} has another epoch than {row.epoch}.{row.resolution}")
    if end == base:
        return Unavailable("it was not written, and will not be")
    if end == after:
        return None
    return Diverged(f"{row.shard} ends at {end}, not at {base} or {after}: the database has lost what it acknowledged")
