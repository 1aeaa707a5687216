"""The ways that links take: Unix sockets between the loops of one machine, TCP with mutual TLS between nodes (node_links.py)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from coordinator_server.config import Config
from coordinator_server.server.cluster.unix import Listening, MakeProtocol, Sockets
from coordinator_server.server.cluster.view import Endpoint
from coordinator_server.server.wire.incidents import Incidents

if TYPE_CHECKING:
    from coordinator_server.security.tls import ListenerTls

Accept = Callable[[int | None], asyncio.Protocol]
"""Returns the protocol of a connection from a loop or node, which is None if its first message is to say who it is."""


class LinkTransport(Protocol):
    """Connects this process with the other loops or nodes, for one purpose."""

    async def listen(self, accept: Accept, /) -> Listening:
        """Accept connections. Each gets its own protocol."""

    async def connect(self, to: int, protocol: MakeProtocol, at: Endpoint | None = None, /) -> None:
        """Connect to a loop or node: where the view has it, or ``at`` an address that the node has had.

        Raises OSError if it does not prove who it is, and ConnectionRefusedError if nothing listens there.
        """


class OtherNodes(NamedTuple):
    """This node, and how it knows the others: ``address_of`` returns where a node of the view listens for nodes, or None."""

    cluster_id: str
    node: int
    address_of: Callable[[int], Endpoint | None]


class NodeTransports(Protocol):
    """The links of a node to others."""

    @property
    def certificates(self) -> Mapping[str, ListenerTls]:
        """The TLS of the listener for nodes, by its name."""

    def purpose(self, name: str, /) -> LinkTransport:
        """Return the transport of links of one purpose."""

    async def listen(self) -> Endpoint:
        """Bind the listener for nodes, and accept connections. Return its address for them. Raises StartError."""

    def close(self) -> None:
        """Accept nothing more."""


MakeNodeLinks = Callable[[Config, OtherNodes, Incidents], NodeTransports]


class UnixLinks:
    """Unix sockets in the data directory: ``path_of`` returns that of a loop. The kernel says whose processes the peers are."""

    def __init__(self, sockets: Sockets, path_of: Callable[[int], Path], loop: int) -> None:
        self._sockets = sockets
        self._path_of = path_of
        self._loop = loop

    async def listen(self, accept: Accept, /) -> Listening:
        """Accept connections at this loop's path."""
        return await self._sockets.listen(self._path_of(self._loop), lambda: accept(None))

    async def connect(self, to: int, protocol: MakeProtocol, _at: Endpoint | None = None, /) -> None:
        """Connect to a loop. Raises OSError if it does not listen."""
        await self._sockets.connect(self._path_of(to), protocol)
