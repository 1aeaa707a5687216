"""Error handling of the generated code.

Generated decoders rely on Python to detect most errors: an index or an unpack beyond the end raises, and a slice beyond the end
leaves ``pos`` there, so that the next read or the final check raises.
Each function converts all these exceptions into DecodeError or EncodeError.
"""

from __future__ import annotations

from typing import Final

from protocol.errors import DecodeError, EncodeError, Malformed
from protocol.fields import Message
from protocol.wire import DECODE_ERRORS

UNLIMITED: Final = 1 << 60
"""The memory budget of a message that has been verified."""


class BadField(ValueError):
    """The error that a field has an invalid value."""

    def __init__(self, path: str, reason: str = "null is not allowed") -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason


def decode_failure(error: Exception, message: type[Message], version: int, buf: bytes, start: int, pos: int) -> DecodeError:
    """Return the DecodeError for a failure of a decoder.

    The message starts at ``start``; the decoder's last read was at ``pos``.
    """
    from protocol.explain import explain

    explained = explain(message, version, buf, start)
    if explained is not None:
        return explained
    raise AssertionError(f"{message.__name__} v{version} was refused at byte {pos} for nothing") from error


def verify(message: type[Message], version: int, buf: bytes, start: int, least: int, limit: int = UNLIMITED) -> int:
    """Check the whole message before more memory is used for it. Return its new memory budget, ``limit``. Raises DecodeError.

    ``least`` is the earliest possible end of the message. A negative limit means that the message names too much.
    """
    try:
        if least > len(buf):
            raise IndexError
        from protocol.skipper import struct_skipper

        struct_skipper(message, version, version in message.kafka.flexible)(buf, start)
    except DECODE_ERRORS as error:
        raise decode_failure(error, message, version, buf, start, start) from None
    if limit < 0:
        raise Malformed("it has more elements than a request may have", message=message.__name__, version=version)
    return limit


def encode_failure(error: Exception, message: str, version: int) -> EncodeError:
    if isinstance(error, BadField):
        return EncodeError(f"{message} v{version} {error.path}: {error.reason}")
    return EncodeError(f"{message} v{version}: {error}")


def not_in_version(path: str) -> BadField:
    return BadField(path, "has a value that this version cannot carry")
