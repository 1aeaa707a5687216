"""Accepts connections from listening sockets: few per turn of the loop, and none while they must wait.

An event loop's own server accepts all that wait, and cannot be stopped for a while.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from coordinator_server.server.wire.incidents import Incidents
from coordinator_server.server.wire.ports import bind_port

# The queue of connections that are not accepted yet. If it is full, clients try again only after a second.
BACKLOG: Final = 4096
ACCEPTS_PER_TURN: Final = 32
# A TLS handshake takes at most this long.
HANDSHAKE_S: Final = 10.0
# Time for which nothing is accepted after the system refused a descriptor or memory.
OUT_OF_RESOURCES_S: Final = 1.0
# Connections above the rate of their address that are held before they are closed. More are closed at once.
MOST_HELD: Final = 100
# Errors of one connection, not of the listening socket (accept(2)): it ended before it was accepted.
_OF_CONNECTION: Final = frozenset(
    {errno.ECONNABORTED, errno.EINTR, errno.EPROTO, errno.ENETDOWN, errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EPERM}
)


class AcceptPolicy(Protocol):
    """Decides about connections."""

    @property
    def tls(self) -> ssl.SSLContext | None:
        """The TLS of a connection that is accepted now, or None."""

    def delay_ms(self) -> int:
        """Return the time until the next connection may be accepted; 0 for now."""

    def hold_ms(self, host: str) -> int:
        """Return for how long a new connection is held before it is closed; 0 if it is not refused for this reason."""

    def admit(self, host: str) -> asyncio.Protocol | None:
        """Return the protocol of a new connection, or None if it is refused."""

    def lost(self, protocol: asyncio.Protocol, why: OSError) -> None:
        """The connection ended before its protocol had a transport, perhaps in its TLS handshake."""


class Acceptor(Protocol):
    """Listening sockets."""

    async def bind(self, host: str, port: int) -> tuple[str, int]:
        """Bind without accepting connections yet. Return the bound address. Port 0 selects a free port. Raises OSError."""

    async def adopt(self, sockets: Sequence[socket.socket]) -> tuple[str, int]:
        """Use sockets that are bound, and stay open elsewhere.

        Clients that connect before ``start`` wait. Return the first address.
        """

    async def start(self) -> None:
        """Accept connections."""

    def close(self) -> None:
        """Stop accepting connections."""


MakeAcceptor = Callable[[asyncio.AbstractEventLoop, AcceptPolicy, Incidents], Acceptor]


class SocketAcceptor:
    """Real sockets on an event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, policy: AcceptPolicy, incidents: Incidents) -> None:
        self._loop = loop
        self._policy = policy
        self._incidents = incidents
        self._sockets: list[socket.socket] = []
        self._waiting: set[asyncio.TimerHandle] = set()
        self._connecting: set[asyncio.Task[None]] = set()
        self._held: dict[socket.socket, asyncio.TimerHandle] = {}
        self._is_closed = False

    async def bind(self, host: str, port: int) -> tuple[str, int]:
        """Bind without accepting connections yet. Return the bound address. Port 0 selects a free port. Raises OSError."""
        self._sockets += bind_port(host, port)
        return self._address()

    async def adopt(self, sockets: Sequence[socket.socket]) -> tuple[str, int]:
        """Use sockets that are bound, and stay open elsewhere.

        Clients that connect before ``start`` wait. Return the first address.
        """
        self._sockets += sockets
        return self._address()

    def _address(self) -> tuple[str, int]:
        address: tuple[str, int] = self._sockets[0].getsockname()[:2]
        return address

    async def start(self) -> None:
        """Accept connections."""
        for each in self._sockets:
            each.setblocking(False)
            each.listen(BACKLOG)
            self._loop.add_reader(each, self._accept, each)

    def close(self) -> None:
        """Stop accepting connections."""
        self._is_closed = True
        for handle in self._waiting:
            handle.cancel()
        for each in self._sockets:
            self._loop.remove_reader(each)
            each.close()
        for accepted, closing in self._held.items():
            closing.cancel()
            accepted.close()
        self._held.clear()
        for task in self._connecting:
            task.cancel()

    def _accept(self, listening: socket.socket) -> None:
        """Accept some of the connections that wait."""
        for _ in range(ACCEPTS_PER_TURN):
            delay_ms = self._policy.delay_ms()
            if delay_ms:
                self._rest(listening, delay_ms / 1000)
                return
            try:
                accepted, address = listening.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in _OF_CONNECTION:
                    continue
                self._incidents.report(
                    "connections-not-accepted",
                    why=error.strerror or str(error),
                    action=f"none is accepted for {OUT_OF_RESOURCES_S:g} s; raise the limit of open files of the system",
                )
                self._rest(listening, OUT_OF_RESOURCES_S)
                return
            hold_ms = self._policy.hold_ms(address[0])
            if hold_ms:
                self._hold(accepted, hold_ms / 1000)
                continue
            protocol = self._policy.admit(address[0])
            if protocol is None:
                accepted.close()
                continue
            task = self._loop.create_task(self._connect(accepted, protocol))
            self._connecting.add(task)
            task.add_done_callback(self._connecting.discard)

    def _hold(self, accepted: socket.socket, seconds: float) -> None:
        """Close a connection after some time, or now if too many are held."""
        if len(self._held) >= MOST_HELD:
            accepted.close()
            return

        def let_go() -> None:
            del self._held[accepted]
            accepted.close()

        self._held[accepted] = self._loop.call_later(seconds, let_go)

    def _rest(self, listening: socket.socket, seconds: float) -> None:
        """Accept nothing for some time."""
        self._loop.remove_reader(listening)

        def resume() -> None:
            self._waiting.discard(handle)
            self._loop.add_reader(listening, self._accept, listening)

        handle = self._loop.call_later(seconds, resume)
        self._waiting.add(handle)

    async def _connect(self, accepted: socket.socket, protocol: asyncio.Protocol) -> None:
        try:
            accepted.setblocking(False)
            # Detects a peer whose machine is gone even when nothing is written to it.
            accepted.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            tls = self._policy.tls
            timeout_s = None if tls is None else HANDSHAKE_S
            transport, _ = await self._loop.connect_accepted_socket(
                lambda: protocol, accepted, ssl=tls, ssl_handshake_timeout=timeout_s
            )
        except OSError as ended:
            accepted.close()
            self._policy.lost(protocol, ended)
            return
        if self._is_closed:
            transport.abort()
