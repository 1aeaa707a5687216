"""What the generated code calls off its straight line: long varints, tagged fields, long texts."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any, Final, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

MAX_STRING: Final = 0x7FFF


def at_version(function: F, version: int) -> F:
    """The same code for another version of the same layout: nothing but the version that its errors name is another one."""
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
    """A string without a copy of its bytes: beside what decoding takes, that would be more than a refused frame may cost."""
    return str(memoryview(buf)[start:end], "utf-8")


def read_uvarint(buf: bytes, pos: int) -> tuple[int, int]:
    """An unsigned varint of at most five bytes, and the position behind it."""
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
    """The compact size (length + 1) of a string, and the position behind it."""
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
    """The compact size (length + 1) of a string; strings have Kafka's limit in every form."""
    if size > MAX_STRING + 1:
        raise ValueError(f"a string of {size - 1} bytes is longer than {MAX_STRING}")
    return write_uvarint(size)


def skip_tags(buf: bytes, pos: int) -> int:
    """The position behind the tagged fields at ``pos``, none of which is known."""
    count, pos = read_uvarint(buf, pos)
    for _ in range(count):
        _, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        pos += size
    if pos > len(buf):
        raise IndexError
    return pos
