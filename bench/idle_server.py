"""A uvloop server that does nothing: cuts the input into frames and answers each with the same bytes.
The limit for a server in Python.

    python -m bench.idle_server ANSWER_HEX

prints its port when it listens.
"""

from __future__ import annotations

import asyncio
import struct
import sys
from typing import cast

import uvloop

_LENGTH = struct.Struct(">i")


class IdleConnection(asyncio.Protocol):
    """Length, correlation id, the given answer."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self._length = _LENGTH.pack(4 + len(answer))
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's are not its subclasses

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer + data if self._buffer else data
        position, size = 0, len(buffer)
        out: list[bytes] = []
        while size - position >= 4:
            end = position + 4 + _LENGTH.unpack_from(buffer, position)[0]
            if end > size:
                break
            out += (self._length, buffer[position + 8 : position + 12], self._answer)
            position = end
        self._buffer = buffer[position:]
        if out and self._transport is not None:
            self._transport.write(b"".join(out))


async def serve(answer: bytes) -> None:
    server = await asyncio.get_running_loop().create_server(lambda: IdleConnection(answer), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(bytes.fromhex(sys.argv[1])))
