"""Functions that the generated code calls for uncommon cases: long varints, tagged fields, long texts."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any, Final, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

MAX_STRING: Final = 0x7FFF


def at_version(function: F, version: int) -> F:
    """Return the same function for a different version with the same layout. Only the version in its errors differs."""
    if not isinstance(function, FunctionType):  # compiled
        return cast("F", partial(function, version=version))
    model = cast("FunctionType", function)
    name = f"{model.__name__.rpartition('_v')[0]}_v{version}"
    other = FunctionType(model.__code__, model.__globals__, name, (version,))
    other.__annotations__ = model.__annotations__
    return cast("F", other)


COMPILED: Final = not isinstance(at_version, FunctionType)
"""Whether this package has been compiled by mypyc."""

DECODE_ERRORS: Final = (IndexError, struct.error, ValueError)
ENCODE_ERRORS: Final = (struct.error, TypeError, AttributeError, ValueError)


def long_text(buf: bytes, start: int, end: int) -> str:
    """Decode a string without copying its bytes. With a copy, a refused frame could exceed its memory limit."""
    return str(memoryview(buf)[start:end], "utf-8")


def read_uvarint(buf: bytes, pos: int) -> tuple[int, int]:
    """Return an unsigned varint of at most five bytes and the position after it. Raises IndexError and ValueError."""
    value = shift = 0
    while True:
        byte = buf[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 28:
            raise ValueError("a varint has more than five bytes")
    if value > 0x7FFFFFFF:
        raise ValueError("a varint is larger than 2^31 - 1")
    return value, pos


def read_string_size(buf: bytes, pos: int) -> tuple[int, int]:
    """Return the compact size (length + 1) of a string and the position after it. Raises IndexError and ValueError."""
    size, pos = read_uvarint(buf, pos)
    if size > MAX_STRING + 1:
        raise ValueError(f"a string of {size - 1} bytes is longer than {MAX_STRING}")
    return size, pos


def write_uvarint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def write_string_size(size: int) -> bytes:
    """Return the encoded compact size (length + 1) of a string. Raises ValueError above Kafka's limit for strings."""
    if size > MAX_STRING + 1:
        raise ValueError(f"a string of {size - 1} bytes is longer than {MAX_STRING}")
    return write_uvarint(size)


def skip_tags(buf: bytes, pos: int) -> int:
    """Return the position after the tagged fields at ``pos``, which are all unknown. Raises IndexError and ValueError."""
    count, pos = read_uvarint(buf, pos)
    for _ in range(count):
        _, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        pos += size
    if pos > len(buf):
        raise IndexError
    return pos
