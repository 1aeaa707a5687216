"""Accepts connections, writes what became answerable once per turn of the loop, and stops in an orderly way."""

from __future__ import annotations

import asyncio
import socket

import structlog

from coordinator_server.config import Config
from coordinator_server.server.connection import Connection, Dispatch

log = structlog.get_logger(__name__)

BACKLOG = 1024
DRAIN_SECONDS = 2.0


class Listener:
    """One listening socket and its connections."""

    def __init__(self, loop: asyncio.AbstractEventLoop, config: Config, dispatch: Dispatch) -> None:
        self._loop = loop
        self._config = config
        self._dispatch = dispatch
        self._connections: set[Connection] = set()
        self._to_write: dict[Connection, None] = {}
        self._server: asyncio.Server | None = None

    async def bind(self, host: str, port: int) -> tuple[str, int]:
        """Bind without accepting yet; port 0 picks a free one. Returns the real address. Raises OSError."""
        self._server = await self._loop.create_server(
            self._connection, host, port, backlog=BACKLOG, start_serving=False, family=socket.AF_UNSPEC
        )
        address: tuple[str, int] = self._server.sockets[0].getsockname()[:2]
        return address

    async def start(self) -> None:
        """Accept connections."""
        assert self._server is not None
        await self._server.start_serving()

    async def stop(self) -> None:
        """Accept no more, give what is owed a moment to leave, and hang up."""
        if self._server is not None:
            self._server.close()
        deadline = self._loop.time() + DRAIN_SECONDS
        while self._loop.time() < deadline and any(not connection.is_idle for connection in self._connections):
            await asyncio.sleep(0.01)
        for connection in list(self._connections):
            connection.close()
        # Closing connections tell us in the next turns; nobody waits longer than the drain for a peer that does not read.
        while self._loop.time() < deadline and self._connections:
            await asyncio.sleep(0.01)

    def _connection(self) -> Connection:
        config = self._config
        connection = Connection(
            self._dispatch,
            self._write_later,
            self._connections.discard,
            config.socket_request_max_bytes,
            config.max_pending_requests_per_connection,
        )
        self._connections.add(connection)
        return connection

    def _write_later(self, connection: Connection) -> None:
        if not self._to_write:
            self._loop.call_soon(self._write)
        self._to_write[connection] = None

    def _write(self) -> None:
        connections, self._to_write = self._to_write, {}
        for connection in connections:
            connection.write()
