"""Who makes layers and removes rows in a database: one process at a time, by a term.

    claim     takes an advisory lock, and raises the term. The lock only keeps two from working at once: one that is free proves
              nothing, because its holder may be paused, or its connection cut
    publish   adds the row of a layer, if the term is still the claimer's, the shard is that long, and no other layer ends there
    clean     removes the files of attempts that were not published, also those in an object store (objects.py). So whatever was
              under way under an older term cannot be published any more, and its files are worth nothing
    remove    rows.py's rows are removed by eras (removal.py), after layers that stand for them were published

Each statement compares the term with a row that it locks: a claim waits for it, or it finds the next term.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from coordinator_server.log.errors import Fenced, LockedLog, LogError
from coordinator_server.log.layers.layer import MANIFEST
from coordinator_server.log.postgresql.layers import PART_BYTES
from coordinator_server.log.postgresql.objects import attempt_in, objects, stored_in
from coordinator_server.log.postgresql.reader import Reader
from coordinator_server.log.postgresql.schema import FORMAT
from coordinator_server.log.postgresql.session import Rows

_LOCK: Final = "SELECT pg_try_advisory_lock(hashtext('coordinator_server upkeep'))"
# A lock that went with its connection cannot be given back: that would be a warning.
_UNLOCK: Final = """
SELECT pg_advisory_unlock(hashtext('coordinator_server upkeep'))
WHERE EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid())"""
_HOLDER: Final = "SELECT holder FROM upkeep"
_CLAIM: Final = "UPDATE upkeep SET term = term + 1, holder = $1 RETURNING term"
_TERM: Final = "SELECT term FROM upkeep"
FENCE: Final = "SELECT term FROM upkeep WHERE term = $1::bigint FOR SHARE"
# Where the files of an attempt are follows its name.
_PUBLISH: Final = f"""
WITH t AS ({FENCE}), m AS (
  SELECT o.attempt,
    (SELECT string_agg(data, ''::bytea ORDER BY part) FROM object WHERE (attempt, name) = (o.attempt, o.name)) AS data
  FROM object o WHERE split_part(o.attempt, '@', 1) = $4::text AND o.attempt LIKE $4 || '%' AND (name, part) = ('{MANIFEST}', 0))
INSERT INTO layer(sid, to_offset, attempt, term, manifest)
SELECT s.sid, $3::bigint, m.attempt, t.term, m.data
FROM shard s, t, m WHERE s.sid = $2::int AND s.next_offset >= $3
ON CONFLICT (sid, to_offset) DO NOTHING RETURNING sid"""
PLACE: Final = "SELECT objects, term FROM meta, upkeep"
_PUBLISHED: Final = "SELECT attempt FROM layer WHERE sid = $1"
OLD_NODES: Final = "SELECT id FROM node WHERE NOT is_dead AND format_max < $1 LIMIT 1"
RAISE_FORMAT: Final = "UPDATE meta SET format = $1 WHERE format < $1 RETURNING format"
_CLEAN: Final = f"""
WITH t AS ({FENCE})
DELETE FROM object o USING t WHERE o.attempt LIKE $2 AND NOT EXISTS (SELECT FROM layer l WHERE l.attempt = o.attempt)
RETURNING o.attempt"""
_PUT: Final = """
INSERT INTO object(attempt, name, part, data) SELECT $1, $2, part, data FROM unnest($3::int[], $4::bytea[]) b(part, data)
RETURNING part"""
_AT_ONCE: Final = 8


class Upkeep:
    """The statements of one process, over one connection. ``term`` is 0 before ``claim``."""

    def __init__(self, reader: Reader) -> None:
        self.term = 0
        self._reader = reader

    def claim(self) -> None:
        """Become the one who makes layers. Raises LockedLog if another process is at work, LogError."""
        if not self._reader.read(_LOCK)[0][0]:
            [(holder,)] = self._reader.read(_HOLDER)
            raise LockedLog(f"{holder or 'another process'} makes layers in this database")
        try:
            [(self.term, *_)] = self._reader.write(_CLAIM, f"process {os.getpid()} on {socket.gethostname()}")
        except LogError:
            self.leave()
            raise

    def leave(self) -> None:
        """Let others claim."""
        self.term = 0
        self._reader.read(_UNLOCK)

    def store(self, attempt: str, files: Sequence[Path]) -> None:
        """Store the files of an attempt, its manifest last. Any process may: nothing has come of it before it is published.

        They go to the object store, if the cluster has one, when no node lives that does not know of such files. Raises LogError.
        """
        [(url, term)] = self._reader.read(PLACE)
        if url and not self._reader.read(OLD_NODES, FORMAT):
            self._reader.write(RAISE_FORMAT, FORMAT)
            attempt = attempt_in(url, attempt, term)
        url, folder = stored_in(attempt)
        for path in files:
            if url and path.name != MANIFEST:
                objects(url).put(folder, path)
            else:
                self._put(attempt, path.name, path.read_bytes())

    def _put(self, attempt: str, name: str, content: bytes) -> None:
        parts = [content[at : at + PART_BYTES] for at in range(0, len(content), PART_BYTES)]
        for first in range(0, len(parts), _AT_ONCE):
            some = parts[first : first + _AT_ONCE]
            self._reader.write(_PUT, attempt, name, list(range(first, first + len(some))), some)

    def publish(self, sid: int, to_offset: int, attempt: str) -> bool:
        """Make an attempt the layer at ``to_offset``. Return False if there is one: that stays. Raises Fenced, LogError."""
        if self._reader.write(_PUBLISH, self.term, sid, to_offset, attempt):
            return True
        self.check()
        if not self._reader.read("SELECT FROM layer WHERE sid = $1 AND to_offset = $2", sid, to_offset):
            raise LogError(f"a layer that ends at {to_offset} is longer than its shard: the database lost what it acknowledged")
        return False

    def clean(self, sid: int) -> int:
        """Remove the attempts of a shard that were not published, and return their number. Raises Fenced, LogError."""
        [(url, _)] = self._reader.read(PLACE)
        # First: what is published after that is of a later term.
        found = objects(url).folders(sid) if url else set()
        removed = {stored_in(attempt).folder or attempt for attempt, *_ in self._clean(sid)}
        published = {stored_in(attempt).folder for (attempt,) in self._reader.read(_PUBLISHED, sid)}
        left = {folder for folder in found - published if self._is_ours(folder)}
        if left:
            objects(url).remove(sorted(left))
        return len(removed | left)

    def _clean(self, sid: int) -> Rows:
        removed = self._reader.write(_CLEAN, self.term, f"{attempts_of(sid)}%")
        if not removed:
            self.check()
        return removed

    def _is_ours(self, folder: str) -> bool:
        """Return whether a folder is of this term or an older one: nobody else can publish what is in it."""
        return int(folder.partition("/")[2].partition("-")[0]) <= self.term

    def check(self) -> None:
        """Raise Fenced if another process has claimed since."""
        [(term,)] = self._reader.read(_TERM)
        if term != self.term:
            raise Fenced(f"another process makes layers in this database since: its term is {term}, not {self.term}")


def attempts_of(sid: int) -> str:
    """Return how the names of a shard's attempts begin."""
    return f"{sid}:"


def not_fenced(rows: Sequence[object]) -> None:
    """Raise Fenced if FENCE has found nothing."""
    if not rows:
        raise Fenced("another process makes layers in this database since")
