"""Unix sockets in the data directory: for the server's user alone, and however deep the directory is.

A Unix socket's path is short; a directory that is too deep is reached through a descriptor of it.
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
    """A path that leads to ``path`` while this lasts, short enough to bind or connect to."""
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{directory}/{path.name}"
    finally:
        os.close(directory)


@contextlib.contextmanager
def place_for_socket(path: Path) -> Iterator[str]:
    """A path to bind to. The data directory's lock is held, so a socket that is there is a dead process's."""
    path.unlink(missing_ok=True)
    with short_path(path) as short:
        before = os.umask(0o177)
        try:
            yield short
        finally:
            os.umask(before)


class Listening(Protocol):
    """A socket that others may connect to."""

    def close(self) -> None:
        """Accept nobody any more, and leave no file."""


class Sockets(Protocol):
    """How the processes of a server reach each other."""

    async def listen(self, path: Path, protocol: MakeProtocol, /) -> Listening:
        """Accept connections; each gets a protocol."""

    async def connect(self, path: Path, protocol: MakeProtocol, /) -> None:
        """Connect to whoever listens there. OSError when nobody does."""


class UnixSockets:
    """The real ones, on the loop that runs."""

    async def listen(self, path: Path, protocol: MakeProtocol, /) -> Listening:
        """Accept connections, of the server's user."""
        with place_for_socket(path) as short:
            return _UnixListening(await asyncio.get_running_loop().create_unix_server(protocol, short), path)

    async def connect(self, path: Path, protocol: MakeProtocol, /) -> None:
        """Connect to whoever listens there."""
        with short_path(path) as short:
            await asyncio.get_running_loop().create_unix_connection(protocol, short)


class _UnixListening:
    def __init__(self, server: asyncio.Server, path: Path) -> None:
        self._server = server
        self._path = path

    def close(self) -> None:
        self._server.close()
        self._path.unlink(missing_ok=True)
