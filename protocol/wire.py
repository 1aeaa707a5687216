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

from protocol.errors import DecodeError, EncodeError, Malformed, Truncated
from protocol.fields import Message

F = TypeVar("F", bound=Callable[..., Any])

MAX_STRING: Final = 0x7FFF
MAX_EXPLAINED: Final = 0x10000
"""Of more bytes than these, an error tells what the decoder knows: a second, slow pass over them is a gift to who sends rubbish."""


class BadField(ValueError):
    """A field holds what it may not hold."""

    def __init__(self, path: str, reason: str = "null is not allowed") -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason


class ShortField(ValueError):
    """A field says that it is longer than what is left."""

    def __init__(self, path: str, count: int) -> None:
        super().__init__(path, count)
        self.path = path
        self.count = count


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
    if len(buf) - start <= MAX_EXPLAINED:
        from protocol.explain import explain

        explained = explain(message, version, buf, start)
        if explained is not None:
            return explained
    position, name = min(pos, len(buf)), message.__name__
    if isinstance(error, BadField):
        return Malformed(error.reason, message=name, version=version, path=error.path, position=position)
    if isinstance(error, ShortField):
        reason = f"{error.count} entries or bytes cannot be in the {len(buf) - position} that are left"
        return Truncated(reason, message=name, version=version, path=error.path, position=position)
    if isinstance(error, ValueError) and pos <= len(buf):
        reason = "a string is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        return Malformed(reason, message=name, version=version, position=position)
    return Truncated("the bytes end too early", message=name, version=version, position=position)


def encode_failure(error: Exception, message: str, version: int) -> EncodeError:
    if isinstance(error, BadField):
        return EncodeError(f"{message} v{version} {error.path}: {error.reason}")
    return EncodeError(f"{message} v{version}: {error}")


def not_in_version(path: str) -> BadField:
    return BadField(path, "has a value that this version cannot carry")


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
