"""Removes what layers replace: eras, whose rows are old enough, and layers that newer ones supersede. Never a row of the log.

A row is of the era that was the present one when it was written. An era is closed when it is old or large enough; the ring has ERAS
of them, so the next one must be empty. ``layers/retention.py`` says what may be removed of each shard, with eras in the place of
segments: all rows of a closed era are older than the moment at which it was closed. They are removed when that holds for every
shard that has rows in it, in one transaction under the term of this process (``upkeep.py``):

    the era is locked, under a short lock_timeout     nobody reads rows of it, and nobody can add one
    each shard's last row in it is compared           with the end of a published layer, which was read back and compared before
    TRUNCATE, and the shards begin where it ended     whoever finds that a row is missing looks at that

History that is kept need not stay in the database: eras that are old enough for that move to an object store first (moves.py), and
their rows are compared with segments in the place of layers.

Nodes of format 1 cannot load a shard without its beginning: while one of them lives, nothing is removed; then the format is 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple

from coordinator_server.log.errors import DamagedLog, Fenced, LogError, OutcomeUnknown, Unavailable
from coordinator_server.log.layers.retention import Removable, SealedSegment, old_to, removable
from coordinator_server.log.postgresql.job_log import JobLog
from coordinator_server.log.postgresql.layers import LAYERS_OF, StoredLayer
from coordinator_server.log.postgresql.moves import Moves
from coordinator_server.log.postgresql.objects import remove_files
from coordinator_server.log.postgresql.rows import KEPT_START
from coordinator_server.log.postgresql.schema import ERAS, LAYERS_FORMAT
from coordinator_server.log.postgresql.segments import StoredSegment
from coordinator_server.log.postgresql.session import Session
from coordinator_server.log.postgresql.upkeep import FENCE, OLD_NODES, RAISE_FORMAT, not_fenced
from coordinator_server.log.store import FOREVER, History, Removed

PARTS_OF_HISTORY: Final = 4
"""An era is closed when it has one of so many parts of the history that is kept. The ring has room for more."""
_STATE: Final = """
SELECT m.era, e.era, e.opened_ms, e.closed_ms FROM meta m LEFT JOIN era e ON true ORDER BY e.opened_ms"""
_OPEN: Final = "INSERT INTO era(era, opened_ms) VALUES ($1, $2) ON CONFLICT DO NOTHING"
_CLOSE: Final = "UPDATE era SET closed_ms = $2 WHERE era = $1 AND closed_ms IS NULL"
_ADVANCE: Final = "UPDATE meta SET era = $2 WHERE era = $1"
_HAS_ROWS: Final = "SELECT EXISTS (SELECT FROM log_{era})"
_BYTES: Final = "SELECT pg_total_relation_size('log_{era}'::regclass)"
_ROWS: Final = """
SELECT s.sid, f.base_offset, l.next_offset FROM shard s
CROSS JOIN LATERAL (SELECT base_offset FROM log_{era} WHERE sid = s.sid ORDER BY base_offset LIMIT 1) f
CROSS JOIN LATERAL (SELECT next_offset FROM log_{era} WHERE sid = s.sid ORDER BY base_offset DESC LIMIT 1) l"""
_SIZES: Final = "SELECT sid, (SELECT coalesce(sum(octet_length(data)), 0)::bigint FROM log_{era} WHERE sid = s.sid) FROM shard s"
_STARTS: Final = f"SELECT s.sid, {KEPT_START}, s.log_start FROM shard s WHERE s.next_offset > 0"
_LOCK_ERA: Final = "LOCK TABLE log_{era} IN ACCESS EXCLUSIVE MODE"
# Shards whose last row in the era is in none of these layers, or in none that is published; and whose rows there are not all in
# segments, after which a node would begin with a layer.
_UNREPLACED: Final = f"""
SELECT r.sid FROM ({_ROWS}) r
WHERE NOT EXISTS (SELECT FROM layer l WHERE l.sid = r.sid AND l.to_offset >= r.next_offset
  AND (l.sid, l.to_offset) IN (SELECT * FROM unnest($1::int[], $2::bigint[])))
AND NOT (EXISTS (SELECT FROM layer l WHERE l.sid = r.sid AND l.to_offset >= r.next_offset)
  AND r.next_offset - r.base_offset = (
    SELECT coalesce(sum(least(g.next_offset, r.next_offset) - greatest(g.base_offset, r.base_offset)), 0) FROM segment g
    WHERE g.sid = r.sid AND g.next_offset > r.base_offset AND g.base_offset < r.next_offset AND NOT g.is_removed))
