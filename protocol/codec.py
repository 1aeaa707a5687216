"""Access to the generated codecs of a message.

``decoder`` and ``encoder`` return the functions, for frequent calls. ``decode`` and ``encode`` convert one whole value. A decoder
raises only DecodeError, whatever the bytes. An encoder raises only EncodeError, whatever the value; ``out`` is unchanged then. The
module of a message's codecs is imported on first use.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, Protocol, TypeVar

from protocol.errors import Malformed
from protocol.fields import Message

M = TypeVar("M", bound=Message)
M_co = TypeVar("M_co", bound=Message, covariant=True)
M_contra = TypeVar("M_contra", bound=Message, contravariant=True)


class Decoder(Protocol[M_co]):
    """Reads a message from ``buf`` at ``pos``. Returns the message and the position after it."""

    def __call__(self, buf: bytes, pos: int, /) -> tuple[M_co, int]: ...


class Encoder(Protocol[M_contra]):
    """Appends a message to ``out``."""

    def __call__(self, msg: M_contra, out: bytearray, /) -> None: ...


def decoder(message: type[M], version: int) -> Decoder[M]:
    """Return the decoder of a message for a version. Raises LookupError if Kafka has no such version."""
    return decoders(message)[version]


def encoder(message: type[M], version: int) -> Encoder[M]:
    """Return the encoder of a message for a version. Raises LookupError if Kafka has no such version."""
    return encoders(message)[version]


@cache
def decoders(message: type[M]) -> dict[int, Decoder[M]]:
    """Return the decoders of a message by version."""
    table: dict[int, Decoder[M]] = _generated(message).DECODERS[message]
    return table


@cache
def encoders(message: type[M]) -> dict[int, Encoder[M]]:
    """Return the encoders of a message by version."""
    table: dict[int, Encoder[M]] = _generated(message).ENCODERS[message]
    return table


def decode(message: type[M], version: int, data: bytes, *, allow_leftover: bool = False) -> M:
    """Decode ``data`` as one message. Bytes after the message are refused unless ``allow_leftover``. Raises DecodeError."""
    value, pos = decoder(message, version)(data, 0)
    if pos != len(data) and not allow_leftover:
        reason = f"{len(data) - pos} bytes are left over"
        raise Malformed(reason, message=message.__name__, version=version, position=pos)
    return value


def encode(message: Message, version: int) -> bytes:
    """Encode a message in a version. Raises EncodeError."""
    out = bytearray()
    encoder(type(message), version)(message, out)
    return bytes(out)


def _generated(message: type[Message]) -> Any:
    return import_module(f"protocol.generated.{message.__module__.rpartition('.')[2]}")
