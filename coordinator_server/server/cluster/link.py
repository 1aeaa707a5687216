"""Messages between the processes of a server or cluster: length-prefixed MessagePack over a stream socket, in order, both ways.

A link ends when either side closes it or dies, and both sides are notified. Messages that a process sent before its death are
received first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar, cast

import msgspec

from protocol.errors import ProtocolError
from protocol.frames import FrameSplitter

# The largest message is a batch of the catalog's log.
MAX_MESSAGE_BYTES: Final = 1 << 28

M = TypeVar("M")
_encode = msgspec.msgpack.Encoder().encode


def encode_message(message: object) -> bytes:
    """Return an encoded message with its length prefix."""
    data = _encode(message)
    return len(data).to_bytes(4, "big") + data


class Link(asyncio.Protocol, Generic[M]):
    """One end of a link. ``type_`` is the type of messages from the other end. ``lost`` is called once, when the link ends."""

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
            # A foreign process or a different version: close the link, which the other end handles like a death.
            self.close()
            raise

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._lost()

    def send(self, message: object) -> None:
        """Send a message. It is discarded if the link has ended."""
        if self._transport is not None:
            self._transport.write(encode_message(message))

    def finish(self) -> None:
        """Close the link when all messages are sent."""
        if self._transport is not None:
            self._transport.close()

    def close(self) -> None:
        """Close the link at once, discarding unsent messages."""
        if self._transport is not None:
            self._transport.abort()
