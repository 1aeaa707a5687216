"""The batches of a share partition as rows of 20 bytes, which they are in requests, in answers and in records.

    first offset int64 | last offset int64 | delivery state int8 | delivery count int16 | no tags

So the state keeps them, and most writes and reads pass them on without an object for each batch.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct as Layout
from typing import Final, Protocol

from coordinator_server.share.state_batches import StateBatch, combine
from coordinator_server.share.tidy_rows import TidyRows

ROW_BYTES: Final = 20
_ROW: Final = Layout(">qqbhx")
_RANGE: Final = Layout(">qq")
_KIND: Final = Layout(">bhx")
_KIND_AT: Final = _RANGE.size
_BEFORE_ALL: Final = -1
"""The end of what is before the first row. Rows with negative offsets are left to ``combine``."""
_NO_OFFSET: Final = 1 << 63
_NO_ROW: Final = (_NO_OFFSET, _NO_OFFSET, 0, 0)
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
    return rows if _are_tidy(rows) and _below(rows, start_offset) == 0 else _combined(rows, start_offset)


def merge_rows(known: bytes, rows: bytes, start_offset: int) -> bytes:
    """Combine known batches with others, and drop everything below ``start_offset``: as ``combine`` does it.

    Done here if each of the others has the same records as one that is known, or comes after all of them, and nothing is to be merged
    or split. That is nearly always so: a leader writes what it has read or written before, and what is new.
    """
    below = _below(known, start_offset) if isinstance(known, TidyRows) or _are_tidy(known) else None
    merged = None if below is None else _merged(bytearray(known[below:]), rows, start_offset)
    return _combined(known + rows, start_offset) if merged is None else merged


def _merged(merged: bytearray, rows: bytes, start_offset: int) -> bytes | None:
    """Return known rows, which are tidy and not below ``start_offset``, with others; None if it takes more than that."""
    others = _ROW.iter_unpack(rows)
    other_first, other_last, other_state, other_count = next(others, _NO_ROW)
    place, end, end_state, end_count = _place_before(merged, other_first, other_last)
    is_tidy = True
    for first, last, state, count in _ROW.iter_unpack(merged[place:]):
        has_other, has_two_kinds = first == other_first, False
        if has_other and last == other_last:
            has_two_kinds = other_count != count or other_state != state
            if (other_count, other_state) > (count, state):
                state, count = other_state, other_count
                _KIND.pack_into(merged, place + _KIND_AT, state, count)
            other_first, other_last, other_state, other_count = next(others, _NO_ROW)
        elif has_other or other_first < first:
            return None
        if first == end + 1 and state == end_state and count == end_count:
            # As in Kafka, what has just changed is merged with a later write.
            if not has_two_kinds:
                return None
            is_tidy = False
        if not has_other and other_first == _NO_OFFSET:
            break
        end, end_state, end_count = last, state, count
        place += ROW_BYTES
    while other_first != _NO_OFFSET:
        touches = other_first == end + 1 and other_state == end_state and other_count == end_count
        if not end < other_first <= other_last or other_first < start_offset or touches:
            return None
        merged += _ROW.pack(other_first, other_last, other_state, other_count)
        end, end_state, end_count = other_last, other_state, other_count
        other_first, other_last, other_state, other_count = next(others, _NO_ROW)
    return TidyRows(merged) if is_tidy else bytes(merged)


def _place_before(rows: bytearray, first: int, last: int) -> tuple[int, int, int, int]:
    """Return the place of the row with these offsets, or behind the last row, and the end and kind of the row before it."""
    place = rows.find(_RANGE.pack(first, last)) if first != _NO_OFFSET else -1
    if place < 0:
        place = len(rows)
    elif place % ROW_BYTES:
        place = 0
    if place == 0:
        return place, _BEFORE_ALL, 0, 0
    _, end, state, count = _ROW.unpack_from(rows, place - ROW_BYTES)
    return place, end, state, count


def _are_tidy(rows: bytes) -> bool:
    """Return whether rows are in order, none overlap, and none are to be merged."""
    end, end_state, end_count = _BEFORE_ALL, 0, 0
    for first, last, state, count in _ROW.iter_unpack(rows):
        if not end < first <= last or (first == end + 1 and count == end_count and state == end_state):
            return False
        end, end_state, end_count = last, state, count
    return True


def _below(rows: bytes, start_offset: int) -> int | None:
    """Return how many bytes of tidy rows are below ``start_offset``, or None if it is within one of them."""
    below = 0
    for first, last, _, _ in _ROW.iter_unpack(rows):
        if first >= start_offset:
            break
        if last >= start_offset:
            return None
        below += ROW_BYTES
    return below


def _combined(rows: bytes, start_offset: int) -> bytes:
    return rows_of(combine(batches_of(rows), start_offset))
