"""The listener: accepts connections, writes their ready answers once per turn of the loop, and shuts down gracefully."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence

import structlog

from coordinator_server.config import Config
from coordinator_server.server.background import Background
from coordinator_server.server.connection import Connection, Dispatch, Limits
from coordinator_server.server.turns import Turns

log = structlog.get_logger(__name__)

BACKLOG = 1024
DRAIN_SECONDS = 2.0


class Listener:
    """Listening sockets and their connections."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, config: Config, dispatch: Dispatch, turns: Turns, background: Background
    ) -> None:
        self._loop = loop
        self._limits = Limits(config.socket_request_max_bytes, config.max_pending_requests_per_connection)
        self._dispatch = dispatch
        self._turns = turns
        self._background = background
        # In order of arrival.
        self._connections: dict[Connection, None] = {}
        self._to_write: dict[Connection, None] = {}
        self._servers: list[asyncio.Server] = []
        self._all_closed = asyncio.Event()

    async def bind(self, host: str, port: int) -> tuple[str, int]:
        """Bind without accepting connections yet. Return the bound address. Port 0 selects a free port. Raises OSError."""
        server = await self._loop.create_server(
            self._connection, host, port, backlog=BACKLOG, start_serving=False, family=socket.AF_UNSPEC
        )
        self._servers.append(server)
        address: tuple[str, int] = server.sockets[0].getsockname()[:2]
        return address

    async def adopt(self, sockets: Sequence[socket.socket]) -> None:
        """Use sockets that the supervisor has bound and keeps open. Clients that connect before ``start`` wait."""
        for each in sockets:
            server = await self._loop.create_server(self._connection, sock=each, backlog=BACKLOG, start_serving=False)
            self._servers.append(server)

    async def start(self) -> None:
        """Accept connections."""
        for server in self._servers:
            await server.start_serving()

    def stop_reading(self) -> None:
        """Stop accepting and reading. Requests already read are still answered."""
        for server in self._servers:
            server.close()
        for connection in self._connections:
            connection.stop_reading()

    async def hang_up(self) -> None:
        """Write the ready answers and close all connections. Abort those that remain after DRAIN_SECONDS."""
        for connection in list(self._connections):
            connection.close()
        self._watch_the_last()
        try:
            await asyncio.wait_for(self._all_closed.wait(), DRAIN_SECONDS)
        except TimeoutError:
            for connection in list(self._connections):
                connection.abort()

    def _connection(self) -> Connection:
        connection = Connection(self._dispatch, self._write_later, self._closed, self._limits, self._turns, self._background)
        self._connections[connection] = None
        return connection

    def _closed(self, connection: Connection) -> None:
        self._connections.pop(connection, None)
        self._watch_the_last()

    def _watch_the_last(self) -> None:
        if not self._connections:
            self._all_closed.set()

    def _write_later(self, connection: Connection) -> None:
        if not self._to_write:
            self._loop.call_soon(self._write)
        self._to_write[connection] = None

    def _write(self) -> None:
        connections, self._to_write = self._to_write, {}
        for connection in connections:
            connection.write()