LIMIT 1"""
_LOCK_SHARDS: Final = "SELECT FROM shard WHERE sid = ANY ($1::int[]) ORDER BY sid FOR UPDATE"
_BEGIN_AFTER: Final = """
UPDATE shard s SET log_start = greatest(s.log_start, b.next) FROM unnest($1::int[], $2::bigint[]) b(sid, next)
WHERE s.sid = b.sid"""
_FORGET: Final = "DELETE FROM era WHERE era = $1"
_REMOVE_LAYERS: Final = "DELETE FROM layer WHERE sid = $1 AND to_offset = ANY ($2::bigint[]) RETURNING attempt"
_REMOVE_FILES: Final = "DELETE FROM object WHERE attempt = ANY ($1::text[])"


class _Era(NamedTuple):
    """A closed era: where the rows of each shard in it begin and end, by shard number."""

    era: int
    closed_ms: int
    rows: Mapping[int, tuple[int, int]]
    sizes: Mapping[int, int]


class Removal:
    """What one check does, under the claim of ``log.upkeep``. ``now_ms`` is that of retention."""

    def __init__(self, log: JobLog, history: History, now_ms: int) -> None:
        self._log = log
        self._history = history
        self._now_ms = now_ms
        self._names = {sid: shard for shard, sid in log.sids.items()}
        self._moves = Moves(log, history)
        self._stored: dict[int, list[StoredSegment]] = {}

    def run(self, on_removed: Callable[[Removed], None]) -> None:
        """Remove what may be removed, move what need not stay, and close the present era if it is time. Raises Fenced, LogError."""
        present, eras = self._eras()
        starts = {sid: (kept, start) for sid, kept, start in self._log.reader.read(_STARTS)}
        self._stored = {
            sid: [each for each in segments if each.next_offset <= starts[sid][1]]
            for sid, segments in self._moves.stored(self._history, self._now_ms).items()
            if sid in starts
        }
        found = {sid: self._removable(sid, kept, eras) for sid, (kept, _) in starts.items()}
        damaged = {sid: damage for sid, each in found.items() if (damage := self._damage(sid, each)) is not None}
        for sid, damage in damaged.items():
            on_removed(Removed(self._names[sid], [], [], damage))
            found[sid] = Removable([], [], [])
        removed: dict[int, list[int]] = {}
        moved: dict[int, list[int]] = {}
        failure: LogError | None = None
        steps: tuple[Callable[[], None], ...] = (
            partial(self._remove_segments, starts, found, removed),
            partial(self._empty_eras, eras, found, removed, moved),
        )
        for step in steps:
            try:
                step()
            except Fenced:
                raise
            except LogError as error:
                # Of an object store that is away, say. The rest does not need it.
                failure = error
        for sid, each in found.items():
            layers = self._remove_layers(sid, each.layers)
            if layers or sid in removed or sid in moved:
                on_removed(Removed(self._names[sid], layers, removed.get(sid, []), moved=moved.get(sid, [])))
        self._advance(present)
        if failure is not None:
            raise failure

    def _remove_segments(
        self, starts: Mapping[int, tuple[int, int]], found: Mapping[int, Removable], removed: dict[int, list[int]]
    ) -> None:
        """Remove the segments that are not kept, and those that do not reach the rows any more."""
        for sid, segments in self._stored.items():
            begin, gone = starts[sid][0], found[sid].segments
            if bases := [each.base_offset for each in segments if each.base_offset < begin or each.base_offset in gone]:
                removed[sid] = bases
        self._moves.hide(removed)
        self._moves.finish()

    def _empty_eras(
        self,
        eras: Sequence[_Era],
        found: Mapping[int, Removable],
        removed: dict[int, list[int]],
        moved: dict[int, list[int]],
    ) -> None:
        """Empty eras, the oldest first, whose rows are not kept, or are old enough to be moved."""
        for era in eras:
            kept = [sid for sid, (base, _) in era.rows.items() if base not in found[sid].segments]
            if not all(self._is_movable(sid, era, eras) for sid in kept):
                break
            for sid in kept:
                if bases := self._moves.move(sid, era.rows[sid], era.closed_ms):
                    moved.setdefault(sid, []).extend(bases)
            if self._moves.is_over or not self._empty(era, found):
                break
            for sid in era.rows.keys() - set(kept):
                removed.setdefault(sid, []).append(era.rows[sid][0])

    def _eras(self) -> tuple[int, list[_Era]]:
        """Return the present era, and the closed ones, the oldest first."""
        rows = self._log.reader.read(_STATE)
        present = rows[0][0]
        closed = [(era, closed_ms) for _, era, _, closed_ms in rows if era is not None and closed_ms is not None]
        return present, [self._era(era, closed_ms) for era, closed_ms in closed]

    def _era(self, era: int, closed_ms: int) -> _Era:
        read = self._log.reader.read
        rows = {sid: (base, end) for sid, base, end in read(_ROWS.format(era=era))}
        limits = {each.history_bytes for each in (self._history, self._moves.local) if each is not None}
        sizes = dict(read(_SIZES.format(era=era))) if limits != {FOREVER} else {}
        return _Era(era, closed_ms, rows, sizes)

    def _removable(self, sid: int, start: int, eras: Sequence[_Era]) -> Removable:
        layers = sorted(stored.to_offset for stored in self._layers(sid))
        stored = [
            SealedSegment(each.base_offset, each.next_offset, each.size, each.closed_ms)
            for each in self._stored.get(sid, ())
            if each.base_offset >= start
        ]
        return removable(start, layers, stored + _rows_of(sid, eras), self._now_ms, self._history)

    def _is_movable(self, sid: int, era: _Era, eras: Sequence[_Era]) -> bool:
        """Return whether the rows of a shard in an era need not stay in the database."""
        if self._moves.local is None:
            return False
        rows, newest = _rows_of(sid, eras), max((stored.to_offset for stored in self._layers(sid)), default=-1)
        return era.rows[sid][1] <= old_to(rows[0].base, newest, rows, self._now_ms, self._moves.local)

    def _damage(self, sid: int, found: Removable) -> DamagedLog | None:
        """Read the layers that replace something. Return why one of them does not."""
        stored = {each.to_offset: each for each in self._layers(sid)}
        try:
            for to_offset in found.replaced_by:
                self._log.copy_layer(self._names[sid], stored[to_offset])
        except DamagedLog as damage:
            return damage
        finally:
            self._log.copies.keep_only(self._names[sid], None)
        return None

    def _layers(self, sid: int) -> list[StoredLayer]:
        return [StoredLayer(*found) for found in self._log.reader.read(LAYERS_OF, sid)]

    def _empty(self, era: _Era, found: Mapping[int, Removable]) -> bool:
        """Remove the rows of an era. Return False if others used it, or have written to it."""
        verified = {sid: found[sid].replaced_by if base in found[sid].segments else [] for sid, (base, _) in era.rows.items()}
        try:
            return self._log.reader.run(lambda session: self._truncate(session, era, verified))
        except (Unavailable, OutcomeUnknown):
            # Somebody reads it for longer than the lock_timeout, or the answer was lost: the next check looks again.
            return False

    async def _truncate(self, session: Session, era: _Era, verified: Mapping[int, Sequence[int]]) -> bool:
        sids = sorted(era.rows)
        layers = [sid for sid in sids for _ in verified[sid]], [to_offset for sid in sids for to_offset in verified[sid]]
        async with session.transaction() as run:
            not_fenced(await run(FENCE, self._log.upkeep.term))
            if await run(OLD_NODES, LAYERS_FORMAT):
                return False
            await run(_LOCK_ERA.format(era=era.era))
            if await run(_UNREPLACED.format(era=era.era), *layers):
                return False
            ends = {sid: end for sid, _, end in await run(_ROWS.format(era=era.era))}
            await run(f"TRUNCATE log_{era.era}")
            await run(_LOCK_SHARDS, sids)
            await run(_BEGIN_AFTER, list(ends), list(ends.values()))
            await run(RAISE_FORMAT, LAYERS_FORMAT)
            await run(_FORGET, era.era)
        return True

    def _remove_layers(self, sid: int, layers: Sequence[int]) -> list[int]:
        if not layers:
            return []

        async def remove(session: Session) -> list[str]:
            async with session.transaction() as run:
                not_fenced(await run(FENCE, self._log.upkeep.term))
                attempts = [attempt for (attempt,) in await run(_REMOVE_LAYERS, sid, list(layers))]
                await run(_REMOVE_FILES, attempts)
                return attempts

        # What is left in an object store then belongs to nothing, and goes with the next compaction.
        with suppress(Unavailable):
            remove_files(self._log.reader.run(remove))
        return list(layers)

    def _advance(self, present: int) -> None:
        """Close the present era if it has its part of the history, and the next one is empty."""
        following = (present + 1) % ERAS
        opened = {era: opened_ms for _, era, opened_ms, _ in self._log.reader.read(_STATE) if era is not None}
        is_due = present in opened and self._is_due(present, opened[present])
        is_free = following not in opened and not self._log.reader.read(_HAS_ROWS.format(era=following))[0][0]

        async def advance(session: Session) -> None:
            async with session.transaction() as run:
                not_fenced(await run(FENCE, self._log.upkeep.term))
                await run(_OPEN, present, self._now_ms)
                if is_due and is_free:
                    await run(_CLOSE, present, self._now_ms)
                    await run(_OPEN, following, self._now_ms)
                    await run(_ADVANCE, present, following)

        if present not in opened or (is_due and is_free):
            self._log.reader.run(advance)

    def _is_due(self, present: int, opened_ms: int) -> bool:
        read: Callable[..., list[Any]] = self._log.reader.read
        if not read(_HAS_ROWS.format(era=present))[0][0]:
            return False
        limits = [each for each in (self._history, self._moves.local) if each is not None]
        ages = [each.history_ms for each in limits if each.history_ms != FOREVER]
        is_old = bool(ages) and self._now_ms - opened_ms >= min(ages) // PARTS_OF_HISTORY
        # The bytes of the history are those of one shard, and an era has all.
        sizes = [each.history_bytes * max(len(self._names), 1) for each in limits if each.history_bytes != FOREVER]
        is_large = bool(sizes) and read(_BYTES.format(era=present))[0][0] >= min(sizes) // PARTS_OF_HISTORY
        return is_old or is_large


def _rows_of(sid: int, eras: Sequence[_Era]) -> list[SealedSegment]:
    """Return the rows of a shard in closed eras, as segments."""
    return [SealedSegment(*era.rows[sid], era.sizes.get(sid, 0), era.closed_ms) for era in eras if sid in era.rows]
