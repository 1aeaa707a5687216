"""Old rows of shards as files in an object store. They stay when their rows are removed from the database (moves.py).

    URL/segments/SID/TERM-BASE-END/BASE.log    the rows of a shard from one offset to another: whole batches, as in any segment
    a row of ``segment``                       its size, CRC and URL. It is there before the rows of the log go
    a copy                                     ``SHARD/segment-BASE-END`` in a directory of this process

Segments have no gaps, and the last one reaches the first row of the log: so whoever misses a row finds the segment that has it,
whatever is moved meanwhile. If a node of an earlier version, which does not know of segments, has removed rows after them, they do
not reach it any more: then they are not read, and moves.py removes them.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from coordinator_server.log.errors import DamagedLog, Unavailable
from coordinator_server.log.file_names import segment_name
from coordinator_server.log.postgresql.layers import COPY, LayerCopies, write_parts
from coordinator_server.log.postgresql.objects import objects
from coordinator_server.log.postgresql.reader import Reader
from coordinator_server.log.postgresql.rows import KEPT_START, Read, Row, place_of, rows_between
from coordinator_server.log.read.segment_reader import Span, read_span
from coordinator_server.log.shards import ShardId
from coordinator_server.log.storage import discard_tree

COLUMNS: Final = "base_offset, next_offset, size, crc32c, closed_ms, term, url"
SEGMENTS: Final = f"""
SELECT {COLUMNS} FROM segment WHERE sid = $1 AND next_offset > $2 AND base_offset < $3 AND NOT is_removed ORDER BY base_offset"""
# That which holds an offset, if it reaches the rows.
_SEGMENT_WITH: Final = f"""
SELECT {COLUMNS} FROM segment WHERE sid = $1 AND base_offset <= $2 AND next_offset > $2 AND NOT is_removed
  AND base_offset >= (SELECT {KEPT_START} FROM shard s WHERE s.sid = $1)"""
_COPIES: Final = 4
_ROW_BYTES: Final = 64 * 1024


class StoredSegment(NamedTuple):
    """A segment, as its row has it. Its rows are older than ``closed_ms`` (since 1970), and were written under ``term``."""

    base_offset: int
    next_offset: int
    size: int
    crc32c: int
    closed_ms: int
    term: int
    url: str

    def folder(self, sid: int) -> str:
        """The folder of its file in the object store."""
        return f"{segments_of(sid)}/{self.term}-{self.base_offset:020d}-{self.next_offset:020d}"


def segments_of(sid: int) -> str:
    """Return the place below which a shard has its segments. Versions before do not look there for attempts."""
    return f"segments/{sid}"


class SegmentCopies:
    """Copies of the segments that were read last, in the directory of copies of layers."""

    def __init__(self, copies: LayerCopies) -> None:
        self._storage = copies.storage
        self._directory = copies.directory
        self._here: OrderedDict[str, StoredSegment] = OrderedDict()
        self._last: dict[str, tuple[int, int]] = {}

    async def copy(self, read: Read, shard: ShardId, sid: int, offset: int) -> StoredSegment | None:
        """Copy the segment that holds an offset; None if there is none. Raises DamagedLog, LogError."""
        found = await read(_SEGMENT_WITH, sid, offset)
        if not found:
            return None
        stored = StoredSegment(*found[0])
        path = self._path(shard, stored)
        if self._here.get(str(path)) != stored or not self._storage.exists(str(path)):
            await self.fetch(shard, sid, stored, partial(read, _SEGMENT_WITH, sid, offset))
        self._here[str(path)] = stored
        self._here.move_to_end(str(path))
        while len(self._here) > _COPIES:
            self.forget(next(iter(self._here)))
        return stored

    async def fetch(self, shard: ShardId, sid: int, stored: StoredSegment, published: Read | None = None) -> Path:
        """Copy a file, and compare it with what is stated of it. ``published`` finds its row. Raises DamagedLog, LogError."""
        path = self._path(shard, stored)
        private = path.with_name(f"{COPY}{secrets.token_hex(8)}")
        name = segment_name(stored.base_offset)
        shown = f"{objects(stored.url).shown}/{stored.folder(sid)}/{name}"
        parts = objects(stored.url).read(stored.folder(sid), name)
        try:
            self._storage.make_dir(str(path.parent))
            size, crc = await write_parts(self._storage, parts, private)
            if (size, crc) != (stored.size, stored.crc32c):
                why = f"its row states {stored.size} bytes with CRC {stored.crc32c:#010x}, it has {size} with {crc:#010x}"
                raise DamagedLog(shown, 0, why)
            self._storage.rename(str(private), str(path))
        except FileNotFoundError:
            if published is None or await published():
                raise DamagedLog(place_of(shard), stored.base_offset, f"{shown} is missing") from None
            raise Unavailable(f"a segment of {shard} was removed meanwhile") from None
        except OSError as error:
            raise Unavailable(f"cannot copy a segment to {path.parent}: {error}") from error
        finally:
            discard_tree(self._storage, str(private))
        return path

    def forget(self, path: str) -> None:
        """Remove a copy."""
        self._here.pop(path, None)
        self._last.pop(path, None)
        discard_tree(self._storage, path)

    def rows(self, shard: ShardId, stored: StoredSegment, from_offset: int, upto: int) -> Iterator[Row]:
        """Yield the batches of a copy, some in a row, from the one that holds an offset. Raises DamagedLog, Unavailable."""
        path = str(self._path(shard, stored))
        # Who reads a log from end to end comes back with the offset at which the last read ended.
        begin, position = self._last.get(path, (stored.base_offset, 0))
        if begin > from_offset:
            begin, position = stored.base_offset, 0
        row: list[bytes] = []
        size = at = 0
        try:
            for batch in read_span(self._storage, Span(path, begin, position, stored.size)):
                if batch.header.next_offset <= from_offset:
                    continue
                if batch.header.base_offset >= upto:
                    break
                if not row:
                    begin, position = batch.header.base_offset, batch.position
                row.append(batch.data)
                size, at = size + len(batch.data), batch.header.next_offset
                if size >= _ROW_BYTES:
                    self._last[path] = begin, position
                    yield Row(begin, at, b"".join(row))
                    row, size = [], 0
        except FileNotFoundError as error:
            raise Unavailable(f"a copy of a segment of {shard} was removed meanwhile") from error
        if row:
            self._last[path] = begin, position
            yield Row(begin, at, b"".join(row))

    def _path(self, shard: ShardId, stored: StoredSegment) -> Path:
        return self._directory / str(shard) / f"segment-{stored.base_offset:020d}-{stored.next_offset:020d}"


async def kept_rows(
    read: Read, copies: SegmentCopies, shard: ShardId, sid: int, from_offset: int, upto: int
) -> AsyncIterator[Row]:
    """Yield the rows from an offset at which one begins up to ``upto``: of the log, or of segments where rows were moved.

    Raises DamagedLog if one is missing or damaged, and LogError.
    """
    at = from_offset
    while at < upto:
        try:
            async for row in rows_between(read, shard, sid, at, upto):
                yield row
                at = row.next_offset
        except DamagedLog:
            stored = await copies.copy(read, shard, sid, at)
            if stored is None:
                raise
            for row in copies.rows(shard, stored, at, upto):
                yield row
                at = row.next_offset


def read_kept(reader: Reader, copies: SegmentCopies, shard: ShardId, sid: int, from_offset: int, upto: int) -> Iterator[Row]:
    """Yield the same by a reader's thread, from the row that holds an offset."""

    def copied(offset: int) -> StoredSegment | None:
        return reader.run(lambda session: copies.copy(partial(session.read, waits=False), shard, sid, offset))

    at = from_offset
    while at < upto:
        try:
            for row in reader.rows(shard, sid, at, upto):
                yield row
                at = row.next_offset
        except DamagedLog:
            stored = copied(at)
            if stored is None:
                raise
            for row in copies.rows(shard, stored, at, upto):
                yield row
                at = row.next_offset
