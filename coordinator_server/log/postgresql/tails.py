"""The ends of shards in memory: what was loaded and not replayed yet, and what was written last.

The loop reads them without waiting for the database: a load replays its shard, the catalog publishes what it has just written, and
fetches that keep up get it. The catalog stays as a whole, because its followers may ask for all of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

from coordinator_server.kinds import CATALOG
from coordinator_server.log.postgresql.layers import NO_LAYER, Newest
from coordinator_server.log.postgresql.rows import Row
from coordinator_server.log.shards import ShardId
from protocol.record_batch import iter_batches

KEPT_BYTES: Final = 256 * 1024
"""How much of a shard stays in memory when it is loaded."""


class Tail:
    """The rows of a shard from ``begin`` to ``end``. ``end_ms`` is the timestamp of its last batch, -1 without one.

    ``resolutions`` counts those since the owner has its epoch; ``given`` are the bytes of all rows that it got. ``newest`` is the
    layer that the shard was loaded from: it ends in the first row, or where the rows begin.
    """

    __slots__ = ("_is_kept", "_rows", "_size", "begin", "end", "end_ms", "epoch", "given", "is_loaded", "newest", "resolutions")

    def __init__(self, shard: ShardId, begin: int, epoch: int, *, is_loaded: bool = True, newest: Newest = NO_LAYER) -> None:
        self.begin = self.end = begin
        self.newest = newest
        self.end_ms = -1
        self.epoch = epoch
        self.resolutions = 0
        self.given = 0
        self.is_loaded = is_loaded
        self._rows: deque[Row] = deque()
        self._size = 0
        self._is_kept = shard.topic == CATALOG.topic

    def append(self, row: Row, end_ms: int) -> None:
        """Add the next row."""
        self._rows.append(row)
        self._size += len(row.data)
        self.given += len(row.data)
        self.end, self.end_ms = row.next_offset, end_ms
        if self.is_loaded:
            self._trim()

    def rows_from(self, offset: int) -> list[Row]:
        """Return the rows from the one that holds ``offset``, which is not before ``begin``."""
        return [row for row in list(self._rows) if row.next_offset > offset]

    def loaded(self) -> None:
        """Note that the shard was replayed."""
        self.is_loaded = True
        self._trim()

    def _trim(self) -> None:
        while self._size > KEPT_BYTES and len(self._rows) > 1 and not self._is_kept:
            row = self._rows.popleft()
            self._size -= len(row.data)
            self.begin = row.next_offset


def batches_from(rows: Iterable[Row], offset: int) -> Iterator[bytes]:
    """Yield the batches of rows, from the one that holds ``offset``."""
    for row in rows:
        for position, header in iter_batches(row.data):
            if header.next_offset > offset:
                yield row.data[position : position + header.size]
