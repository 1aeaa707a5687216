"""Arrays whose elements have, or turn out to have, one size: one ``iter_unpack`` reads them all.

An element qualifies when it has fixed-size fields and at most one string, and no tagged field that this version knows. Whether a
given array is such can be seen in a few strided slices: all its strings are null or all are empty, and no element has tags.
"""

from __future__ import annotations

from msgspec import Struct

from protocol.fields import Item, Primitive
from protocol.generate.source import FORMATS, SIZES
from protocol.schema import FieldSpec, fields_of


class Row(Struct, frozen=True):
    """The layout of one element: ``formats`` has pad bytes for the string's size and the count of tags."""

    formats: str
    size: int
    names: tuple[str, ...]
    string: FieldSpec | None
    string_at: int
    is_flexible: bool

    @property
    def is_certain(self) -> bool:
        """Whether every array has this layout, whatever its content."""
        return self.string is None and not self.is_flexible

    def condition(self, version: int) -> str:
        """Whether the ``n`` elements at ``pos``, which would end at ``end``, have this layout."""
        parts = []
        if self.string is not None:
            parts = ["n > 1", "end <= len(buf)", *self._string_parts(version in self.string.nullable)]
        if self.is_flexible:
            parts.append(f"buf[pos + {self.size - 1} : end : {self.size}].count(0) == n")
        return " and ".join(parts)

    def string_value(self, version: int) -> str:
        """The value of every element's string, once ``condition`` holds."""
        if self.string is None or version not in self.string.nullable:
            return '""'
        return f'"" if {self.is_empty} else None'

    @property
    def is_empty(self) -> str:
        """Whether every element's string is empty rather than null, once ``condition`` holds."""
        return "mark" if self.is_flexible else "not mark"

    def _string_parts(self, nullable: bool) -> list[str]:
        """Every size is that of the first, and that is the size of an empty string, or of null."""
        at, stride = self.string_at, self.size
        parts = [f"buf[pos + {at} : end : {stride}].count(mark) == n"]
        if self.is_flexible:
            return [f"(mark := buf[pos + {at}]) " + ("<= 1" if nullable else "== 1"), *parts]
        first = f"(mark := buf[pos + {at}]) " + ("in (0, 0xFF)" if nullable else "== 0")
        return [first, *parts, f"buf[pos + {at + 1} : end : {stride}].count(mark) == n"]


def row_of(struct: type[Item], version: int, is_flexible: bool) -> Row | None:
    """The layout that the elements may have, or None when arrays of them can only be read one by one."""
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
