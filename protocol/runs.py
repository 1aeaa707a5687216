"""Fast decoding of arrays with runs of elements of equal layout.

An element with strings or bytes has no fixed size, but in most arrays the strings of many elements are equally long. ``alike``
takes the layout of the first element, sizes included, and counts the following elements with the same sizes at the same
positions. It compares strided slices of the buffer, one per byte of a size. It checks a few elements first, and more only if
these match, so that the work is linear in the number of matching elements, whatever follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import Any, Final

from protocol.wire import COMPILED

_FEWEST: Final = 24 if COMPILED else 8
"""Minimum length of a run. Fewer elements are read one by one, because the check costs as much."""
_FIRST_LOOK: Final = 32
_WIDER: Final = 32
_LONGEST: Final = 0x7F
"""Maximum length of strings and bytes in runs. Longer ones are read one by one, because copying dominates their cost."""
_MOST_SAME: Final = 24
# Of one shape. A layout takes about 1 KB.
_MOST_LAYOUTS: Final = 256
_REFUSED: Final = -2


RUNS_OF_TEXT: Final = not COMPILED
"""Whether to use runs for elements with hardly any numbers. Compiled code reads these faster one by one."""


class Field:
    """A string or bytes field of an element, together with the fixed-size fields before it."""

    __slots__ = ("before", "empty", "is_nullable", "skip", "width")

    def __init__(self, before: str, skip: int, width: int, is_nullable: bool, empty: str | bytes) -> None:
        self.before = before
        """The struct format of these fixed-size fields; ``skip`` is their size in bytes."""
        self.skip = skip
        self.width = width
        """The width of the size field: 1 if compact, otherwise 2 or 4."""
        self.is_nullable = is_nullable
        self.empty = empty
        """The value of the field without bytes."""


class Layout:
    """The layout of elements with given sizes of strings and bytes."""

    __slots__ = ("absent", "columns", "numbers", "rows", "size", "start", "stop")

    def __init__(self, shape: Shape, sizes: tuple[int, ...]) -> None:
        rows, numbers, at = ">", ">", 0
        absent: list[str | bytes | None] = []
        self.start = 0
        self.columns: list[tuple[int, bytes]] = []
        """The bytes of the size fields, with their positions in an element."""
        for field, size in zip(shape.fields, sizes, strict=True):
            at += field.skip
            written = size + 1 if field.width == 1 else size
            for byte in written.to_bytes(field.width, "big", signed=field.width > 1):
                self.columns.append((at, bytes((byte,))))
                at += 1
            self.start = at
            at += max(size, 0)
            before = field.before + "x" * field.width
            rows += f"{before}{at - self.start}s"
            numbers += f"{before}{at - self.start}x"
            absent.append(None if size < 0 else field.empty)
        self.stop = at
        """``start`` and ``stop`` are the positions of the last field's bytes in the element."""
        self.size = at + shape.tail
        if shape.behind.endswith("x"):
            self.columns.append((self.size - 1, b"\0"))
        self.absent = tuple(absent)
        """By field: its value if it has no bytes, None for null."""
        self.rows = Struct(rows + shape.behind).iter_unpack
        self.numbers = Struct(numbers + shape.behind).iter_unpack
        """Reads all fields except strings and bytes."""


class Shape:
    """The fields of an array's elements. ``behind`` is the format of the last fixed-size fields; pad bytes are the tag counts."""

    __slots__ = ("behind", "fields", "layouts", "only", "tail")

    def __init__(self, behind: str, tail: int, *fields: Field) -> None:
        self.fields = fields
        self.only = fields[0] if len(fields) == 1 else None
        self.behind = behind
        self.tail = tail
        self.layouts: dict[tuple[int, ...], Layout] = {}


Run = tuple[int, int, Iterator[tuple[Any, ...]], Any, bool]
"""The position after the elements, their number, the rows of their fields, the values of absent fields, and ``is_same``.

If the shape has a single string or bytes field with equal values in all elements, ``is_same`` is True: the fourth item is that
value, and the rows have only the other fields."""


def alike(shape: Shape, buf: bytes, pos: int, left: int) -> Run | None:
    """Return the run of elements at ``pos`` with the layout of the first, at most ``left``. Return None if they are too few."""
    sizes = _sizes(shape, buf, pos) if left >= _FEWEST else None
    if sizes is None:
        return None
    layout = shape.layouts.get(sizes)
    if layout is None:
        if len(shape.layouts) >= _MOST_LAYOUTS:
            shape.layouts.clear()
        layout = shape.layouts[sizes] = Layout(shape, sizes)
    found = _count(layout, buf, pos, left)
    if found < _FEWEST:
        return None
    end = pos + found * layout.size
    run = buf[pos:end]
    if shape.only is None:
        return end, found, layout.rows(run), layout.absent, False
    if layout.start == layout.stop:
        return end, found, layout.numbers(run), layout.absent[0], True
    if _is_same(layout, run, found):
        value = run[layout.start : layout.stop]
        return end, found, layout.numbers(run), value.decode() if shape.only.empty == "" else value, True
    return end, found, layout.rows(run), None, False


def _count(layout: Layout, buf: bytes, pos: int, left: int) -> int:
    """Return the number of elements at ``pos`` that have the layout."""
    size = layout.size
    most = min(left, (len(buf) - pos) // size)
    look = min(most, _FIRST_LOOK)
    while True:
        found = look
        for at, byte in layout.columns:
            column = buf[pos + at : pos + found * size : size]
            if column.count(byte) != found:
                found -= len(column.lstrip(byte))
        if found < look or look == most:
            return found
        look = min(most, look * _WIDER)


def _is_same(layout: Layout, run: bytes, count: int) -> bool:
    """Return whether the only string or bytes field has the same bytes in every element."""
    size, start, stop = layout.size, layout.start, layout.stop
    last = len(run) - size
    if stop - start > _MOST_SAME or run[start:stop] != run[last + start : last + stop]:
        return False
    return all(run[at::size].count(run[at : at + 1]) == count for at in range(start, stop))


def _sizes(shape: Shape, buf: bytes, pos: int) -> tuple[int, ...] | None:
    """Return the sizes in the element at ``pos``, -1 for null. Return None if one is long, invalid, or beyond the end."""
    only = shape.only
    if only is not None:
        size = _size(only, buf, pos + only.skip)
        return (size,) if size > _REFUSED else None
    sizes = []
    for field in shape.fields:
        pos += field.skip
        size = _size(field, buf, pos)
        if size == _REFUSED:
            return None
        sizes.append(size)
        pos += field.width
        if size > 0:
            pos += size
    return tuple(sizes)


def _size(field: Field, buf: bytes, at: int) -> int:
    width = field.width
    if at + width > len(buf):
        return _REFUSED
    if width == 1:
        size = buf[at] - 1
    elif width == 2:
        size = buf[at] << 8 | buf[at + 1]
        if size == 0xFFFF:
            size = -1
    else:
        size = int.from_bytes(buf[at : at + 4], "big", signed=True)
    return size if size <= _LONGEST and (size >= 0 or (size == -1 and field.is_nullable)) else _REFUSED
