"""JSON of large values in pieces, so that a loop which answers its owner's tools serves clients in between.

An encoder in C does not stop once it has begun: the list of 100,000 groups takes it a tenth of a second, and in a thread it would
keep the interpreter's lock for as long.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

VALUES_PER_PIECE: Final = 2_000
"""A piece takes less than a millisecond."""

_encode = msgspec.json.Encoder().encode


def json_pieces(value: Any) -> Iterator[bytes]:
    """Yield the JSON of a value in pieces. No piece ends within a string. Keys of objects must be strings."""
    if _size(value) <= VALUES_PER_PIECE:
        yield _encode(value)
        return
    is_object = isinstance(value, dict)
    separator = b"{" if is_object else b"["
    for portion in _portions(value.items() if is_object else value):
        if len(portion) > 1 or _size(portion[0]) <= VALUES_PER_PIECE:
            yield separator + _encode(dict(portion) if is_object else portion)[1:-1]
        else:
            [entry] = portion
            yield separator + (_encode(entry[0]) + b":" if is_object else b"")
            yield from json_pieces(entry[1] if is_object else entry)
        separator = b","
    yield b"}" if is_object else b"]"


def _portions(entries: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield entries that make a piece together; one that is more than a piece is alone."""
    portion: list[Any] = []
    left = VALUES_PER_PIECE
    for entry in entries:
        size = _size(entry)
        if portion and size > left:
            yield portion
            portion, left = [], VALUES_PER_PIECE
        portion.append(entry)
        left -= size
    yield portion


def _size(value: Any) -> int:
    """Return the number of values in a value; some number above that of a piece if there are more."""
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    size = 1
    for child in children:
        size += _size(child)
        if size > VALUES_PER_PIECE:
            break
    return size
