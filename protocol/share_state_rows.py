"""The batches of a share partition as rows of 20 bytes, which they are in requests, in answers and in records.

first offset int64 | last offset int64 | delivery state int8 | delivery count int16 | no tags
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct as Layout
from typing import Final, Protocol

ROW_BYTES: Final = 20
_ROW: Final = Layout(">qqbhx")
row_at: Final = _ROW.unpack_from
"""Returns first and last offset, delivery state and delivery count of the row at a place of a buffer."""
row: Final = _ROW.pack
"""Returns the row of first and last offset, delivery state and delivery count."""


class _Batch(Protocol):
    """A batch of a request, of a record or of a state."""

    @property
    def first_offset(self) -> int: ...
    @property
    def last_offset(self) -> int: ...
    @property
    def delivery_state(self) -> int: ...
    @property
    def delivery_count(self) -> int: ...


def rows_of(batches: Iterable[_Batch]) -> bytes:
    """Return the rows of batches."""
    pack = _ROW.pack  # a local name, for speed
    return b"".join([pack(each.first_offset, each.last_offset, each.delivery_state, each.delivery_count) for each in batches])


def unpacked(rows: bytes | bytearray) -> Iterator[tuple[int, int, int, int]]:
    """Return first and last offset, delivery state and delivery count of each batch."""
    return _ROW.iter_unpack(rows)
