"""The rows of a shard: one for each append, with its whole batches. They never change, and have no gaps."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.shards import ShardId
from protocol.errors import DecodeError
from protocol.record_batch import iter_batches

ROWS_FROM: Final = """
SELECT base_offset, next_offset, data FROM log WHERE sid = $1 AND base_offset >= $2 AND base_offset < $3
ORDER BY base_offset LIMIT $4"""
ROW_WITH: Final = "SELECT max(base_offset) FROM log WHERE sid = $1 AND base_offset <= $2"
LAST_ROW: Final = "SELECT base_offset, next_offset, data FROM log WHERE sid = $1 ORDER BY base_offset DESC LIMIT 1"
# Where the history of the shard ``s`` begins: with its first segment (segments.py), or its first row if none reaches that.
KEPT_START: Final = """
coalesce((SELECT max(g.base_offset) FROM (
  SELECT base_offset, lag(next_offset) OVER (ORDER BY base_offset) AS before, max(next_offset) OVER () AS last FROM segment
  WHERE sid = s.sid AND base_offset < s.log_start AND NOT is_removed) g
  WHERE g.before IS DISTINCT FROM g.base_offset AND g.last >= s.log_start), s.log_start)"""
SHARD_ROW: Final = f"SELECT s.epoch, s.resolution, {KEPT_START}, s.next_offset FROM shard s WHERE s.sid = $1"
# The rows from one that begins at $2 up to $3, in parts of $4 bytes.
ROW_PARTS: Final = """
SELECT DISTINCT min(base_offset) OVER p, max(next_offset) OVER p, (sum(size) OVER p)::bigint FROM (
  SELECT base_offset, next_offset, octet_length(data) AS size,
    (sum(octet_length(data)) OVER (ORDER BY base_offset) - octet_length(data)) / $4::bigint AS part
  FROM log WHERE sid = $1 AND base_offset >= $2 AND base_offset < $3) r
WINDOW p AS (PARTITION BY part) ORDER BY 1"""
# A page is checked in one turn of the loop.
_FIRST_PAGE, _LARGEST_PAGE = 64, 512
_PAGE_BYTES: Final = 1 << 20


class Row(NamedTuple):
    """An append: whole batches from ``base_offset`` on; ``next_offset`` comes after them."""

    base_offset: int
    next_offset: int
    data: bytes


class Pages:
    """How many rows the next page has, so that pages are neither many nor large."""

    def __init__(self) -> None:
        self.rows = _FIRST_PAGE

    def note(self, size: int) -> None:
        """Note the bytes of a page."""
        self.rows = min(2 * self.rows, _LARGEST_PAGE) if 2 * size < _PAGE_BYTES else max(self.rows // 2, 1)


Read = Callable[..., Awaitable[list[Any]]]


async def first_row(read: Read, sid: int, offset: int, end: int) -> int:
    """Return where the row begins that holds an offset: the offset itself at a shard's end, or without such a row."""
    if offset >= end:
        return offset
    [(found,)] = await read(ROW_WITH, sid, offset)
    return offset if found is None else int(found)


async def rows_between(read: Read, shard: ShardId, sid: int, from_offset: int, upto: int) -> AsyncIterator[Row]:
    """Yield the rows from an offset at which one begins up to ``upto``. Raises DamagedLog if one is missing or damaged."""
    pages, at = Pages(), from_offset
    while at < upto:
        for row in checked(pages, shard, await read(ROWS_FROM, sid, at, upto, pages.rows), at, upto):
            yield row
            at = row.next_offset


def checked(pages: Pages, shard: ShardId, page: Sequence[Any], at: int, upto: int) -> Iterator[Row]:
    """Yield the rows of a page that begins at an offset before ``upto``. Raises DamagedLog if one is missing or damaged."""
    rows = [Row(*found) for found in page]
    pages.note(sum(len(row.data) for row in rows))
    if not rows:
        raise missing_row(shard, at, upto)
    for row in rows:
        check_row(shard, row, at)
        yield row
        at = row.next_offset


def missing_row(shard: ShardId, at: int, upto: int) -> DamagedLog:
    """Return the error that there is no row at an offset before ``upto``."""
    return DamagedLog(place_of(shard), at, f"the row at offset {at} is missing: the shard ends at {upto}")


def check_row(shard: ShardId, row: Row, expected: int) -> None:
    """Raise DamagedLog unless a row begins at an offset, and its intact batches fill it."""
    at = expected
    if row.base_offset != at:
        raise DamagedLog(place_of(shard), at, f"the row at offset {at} is missing: the next one begins at {row.base_offset}")
    try:
        for _, header in iter_batches(row.data):
            if header.base_offset != at:
                raise DamagedLog(place_of(shard), at, f"the batch begins at {header.base_offset}, not at {at}")
            at = header.next_offset
    except DecodeError as error:
        raise DamagedLog(place_of(shard), at, error.reason) from error
    if at != row.next_offset:
        raise DamagedLog(place_of(shard), at, f"its batches end at {at}, and the row says {row.next_offset}")


def end_ms(data: bytes) -> int:
    """Return the timestamp of the last batch of a row."""
    *_, (_, last) = iter_batches(data)
    return last.max_timestamp


def place_of(shard: ShardId) -> str:
    """Return what errors call the place of a shard. A position there is an offset."""
    return f"the table log, {shard}"
