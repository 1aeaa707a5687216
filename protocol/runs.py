"""Arrays whose elements turn out to look alike: how many do, and the one layout that reads them all.

An element with strings or bytes has no fixed size, but most arrays hold elements whose strings are equally long. ``alike`` takes the
layout of the first element, sizes included, and counts the elements behind it that have the same sizes in the same places: strided
slices of the buffer, one per byte of a size. It looks at a few elements first and at more only when those agree, so that the work is
linear in the elements that it finds, whatever follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import Any, Final

from protocol.wire import COMPILED

_FEWEST: Final = 24 if COMPILED else 8
"""Fewer elements than these are read one by one: looking costs as much."""
_FIRST_LOOK: Final = 32
_WIDER: Final = 32
_LONGEST: Final = 0x7F
"""Longer strings and bytes are read one by one: copying them is what their time is spent on."""
_MOST_SAME: Final = 24
_MOST_LAYOUTS: Final = 256
_REFUSED: Final = -2


RUNS_OF_TEXT: Final = not COMPILED
"""Compiled code reads elements that have little but strings and bytes faster one by one."""


class Field:
    """A string or bytes of an element: how it stands behind the fixed-size fields before it."""

    __slots__ = ("before", "empty", "is_nullable", "skip", "width")

    def __init__(self, before: str, skip: int, width: int, is_nullable: bool, empty: str | bytes) -> None:
        self.before = before
        """The layout of those, and the bytes they take."""
        self.skip = skip
        self.width = width
        """Of its size: 1 when compact, else 2 or 4."""
        self.is_nullable = is_nullable
        self.empty = empty
        """What the field is when it has no bytes."""


class Layout:
    """What elements of these sizes have in common."""

    __slots__ = ("absent", "columns", "numbers", "rows", "size", "start", "stop")

    def __init__(self, shape: Shape, sizes: tuple[int, ...]) -> None:
        rows, numbers, at = ">", ">", 0
        absent: list[str | bytes | None] = []
        self.start = 0
        self.columns: list[tuple[int, bytes]] = []
        """The bytes that make an element one of these, by their places in it."""
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
        """``start`` and ``stop`` are where the bytes of the last field are in the element."""
        self.size = at + shape.tail
        if shape.behind.endswith("x"):
            self.columns.append((self.size - 1, b"\0"))
        self.absent = tuple(absent)
        """By field: its value where it has no bytes."""
        self.rows = Struct(rows + shape.behind).iter_unpack
        self.numbers = Struct(numbers + shape.behind).iter_unpack
        """Reads all but the strings and bytes."""


class Shape:
    """What elements of an array may look like: ``behind`` are the fixed-size fields at their end, pad bytes the counts of tags."""

    __slots__ = ("behind", "fields", "layouts", "only", "tail")

    def __init__(self, behind: str, tail: int, *fields: Field) -> None:
        self.fields = fields
        self.only = fields[0] if len(fields) == 1 else None
        self.behind = behind
        self.tail = tail
        self.layouts: dict[tuple[int, ...], Layout] = {}


Run = tuple[int, int, Iterator[tuple[Any, ...]], Any, bool]
"""The position behind the elements, how many they are, their fields; what is absent in them by field. In a shape with one field that
is the same in every element, True, and then its value is there instead of what is absent, and the fields are the others."""


def alike(shape: Shape, buf: bytes, pos: int, left: int) -> Run | None:
    """The elements at ``pos``, of ``left``, that look like the first; None when they are too few to be worth it."""
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
    """How many elements at ``pos`` have the layout."""
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
    """Whether the only field has the same bytes in every element."""
    size, start, stop = layout.size, layout.start, layout.stop
    last = len(run) - size
    if stop - start > _MOST_SAME or run[start:stop] != run[last + start : last + stop]:
        return False
    return all(run[at::size].count(run[at : at + 1]) == count for at in range(start, stop))


def _sizes(shape: Shape, buf: bytes, pos: int) -> tuple[int, ...] | None:
    """The sizes in the element at ``pos``, -1 for null; None when one is long, or not allowed, or behind the end."""
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
