"""A connection that speaks Kafka from a coroutine: one request at a time, and cut off at any moment."""

from __future__ import annotations

import asyncio
import struct
from typing import Self, TypeVar

from protocol.codec import decode, encode
from protocol.fields import Message
from tests.support.client import framed, request_header

M = TypeVar("M", bound=Message)

_LENGTH = struct.Struct(">i")


class Wire:
    """Opened by ``open``. A cancelled request leaves it of no use but to be cut."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client_id: str) -> None:
        self._reader, self._writer = reader, writer
        self._client_id = client_id
        self._correlation_id = 0

    @classmethod
    async def open(cls, address: tuple[str, int], client_id: str) -> Self:
        reader, writer = await asyncio.open_connection(*address)
        return cls(reader, writer, client_id)

    async def ask(self, request: Message, version: int, response: type[M]) -> M:
        """Send and wait; raises OSError or EOFError when the peer goes."""
        key, flexible = request.kafka.key, version in request.kafka.flexible
        assert key is not None
        self._correlation_id += 1
        header = request_header(key, version, self._correlation_id, self._client_id, flexible)
        self._writer.write(framed(header + encode(request, version)))
        (size,) = _LENGTH.unpack(await self._reader.readexactly(4))
        data = await self._reader.readexactly(size)
        assert _LENGTH.unpack_from(data)[0] == self._correlation_id, "answers out of order"
        return decode(response, version, data[5 if version in response.kafka.flexible else 4 :])

    def cut(self) -> None:
        """Close without a word: what is on its way is lost."""
        self._writer.transport.abort()
