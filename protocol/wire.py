"""What the generated code calls off its straight line: long varints, tagged fields, and the translation of what went wrong.

Generated decoders let Python notice most of what is wrong: an index or an unpack behind the end fails by itself, a slice behind
the end leaves ``pos`` there, which the next read or the last check sees. At its edge each function turns all of it into
DecodeError or EncodeError.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any, Final, TypeVar, cast

from protocol.errors import DecodeError, EncodeError
from protocol.fields import Message

F = TypeVar("F", bound=Callable[..., Any])

MAX_STRING: Final = 0x7FFF
UNLIMITED: Final = 1 << 60
"""The room of a message that is known to be right."""


class BadField(ValueError):
    """A field holds what it may not hold."""

    def __init__(self, path: str, reason: str = "null is not allowed") -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason


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


def decode_failure(error: Exception, message: type[Message], version: int, buf: bytes, start: int, pos: int) -> DecodeError:
    """What the failure of a decoder means for the caller. The message began at ``start``, the decoder's last read at ``pos``."""
    from protocol.explain import explain

    explained = explain(message, version, buf, start)
    if explained is not None:
        return explained
    raise AssertionError(f"{message.__name__} v{version} was refused at byte {pos} for nothing") from error


def verify(message: type[Message], version: int, buf: bytes, start: int, least: int) -> int:
    """Look at the message once before more is made of it; the room that it has when nothing is wrong, its DecodeError otherwise.

    ``least`` is where it ends at the earliest.
    """
    try:
        if least > len(buf):
            raise IndexError
        from protocol.skipper import struct_skipper

        struct_skipper(message, version, version in message.kafka.flexible)(buf, start)
    except DECODE_ERRORS as error:
        raise decode_failure(error, message, version, buf, start, start) from None
    return UNLIMITED


def encode_failure(error: Exception, message: str, version: int) -> EncodeError:
    if isinstance(error, BadField):
        return EncodeError(f"{message} v{version} {error.path}: {error.reason}")
    return EncodeError(f"{message} v{version}: {error}")


def not_in_version(path: str) -> BadField:
    return BadField(path, "has a value that this version cannot carry")


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
