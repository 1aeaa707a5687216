"""The batches of a share partition as rows (``protocol/share_state_rows.py``): combined, merged, and cut at the start offset.

State and count are the *kind* of a row. The state keeps rows, and most writes and reads pass them on without an object for each
batch. What this module does faster than ``combine`` has always the same result.
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Final

from coordinator_server.share.state_batches import StateBatch, combine
from coordinator_server.share.tidy_rows import ApartRows, TidyRows
from protocol.share_state_rows import ROW_BYTES, row, row_at, rows_of, unpacked

_RANGE: Final = Layout(">qq")
_FIRST: Final = Layout(">q")
_KIND: Final = Layout(">bhx")
_KIND_AT: Final = _RANGE.size
_AT_LEAST: Final = tuple([bytes([max(state, other) for other in range(256)]) for state in range(5)])
"""For each delivery state, a table that replaces smaller ones by it."""
_BEFORE_ALL: Final = -1
"""The end of what is before the first row. Rows with negative offsets are left to ``combine``."""
_NO_OFFSET: Final = 1 << 63
_NO_ROW: Final = (_NO_OFFSET, _NO_OFFSET, 0, 0)
"""After the last row."""

# StateBatch's own takes twice as long.
_new: Final = tuple.__new__


def batches_of(rows: bytes) -> tuple[StateBatch, ...]:
    """Return the batches of rows."""
    return tuple([_new(StateBatch, (first, last, count, state)) for first, last, state, count in unpacked(rows)])


def combine_rows(rows: bytes, start_offset: int) -> bytes:
    """Combine the batches of a request, and drop everything below ``start_offset``: as ``combine`` does it."""
    tidy = _tidy(rows)
    return _combined(rows, start_offset) if tidy is None or _begins_below(rows, start_offset) else tidy


def merge_rows(known: bytes, rows: bytes, start_offset: int) -> bytes:
    """Combine known batches with others, and drop everything below ``start_offset``: as ``combine`` does it.

    Done here if each of the others has the same records as one that is known, or comes after all of them, and nothing is to be
    merged or split. That is nearly always so: a leader writes what it has read or written before, and what is new.
    """
    tidy = known if isinstance(known, TidyRows) else _tidy(known)
    kept = None if tidy is None else _from(tidy, start_offset)
    if kept is None:
        return _combined(known + rows, start_offset)
    if not rows:
        return kept
    if isinstance(rows, TidyRows) and not _begins_below(rows, start_offset):
        joined = _joined(kept, rows)
        if joined is not None:
            return joined
    merged = _merged(kept, rows, start_offset)
    return _combined(known + rows, start_offset) if merged is None else merged


def written_rows(known: bytes, rows: bytes, written_start: int, start_offset: int) -> tuple[bytes, bytes]:
    """Return the rows that an update writes, which are those of a request combined, and the rows of the state after it.

    ``written_start`` is the start offset of the request, and ``start_offset`` the state's after it.
    """
    if type(known) is ApartRows:
        after = _overlaid(known, rows, start_offset)
        if after is not None:
            return rows, after
    written = combine_rows(rows, written_start)
    return written, merge_rows(known, written, start_offset)


def _overlaid(known: ApartRows, rows: bytes, start_offset: int) -> ApartRows | None:
    """Return known rows after others that have the ranges and counts of some of them, in a row; None if they have not."""
    place = known.find(rows[:_KIND_AT])
    old = known[place : place + len(rows)]
    if place % ROW_BYTES or not rows or len(old) != len(rows) or _FIRST.unpack_from(known)[0] < start_offset:
        return None
    states, old_states = rows[_KIND_AT::ROW_BYTES], old[_KIND_AT::ROW_BYTES]
    alike = bytearray(rows)
    alike[_KIND_AT::ROW_BYTES] = old_states
    if alike != old:
        return None
    if states == old_states:
        return known
    larger = _larger(states, old_states)
    if larger == old_states:
        return known
    if larger is None:
        return None
    after = bytearray(known)
    after[place + _KIND_AT : place + len(rows) : ROW_BYTES] = larger
    return ApartRows(after)


def _larger(states: bytes, others: bytes) -> bytes | None:
    """Return the larger of each two delivery states, of equally many; None if one may be negative."""
    state = states[0]
    if state < len(_AT_LEAST) and states.count(state) == len(states):
        # They are all the same, as nearly always.
        larger = others.translate(_AT_LEAST[state])
    else:
        larger = bytes(map(max, states, others))
    return larger if larger.isascii() else None


def _joined(known: TidyRows, rows: TidyRows) -> TidyRows | None:
    """Return known rows with others behind them; None if these do not come after all of them, or are to be merged with the last."""
    if not known:
        return rows
    _, end, state, count = row_at(known, len(known) - ROW_BYTES)
    first, _, other_state, other_count = row_at(rows)
    if first > end + 1:
        are_apart = type(known) is ApartRows and type(rows) is ApartRows
        return ApartRows(known + rows) if are_apart else TidyRows(known + rows)
    return None if first <= end or (state == other_state and count == other_count) else TidyRows(known + rows)


def _merged(known: TidyRows, rows: bytes, start_offset: int) -> bytes | None:
    """Return known rows, which are not below ``start_offset``, with others; None if it takes more than that."""
    merged = bytearray(known)
    others = unpacked(rows)
    other_first, other_last, other_state, other_count = next(others, _NO_ROW)
    place, end, end_state, end_count = _place_before(merged, other_first, other_last)
    is_tidy, are_apart = True, type(known) is ApartRows
    for first, last, state, count in unpacked(merged[place:]):
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
        touches = other_first == end + 1 and end != _BEFORE_ALL
        are_apart = are_apart and not touches
        is_alike = other_state == end_state and other_count == end_count
        if not end < other_first <= other_last or other_first < start_offset or (touches and is_alike):
            return None
        merged += row(other_first, other_last, other_state, other_count)
        end, end_state, end_count = other_last, other_state, other_count
        other_first, other_last, other_state, other_count = next(others, _NO_ROW)
    if are_apart:
        return ApartRows(merged)
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
    _, end, state, count = row_at(rows, place - ROW_BYTES)
    return place, end, state, count


def _tidy(rows: bytes) -> TidyRows | None:
    """Return rows that are in order, of which none overlap and none are to be merged; None for others."""
    end, end_state, end_count = _BEFORE_ALL, 0, 0
    are_apart = True
    for first, last, state, count in unpacked(rows):
        if not end < first <= last:
            return None
        if first == end + 1:
            if count == end_count and state == end_state:
                return None
            # The first row may begin at offset 0: it is not a neighbour of the end before all.
            are_apart = are_apart and end == _BEFORE_ALL
        end, end_state, end_count = last, state, count
    return ApartRows(rows) if are_apart else TidyRows(rows)


def _from(rows: TidyRows, start_offset: int) -> TidyRows | None:
    """Return the rows that are not below ``start_offset``; None if it is within one of them."""
    below = 0
    for first, last, _, _ in unpacked(rows):
        if first >= start_offset:
            break
        if last >= start_offset:
            return None
        below += ROW_BYTES
    if not below:
        return rows
    return ApartRows(rows[below:]) if type(rows) is ApartRows else TidyRows(rows[below:])


def _begins_below(rows: bytes, start_offset: int) -> bool:
    """Return whether the first row begins below ``start_offset``."""
    return bool(rows) and _FIRST.unpack_from(rows)[0] < start_offset


def _combined(rows: bytes, start_offset: int) -> bytes:
    return rows_of(combine(batches_of(rows), start_offset))
