"""Moves rows of closed eras to segments in an object store, under the claim of ``log.upkeep``: history that is kept, and not there.

    a file    has the rows of a shard in an era, in parts of SEGMENT_BYTES. It is read back and compared
    its row   comes after it, under the term of this process; then both the file and the rows are there
    removal   removal.py empties an era of which each row is in a segment, or is not kept any more

History that is not kept any more loses its row, as far as readers know; then its file; then the row itself. So a crash leaves
nothing that is not found: a file without a row is of this term or an older one, and goes before its shard is moved again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from crc32c import crc32c

from coordinator_server.log.errors import LogError
from coordinator_server.log.file_names import segment_name
from coordinator_server.log.postgresql.job_log import JobLog
from coordinator_server.log.postgresql.objects import objects
from coordinator_server.log.postgresql.rows import ROW_PARTS
from coordinator_server.log.postgresql.segments import COLUMNS, StoredSegment, segments_of
from coordinator_server.log.postgresql.session import Session
from coordinator_server.log.postgresql.upkeep import FENCE, PLACE, not_fenced
from coordinator_server.log.store import AS_HISTORY, FOREVER, History

SEGMENT_BYTES: Final = 64 << 20
MOVING_S: Final = 10.0
"""A check begins no file after this time. Nobody can compact meanwhile; the next check goes on."""
_OLD: Final = f"SELECT sid, {COLUMNS} FROM segment WHERE NOT is_removed AND closed_ms < $1 ORDER BY sid, base_offset"
_REMOVED: Final = f"SELECT sid, {COLUMNS} FROM segment WHERE is_removed ORDER BY sid, base_offset"
_OF_SHARD: Final = f"SELECT {COLUMNS} FROM segment WHERE sid = $1"
_END: Final = "SELECT max(next_offset) FROM segment WHERE sid = $1 AND next_offset > $2"
_ADD: Final = f"""
WITH t AS ({FENCE})
INSERT INTO segment(sid, {COLUMNS})
SELECT s.sid, $3::bigint, $4::bigint, $5::bigint, $6::bigint, $7::bigint, t.term, $8::text FROM shard s, t
WHERE s.sid = $2::int AND s.next_offset >= $4
  AND NOT EXISTS (SELECT FROM segment g WHERE g.sid = s.sid AND g.next_offset > $3 AND g.base_offset < $4)
RETURNING sid"""
_HIDE: Final = "UPDATE segment SET is_removed = true WHERE sid = $1 AND base_offset = ANY ($2::bigint[])"
_FORGET: Final = "DELETE FROM segment WHERE sid = $1 AND base_offset = $2 AND is_removed"


class Moves:
    """What one check moves. ``local`` is what stays in the database; None if all does."""

    def __init__(self, log: JobLog, history: History) -> None:
        self._log = log
        self._names = {sid: shard for shard, sid in log.sids.items()}
        self._until_s = time.monotonic() + MOVING_S
        self._has_moved = False
        [(self._url, _)] = log.reader.read(PLACE)
        history_ms, history_bytes, local_ms, local_bytes = history
        self.local: History | None = None
        if self._url and (local_ms, local_bytes) != (AS_HISTORY, AS_HISTORY):
            self.local = History(
                history_ms if local_ms == AS_HISTORY else local_ms, history_bytes if local_bytes == AS_HISTORY else local_bytes
            )

    def stored(self, history: History, now_ms: int) -> dict[int, list[StoredSegment]]:
        """Return the segments of shards, as far as they may be older or more than what is kept: there may be many of them."""
        found: dict[int, list[StoredSegment]] = {}
        if history.history_bytes != FOREVER:
            before_ms = now_ms + 1
        elif history.history_ms != FOREVER:
            before_ms = now_ms - history.history_ms
        else:
            return found
        for sid, *each in self._log.reader.read(_OLD, before_ms):
            found.setdefault(sid, []).append(StoredSegment(*each))
        return found

    @property
    def is_over(self) -> bool:
        """Whether this check has moved something, and its time is over."""
        return self._has_moved and time.monotonic() >= self._until_s

    def move(self, sid: int, rows: tuple[int, int], closed_ms: int) -> list[int]:
        """Write the rows from one offset to another that are not in segments yet, while there is time.

        Return where the new ones begin. Raises Fenced, LogError.
        """
        base, end = rows
        [(written,)] = self._log.reader.read(_END, sid, base)
        begin = base if written is None else written
        parts = self._log.reader.read(ROW_PARTS, sid, begin, end, SEGMENT_BYTES) if begin < end and not self.is_over else []
        if parts:
            self._clean(sid)
        moved: list[int] = []
        for base_offset, next_offset, _ in parts:
            if self.is_over:
                break
            self._log.upkeep.check()
            self._write(sid, base_offset, next_offset, closed_ms)
            self._has_moved = True
            moved.append(base_offset)
        return moved

    def _write(self, sid: int, base: int, end: int, closed_ms: int) -> None:
        log, shard, term = self._log, self._names[sid], self._log.upkeep.term
        path = log.scratch / segment_name(base)
        size = crc = 0
        try:
            with path.open("wb") as file:
                for row in log.reader.rows(shard, sid, base, end):
                    file.write(row.data)
                    size, crc = size + len(row.data), crc32c(row.data, crc)
            stored = StoredSegment(base, end, size, crc, closed_ms, term, self._url)
            objects(self._url).put(stored.folder(sid), path)
        finally:
            path.unlink(missing_ok=True)
        log.reader.run(lambda _: log.segments.fetch(shard, sid, stored)).unlink()
        if not log.reader.write(_ADD, term, sid, base, end, size, crc, closed_ms, self._url):
            log.upkeep.check()
            raise LogError(f"the rows of {shard} from offset {base} on are in another segment, or the database has lost them")

    def _clean(self, sid: int) -> None:
        """Remove the files of a shard that have no row, as Upkeep removes attempts."""
        # First: what is there later with a row is of a later term.
        found = objects(self._url).folders(segments_of(sid))
        known = {StoredSegment(*each).folder(sid) for each in self._log.reader.read(_OF_SHARD, sid)}
        ours = {each for each in found - known if int(each.rpartition("/")[2].partition("-")[0]) <= self._log.upkeep.term}
        objects(self._url).remove(sorted(ours))

    def hide(self, bases: Mapping[int, Sequence[int]]) -> None:
        """Let readers not find segments any more, by shard. Raises Fenced, LogError."""

        async def hide(session: Session) -> None:
            async with session.transaction() as run:
                not_fenced(await run(FENCE, self._log.upkeep.term))
                for sid, some in bases.items():
                    await run(_HIDE, sid, list(some))

        if bases:
            self._log.reader.run(hide)

    def finish(self) -> None:
        """Remove the files of all segments that readers do not find any more, now or before a crash. Raises Fenced, LogError."""
        for sid, *each in self._log.reader.read(_REMOVED):
            stored = StoredSegment(*each)
            objects(stored.url).remove([stored.folder(sid)])
            self._log.reader.run(partial(self._forget, sid, stored.base_offset))

    async def _forget(self, sid: int, base: int, session: Session) -> None:
        async with session.transaction() as run:
            not_fenced(await run(FENCE, self._log.upkeep.term))
            await run(_FORGET, sid, base)
