"""The listener for other nodes, as ``inter.node.listener.name`` gives it: TCP with mutual TLS (node_links.py)."""

from __future__ import annotations

import asyncio

from coordinator_server.config import Config
from coordinator_server.config.listeners import ListenerSpec, node_listener
from coordinator_server.security.tls import ListenerTls
from coordinator_server.security.tls_settings import TlsSettings
from coordinator_server.server.cluster.link_transport import OtherNodes
from coordinator_server.server.cluster.node_links import NodeLinks, PurposeLinks
from coordinator_server.server.cluster.view import Endpoint
from coordinator_server.server.errors import StartError
from coordinator_server.server.wire.acceptor import SocketAcceptor
from coordinator_server.server.wire.incidents import Incidents
from coordinator_server.server.wire.ports import listen_problem


class NodeListener:
    """The listener of a node, and its links to others: NodeTransports."""

    def __init__(self, spec: ListenerSpec, tls: ListenerTls, others: OtherNodes, incidents: Incidents) -> None:
        self._spec = spec
        self.certificates = {spec.name: tls}
        self._links = NodeLinks(others, tls, incidents)
        self._acceptor = SocketAcceptor(asyncio.get_running_loop(), self._links, incidents)

    def purpose(self, name: str, /) -> PurposeLinks:
        """Return the transport of links of one purpose."""
        return self._links.purpose(name)

    async def listen(self) -> Endpoint:
        """Bind the listener, and accept connections. Return its address for other nodes. Raises StartError."""
        spec = self._spec
        try:
            bound = await self._acceptor.bind(spec.host, spec.port)
        except OSError as refused:
            raise StartError(listen_problem(spec.host, spec.port, refused)) from None
        await self._acceptor.start()
        return Endpoint(*(spec.advertised or bound))

    def close(self) -> None:
        """Accept nothing more."""
        self._acceptor.close()
        self._links.close()


def open_node_listener(config: Config, others: OtherNodes, incidents: Incidents) -> NodeListener:
    """Open the links that the properties describe. Raises ConfigError."""
    spec = node_listener(config)
    return NodeListener(spec, ListenerTls(TlsSettings.of(config, spec.name), is_for_nodes=True), others, incidents)
