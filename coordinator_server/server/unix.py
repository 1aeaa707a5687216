"""Unix sockets in the data directory, accessible only to the server's user.

The path of a Unix socket is limited to about 100 bytes, so the directory is accessed through its file descriptor.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

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
            return _UnixListening(await asyncio.get_running_loop().create_unix_server(protocol, short), path)

    async def connect(self, path: Path, protocol: MakeProtocol, /) -> None:
        """Connect to the listener at ``path``. Raises OSError if there is none."""
        with short_path(path) as short:
            await asyncio.get_running_loop().create_unix_connection(protocol, short)


class _UnixListening:
    def __init__(self, server: asyncio.Server, path: Path) -> None:
        self._server = server
        self._path = path

    def close(self) -> None:
        self._server.close()
        self._path.unlink(missing_ok=True)
