"""Arrays whose elements have equal size, always or in a given message: one ``iter_unpack`` reads them all.

An element qualifies if it has fixed-size fields, at most one string, and no known tagged field in this version. A few strided
slices show whether a given array has equal sizes: all strings are null or all are empty, and no element has tags.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import calcsize

from msgspec import Struct

from protocol.fields import Item, Primitive
from protocol.generate.source import FORMATS, SIZES
from protocol.schema import FieldSpec, fields_of


class Row(Struct, frozen=True):
    """The layout of one element. ``formats`` has pad bytes for the string's size and the tag count."""

    formats: str
    size: int
    names: tuple[str, ...]
    string: FieldSpec | None
    string_at: int
    is_flexible: bool

    @property
    def is_certain(self) -> bool:
        """Whether the elements of every array have this layout, whatever their content."""
        return self.string is None and not self.is_flexible

    @property
    def condition(self) -> str:
        """The expression that tests whether the ``n`` elements at ``pos`` have this layout: no tags. Then they end at ``end``."""
        return f"buf[pos + {self.size - 1} : end : {self.size}].count(0) == n"


class RowShape(Struct, frozen=True):
    """An element whose arrays can be read by ``protocol.runs``.

    ``sized`` are its strings and bytes, ``numbers`` the names of its fixed-size fields.
    """

    names: tuple[str, ...]
    numbers: tuple[str, ...]
    sized: tuple[FieldSpec, ...]
    strings: frozenset[str]
    has_numbers: bool
    definition: str


def row_of(struct: type[Item], version: int, is_flexible: bool) -> Row | None:
    """Return the possible layout of the elements, or None if they can only be read one by one."""
    fields = [field for field in fields_of(struct) if version in field.versions]
    kinds = [field.type for field in fields]
    if any(field.is_array or version in field.tagged for field in fields):
        return None
    if any(kind not in FORMATS and kind is not Primitive.STRING for kind in kinds):
        return None
    if kinds.count(Primitive.STRING) > 1 or set(kinds) == {Primitive.STRING}:
        return None
    formats, string, string_at, size = "", None, -1, 0
    for field in fields:
        if field.type is Primitive.STRING:
            string, string_at = field, size
            item = "x" if is_flexible else "xx"
            size += len(item)
        else:
            assert isinstance(field.type, Primitive)
            item = FORMATS[field.type]
            size += SIZES[item]
        formats += item
    names = tuple(field.name for field in fields if field is not string)
    if is_flexible:
        formats, size = formats + "x", size + 1
    return Row(formats, size, names, string, string_at, is_flexible)


def shape_of(
    struct: type[Item], version: int, is_flexible: bool, is_compact: Callable[[FieldSpec], bool], *, may_have_none: bool = False
) -> RowShape | None:
    """Return the shape of an array's elements, or None if they have fields other than numbers, strings and bytes.

    Elements without strings and bytes have a shape only with ``may_have_none``.
    """
    fields = [field for field in fields_of(struct) if version in field.versions]
    if any(field.is_array or version in field.tagged or not isinstance(field.type, Primitive) for field in fields):
        return None
    sized = [field for field in fields if field.type not in FORMATS]
    numbers = [field for field in fields if field.type in FORMATS]
    if not sized and not may_have_none:
        return None
    before, parts = "", []
    for field in fields:
        if field.type in FORMATS:
            assert isinstance(field.type, Primitive)
            before += FORMATS[field.type]
            continue
        width = 1 if is_compact(field) else 2 if field.type is Primitive.STRING else 4
        empty = '""' if field.type is Primitive.STRING else 'b""'
        parts.append(f'Field("{before}", {_size_of(before)}, {width}, {version in field.nullable}, {empty})')
        before = ""
    behind = before + "x" * is_flexible
    parts = [f'"{behind}"', str(_size_of(behind)), *parts]
    return RowShape(
        names=tuple(field.name for field in fields),
        numbers=tuple(field.name for field in numbers),
        sized=tuple(sized),
        strings=frozenset(field.name for field in sized if field.type is Primitive.STRING),
        has_numbers=any(SIZES[FORMATS[field.type]] in (2, 4, 8) for field in numbers if isinstance(field.type, Primitive)),
        definition=f"Shape({', '.join(parts)})",
    )


def _size_of(formats: str) -> int:
    return calcsize(f">{formats}")
