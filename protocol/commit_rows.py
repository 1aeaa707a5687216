"""Committed offsets as rows of 18 bytes: the encoding of a partition without metadata in OffsetCommit requests from version 6 on.

    partition int32 | offset int64 | epoch int32 | two bytes that mean "no metadata" in the version of the request

Nearly all clients send the partitions of a topic in this form. The log's records are encoded from rows, and the state stores them
unchanged. Only the decoder of the request uses the last two bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from struct import Struct as Layout
from typing import Final

ROW_BYTES: Final = 18
_ROW: Final = Layout(">iqi2x")
_PARTITION: Final = Layout(">i")
# Each takes at most 8 KB: a plain commit has at most 1,024 rows (``plain_commits.MOST_ROWS``).
_REMEMBERED: Final = 2048


def offsets_of(rows: bytes) -> Iterator[tuple[int, int, int]]:
    """Return partition, offset and leader epoch of each row."""
    return _ROW.iter_unpack(rows)


def row_of(partition: int, offset: int, epoch: int) -> bytes:
    """Return a row, whose last two bytes are 0."""
    return _ROW.pack(partition, offset, epoch)


def rows_of(partitions: Iterable[int], offsets: Iterable[int], epochs: Iterable[int]) -> bytes:
    """Return rows from their columns."""
    return b"".join(map(_ROW.pack, partitions, offsets, epochs))


class Partitions:
    """The partitions of a topic's rows, in order. Equal partitions share one cached object."""

    __slots__ = ("_byte_0", "_byte_1", "_byte_2", "_byte_3", "_starts", "count", "least", "most", "row_bytes")

    def __init__(self, columns: bytes) -> None:
        """Take the first bytes of all partitions, then the second bytes, and so on."""
        self.count = count = len(columns) // 4
        self.row_bytes = count * ROW_BYTES
        self._byte_0, self._byte_1 = columns[:count], columns[count : 2 * count]
        self._byte_2, self._byte_3 = columns[2 * count : 3 * count], columns[3 * count :]
        self._starts: dict[int, int] | None = None
        indexes = self.indexes()
        self.least, self.most = min(indexes), max(indexes)

    def are_of(self, rows: bytes) -> bool:
        """Return whether these are the partitions of ``rows``, which must have the same count."""
        return (
            rows[3::ROW_BYTES] == self._byte_3
            and rows[2::ROW_BYTES] == self._byte_2
            and rows[1::ROW_BYTES] == self._byte_1
            and rows[::ROW_BYTES] == self._byte_0
        )

    def indexes(self) -> list[int]:
        """Return the partitions as numbers."""
        raw = bytearray(4 * self.count)
        raw[::4], raw[1::4], raw[2::4], raw[3::4] = self._byte_0, self._byte_1, self._byte_2, self._byte_3
        return [index for (index,) in _PARTITION.iter_unpack(raw)]

    def encoded(self) -> list[bytes]:
        """Return the 4 bytes of each partition."""
        return [_PARTITION.pack(index) for index in self.indexes()]

    def starts(self) -> dict[int, int]:
        """Return where the row of each partition begins; the last one, if there are several."""
        if self._starts is None:
            self._starts = {index: ROW_BYTES * place for place, index in enumerate(self.indexes())}
        return self._starts


@lru_cache(maxsize=_REMEMBERED)
def _partitions(columns: bytes) -> Partitions:
    return Partitions(columns)


def partitions_of(rows: bytes) -> Partitions:
    """Return the partitions of one or more rows."""
    return _partitions(rows[::ROW_BYTES] + rows[1::ROW_BYTES] + rows[2::ROW_BYTES] + rows[3::ROW_BYTES])
