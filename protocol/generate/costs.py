"""What values cost in memory, as an upper bound, so that a decoder knows what it is about to take.

A frame that is refused may cost four times its bytes and 64 KiB. A string or bytes takes at most four times its content, so what counts is what an
element takes besides: objects, list slots, copies for a moment. From that, four times the fewest bytes of an element are taken off.
"""

from __future__ import annotations

from typing import Final

from protocol.fields import Item, Message, Primitive
from protocol.schema import FieldSpec, fields_of

ROOM: Final = 46_000
"""Bytes for elements until the message is looked at as a whole, less two per byte of the frame, which strings take while they are read.
What is left of 64 KiB is for what refuses: exceptions, their frames, and the walk that names the field."""

_NUMBER: Final = 32
_COSTS: Final = {
    Primitive.BOOL: 0,
    Primitive.INT64: 40,
    Primitive.FLOAT64: 24,
    Primitive.UUID: 56,
    Primitive.STRING: 80,
    Primitive.BYTES: 40,
    Primitive.RECORDS: 40,
}
_LIST: Final = 80
_SLOT: Final = 24
"""Of a list: with room to grow, and with the list of a run that is added to it."""


def of_struct(struct: type[Message | Item], version: int) -> int:
    """One struct with all its fields, arrays empty."""
    fields = fields_of(struct)
    size = 16 + 8 * len(fields)
    for field in fields:
        if field.is_array:
            size += _LIST
        elif version in field.versions:
            size += _of(field.type, version)
    return size + size % 16


def of_element(field: FieldSpec, version: int) -> int:
    """One element of the array and its place in it."""
    return _SLOT + _of(field.type, version)


def any_arrays(struct: type[Message | Item], version: int) -> bool:
    fields = [field for field in fields_of(struct) if version in field.versions]
    return any(field.is_array or (not isinstance(field.type, Primitive) and any_arrays(field.type, version)) for field in fields)


def _of(kind: Primitive | type[Item], version: int) -> int:
    return _COSTS.get(kind, _NUMBER) if isinstance(kind, Primitive) else of_struct(kind, version)
