"""What the generated code does when something is wrong with a message.

Generated decoders let Python notice most of what is wrong: an index or an unpack behind the end fails by itself, a slice behind
the end leaves ``pos`` there, which the next read or the last check sees. At its edge each function turns all of it into
DecodeError or EncodeError.
"""

from __future__ import annotations

from typing import Final

from protocol.errors import DecodeError, EncodeError
from protocol.fields import Message
from protocol.wire import DECODE_ERRORS

UNLIMITED: Final = 1 << 60
"""The room of a message that is known to be right."""


class BadField(ValueError):
    """A field holds what it may not hold."""

    def __init__(self, path: str, reason: str = "null is not allowed") -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason


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
