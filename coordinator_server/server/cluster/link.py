"""Messages between the processes of one server: length-prefixed MessagePack over a stream socket, in order, both ways.

A link ends when either side closes it or dies, and both hear of that. What a dead process had sent before is read first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar, cast

import msgspec

from protocol.errors import ProtocolError
from protocol.frames import FrameSplitter

# A batch of the catalog's log is the largest thing that is sent.
MAX_MESSAGE_BYTES: Final = 1 << 28

M = TypeVar("M")
_encode = msgspec.msgpack.Encoder().encode


def encode_message(message: object) -> bytes:
    """A message as it goes on the socket."""
    data = _encode(message)
    return len(data).to_bytes(4, "big") + data


class Link(asyncio.Protocol, Generic[M]):
    """One end. ``type_`` is what the other end sends; ``lost`` is called once, when nothing comes any more."""

    def __init__(self, type_: Any, received: Callable[[M], None], lost: Callable[[], None]) -> None:
        self._decode = msgspec.msgpack.Decoder(type_).decode
        self._received = received
        self._lost = lost
        self._frames = FrameSplitter(MAX_MESSAGE_BYTES)
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        try:
            for frame in self._frames.feed(data):
                self._received(self._decode(frame))
        except (ProtocolError, msgspec.MsgspecError):
            # Not one of us, or of another version: the other end hears of it as of a death.
            self.close()
            raise

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._lost()

    def send(self, message: object) -> None:
        """Send a message; to an end that is gone it goes nowhere."""
        if self._transport is not None:
            self._transport.write(encode_message(message))

    def close(self) -> None:
        """Hang up, without waiting for what the other end has not read."""
        if self._transport is not None:
            self._transport.abort()
