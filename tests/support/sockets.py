"""Sockets between the loops of a server, in memory: what one end has written waits until a test lets it arrive."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from coordinator_server.server.cluster.unix import MakeProtocol


class End(asyncio.Transport):
    """One end of a connection. ``arrived`` has what the other end wrote, and whoever is here has not read."""

    def __init__(self, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self.protocol = protocol
        self.other: End
        self.arrived = bytearray()
        self.is_open = True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert self.is_open, "nobody writes to a connection that it has closed"
        self.other.arrived += data

    def read(self) -> None:
        """Read all that has arrived, unless it was closed meanwhile."""
        data = bytes(self.arrived)
        self.arrived.clear()
        if data and self.is_open:
            self.protocol.data_received(data)

    def abort(self) -> None:
        """Neither end hears anything more, not even what has been written."""
        if self.is_open:
            self.is_open = False
            asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)

    def close(self) -> None:
        self.abort()

    def lose(self) -> None:
        """Hear that the other end is gone."""
        self.read()
        self.abort()


class Listening:
    """Somebody who accepts connections."""

    def __init__(self, close: Callable[[], None]) -> None:
        self._close = close

    def close(self) -> None:
        self._close()


class MemorySockets:
    """All sockets of a server. ``connections`` are pairs, who connected first."""

    def __init__(self) -> None:
        self.connections: list[tuple[End, End]] = []
        self._listening: dict[Path, MakeProtocol] = {}

    async def listen(self, path: Path, protocol: MakeProtocol, /) -> Listening:
        self._listening[path] = protocol
        return Listening(lambda: self._listening.pop(path, None) and None)

    async def connect(self, path: Path, protocol: MakeProtocol, /) -> None:
        if path not in self._listening:
            raise ConnectionRefusedError(path.name)
        here, there = End(protocol()), End(self._listening[path]())
        here.other, there.other = there, here
        self.connections.append((here, there))
        there.protocol.connection_made(there)
        here.protocol.connection_made(here)

    def carry(self) -> None:
        """Let everything arrive that has been written, and everything that is written because of it."""
        while any(end.arrived and end.is_open for pair in self.connections for end in pair):
            for pair in self.connections:
                for end in pair:
                    end.read()
