"""Upper bounds of the memory of decoded values, from which a decoder computes its memory use in advance.

A refused frame may cost four times its size plus 64 KiB. The content of a string or bytes takes at most four times its size, so
only the rest of an element is counted: objects, list slots, temporary copies.
Four times the minimum size of an element is subtracted.
"""

from __future__ import annotations

from typing import Final

from protocol.fields import Item, Message, Primitive
from protocol.schema import FieldSpec, fields_of

ROOM: Final = 46_000
"""Memory budget for elements, in bytes, before the whole message is checked. Two bytes per byte of the frame are subtracted from
it for strings being decoded. The rest of the 64 KiB is for the refusal: exceptions, their frames,
and the walk that finds the field."""

REQUEST_LIMIT: Final = 16 << 20
"""Memory budget for the elements of a whole request, in bytes. A request comes from anybody: Kafka bounds only its size. Here an
element may take a hundred times its size, and the loop handles each."""

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
"""One slot of a list, including over-allocation and the temporary list of a run."""


def of_struct(struct: type[Message | Item], version: int) -> int:
    """Return the memory of one struct with all its fields and empty arrays."""
    fields = fields_of(struct)
    size = 16 + 8 * len(fields)
    for field in fields:
        if field.is_array:
            size += _LIST
        elif version in field.versions:
            size += _of(field.type, version)
    return size + size % 16


def of_element(field: FieldSpec, version: int) -> int:
    """Return the memory of one element of an array, including its list slot."""
    return _SLOT + _of(field.type, version)


def any_arrays(struct: type[Message | Item], version: int) -> bool:
    fields = [field for field in fields_of(struct) if version in field.versions]
    return any(field.is_array or (not isinstance(field.type, Primitive) and any_arrays(field.type, version)) for field in fields)


def _of(kind: Primitive | type[Item], version: int) -> int:
    return _COSTS.get(kind, _NUMBER) if isinstance(kind, Primitive) else of_struct(kind, version)
