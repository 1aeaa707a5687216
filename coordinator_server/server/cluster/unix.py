"""Unix sockets in the data directory, accessible only to the server's user and to root.

The permissions of the sockets say so, and the kernel is asked who a peer is (SO_PEERCRED): a directory that was made readable to
others, or a socket that was passed on, lets no one else in.

The path of a Unix socket is limited to about 100 bytes, so the directory is accessed through its file descriptor.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from struct import Struct
from typing import Final, NamedTuple, Protocol, cast

import structlog

log = structlog.get_logger(__name__)

# struct ucred
_CREDENTIALS: Final = Struct("3i")
_ROOT: Final = 0

MakeProtocol = Callable[[], asyncio.Protocol]


@contextlib.contextmanager
def short_path(path: Path) -> Iterator[str]:
    """Yield an alias of ``path`` that is short enough to bind or connect to. It is valid within the context."""
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{directory}/{path.name}"
    finally:
        os.close(directory)


@contextlib.contextmanager
def place_for_socket(path: Path) -> Iterator[str]:
    """Yield a path to bind to. An existing socket is removed: the directory is locked, so its process is dead."""
    path.unlink(missing_ok=True)
    with short_path(path) as short:
        before = os.umask(0o177)
        try:
            yield short
        finally:
            os.umask(before)


class Peer(NamedTuple):
    """The process that connected to a socket, or that listens on it."""

    pid: int
    uid: int

    @property
    def is_trusted(self) -> bool:
        """Whether it belongs to the server's user, or to root."""
        return self.uid in (os.geteuid(), _ROOT)


def peer_of(transport: asyncio.BaseTransport) -> Peer:
    """Return the process at the other end of a Unix socket, as the kernel knew it when the connection was made."""
    connected = transport.get_extra_info("socket")
    pid, uid, _ = _CREDENTIALS.unpack(connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return Peer(pid, uid)


def admit_peer(transport: asyncio.BaseTransport, name: str) -> Peer | None:
    """Return the process at the other end of the socket ``name``, or None if it is not trusted, which is logged."""
    peer = peer_of(transport)
    if peer.is_trusted:
        return peer
    log.warning("peer-refused", socket=name, pid=peer.pid, uid=peer.uid, why="only the server's user and root may connect")
    return None


class Listening(Protocol):
    """A listening socket."""

    def close(self) -> None:
        """Stop accepting connections and remove the socket file."""


class Sockets(Protocol):
    """The connections between the processes of a server."""

    async def listen(self, path: Path, protocol: MakeProtocol, /) -> Listening:
        """Accept connections at ``path``. Each gets its own protocol."""

    async def connect(self, path: Path, protocol: MakeProtocol, /) -> None:
        """Connect to the listener at ``path``. Raises OSError if there is none."""


class UnixSockets:
    """Real Unix sockets on the running event loop."""

    async def listen(self, path: Path, protocol: MakeProtocol, /) -> Listening:
        """Accept connections of the server's user."""
        with place_for_socket(path) as short:
            loop = asyncio.get_running_loop()
            return _UnixListening(await loop.create_unix_server(lambda: _Doorkeeper(protocol, path.name), short), path)

    async def connect(self, path: Path, protocol: MakeProtocol, /) -> None:
        """Connect to the listener at ``path``. Raises OSError if there is none."""
        with short_path(path) as short:
            loop = asyncio.get_running_loop()
            _, doorkeeper = await loop.create_unix_connection(lambda: _Doorkeeper(protocol, path.name), short)
        if doorkeeper.admitted is None:
            raise PermissionError(f"{path} is not a socket of this server")


class _UnixListening:
    def __init__(self, server: asyncio.Server, path: Path) -> None:
        self._server = server
        self._path = path

    def close(self) -> None:
        self._server.close()
        self._path.unlink(missing_ok=True)


class _Doorkeeper(asyncio.Protocol):
    """Gives a connection to the protocol that ``make`` returns if its peer is trusted, and closes it otherwise."""

    def __init__(self, make: MakeProtocol, name: str) -> None:
        self._make = make
        self._name = name
        self.admitted: asyncio.Protocol | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # An event loop's own transports may not inherit from asyncio.Transport.
        connection = cast(asyncio.Transport, transport)
        if admit_peer(connection, self._name) is None:
            connection.abort()
            return
        protocol = self.admitted = self._make()
        connection.set_protocol(protocol)
        protocol.connection_made(connection)
