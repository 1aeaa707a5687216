"""The batches of a share partition as rows of 20 bytes, which they are in requests, in answers and in records.

    first offset int64 | last offset int64 | delivery state int8 | delivery count int16 | no tags

So the state keeps them, and most writes and reads pass them on without an object for each batch.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct as Layout
from typing import Final, Protocol

from coordinator_server.share.state_batches import StateBatch, combine

ROW_BYTES: Final = 20
_ROW: Final = Layout(">qqbhx")
# A code is delivery state, delivery count and tags as one number.
_WITH_CODE: Final = Layout(">qqI")
_CODE: Final = Layout(">I")
_CODE_AT: Final = 16
_COUNT: Final = 0xFFFF_0000
_SIGNS: Final = 0x8080_0000
_FIRST_END: Final = -1
"""Before the first row. Rows with negative offsets are left to ``combine``."""
_NO_OFFSET: Final = 1 << 63
_NO_ROW: Final = (_NO_OFFSET, _NO_OFFSET, 0)
"""After the last row."""

# StateBatch's own takes twice as long.
_new: Final = tuple.__new__


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
    pack = _ROW.pack
    return b"".join([pack(each.first_offset, each.last_offset, each.delivery_state, each.delivery_count) for each in batches])


def unpacked(rows: bytes) -> Iterable[tuple[int, int, int, int]]:
    """Return first and last offset, delivery state and delivery count of each batch."""
    return _ROW.iter_unpack(rows)


def batches_of(rows: bytes) -> tuple[StateBatch, ...]:
    """Return the batches of rows."""
    return tuple([_new(StateBatch, (first, last, count, state)) for first, last, state, count in _ROW.iter_unpack(rows)])


def combine_rows(rows: bytes, start_offset: int) -> bytes:
    """Combine the batches of a request, and drop everything below ``start_offset``: as ``combine`` does it."""
    end, end_code = _FIRST_END, 0
    for first, last, code in _WITH_CODE.iter_unpack(rows):
        if not end < first <= last or (code == end_code and first == end + 1) or first < start_offset:
            return _combined(rows, start_offset)
        end, end_code = last, code
    return rows


def merge_rows(known: bytes, rows: bytes, start_offset: int) -> bytes:
    """Combine known batches with others, and drop everything below ``start_offset``: as ``combine`` does it.

    Done here if each of the others has the same records as one that is known, or comes after all of them, and nothing is to be merged
    or split. That is nearly always so: a leader writes what it has read or written before, and what is new.
    """
    others = _WITH_CODE.iter_unpack(rows)
    other_first, other_last, other_code = next(others, _NO_ROW)
    end, end_code, below, place = _FIRST_END, 0, 0, 0
    merged = bytearray(known)
    for first, last, code in _WITH_CODE.iter_unpack(known):
        if not end < first <= last or other_first < first:
            return _combined(known + rows, start_offset)
        if first < start_offset:
            if last >= start_offset:
                return _combined(known + rows, start_offset)
            below += ROW_BYTES
        elif first == other_first:
            if last != other_last or (code | other_code) & _SIGNS:
                return _combined(known + rows, start_offset)
            # The count decides, and then the state.
            if (other_code << 8 & _COUNT | other_code >> 24) > (code << 8 & _COUNT | code >> 24):
                code = other_code
                _CODE.pack_into(merged, place + _CODE_AT, code)
            other_first, other_last, other_code = next(others, _NO_ROW)
        if code == end_code and first == end + 1:
            return _combined(known + rows, start_offset)
        end, end_code = last, code
        place += ROW_BYTES
    while other_first != _NO_OFFSET:
        if (
            not end < other_first <= other_last
            or other_first < start_offset
            or (other_code == end_code and other_first == end + 1)
        ):
            return _combined(known + rows, start_offset)
        merged += _WITH_CODE.pack(other_first, other_last, other_code)
        end, end_code = other_last, other_code
        other_first, other_last, other_code = next(others, _NO_ROW)
    return bytes(merged[below:])


def _combined(rows: bytes, start_offset: int) -> bytes:
    return rows_of(combine(batches_of(rows), start_offset))
