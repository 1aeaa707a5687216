"""Links between nodes: TCP with TLS, in which both sides show a certificate that the other side's trust store vouches for.

    node 1                                    node 2
    connect, TLS ───────────────────────────► a certificate is required
    its certificate names the view's host of 2?
    Greeting(cluster, from 1, to 2, catalog) ► its certificate names the view's host of 1?
                                              same cluster, to itself, a purpose that is served: the link begins

A node that has just joined may be in the rows before the other one has read them, and a node owns the catalog before it serves it.
So a greeting waits for EARLY_S at most, for the view to have its node and for its purpose to be served.

A certificate names the host at which other nodes reach its node, and so proves the node's id: the view says which host an id has.
Nothing but a greeting of at most GREETING_BYTES is read before that. What is wrong is refused, counted as an incident
(``node-link-refused``, ``tls-handshake-failed``) and logged.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import ssl
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, Protocol, cast

import msgspec
from msgspec import Struct

from coordinator_server.security.tls_reason import tls_reason
from coordinator_server.server.cluster.link import encode_message
from coordinator_server.server.cluster.link_transport import Accept, OtherNodes
from coordinator_server.server.cluster.unix import MakeProtocol
from coordinator_server.server.cluster.view import Endpoint
from coordinator_server.server.wire.incidents import Incidents

GREETING_BYTES: Final = 1024
# A TLS handshake takes at most this long, and so does the greeting after it.
GREETING_S: Final = 10.0
# Maximum number of connections that have not greeted, or wait after that. More are closed at once.
MOST_STRANGERS: Final = 64
EARLY_S: Final = 2.0
# What a node sends after its greeting, before that is answered, is a message or two.
MOST_EARLY_BYTES: Final = 1 << 16

_LENGTH_BYTES: Final = 4
_LOOK_AGAIN_S: Final = 0.02


class Greeting(Struct, tag=True, frozen=True):
    """The first message on a connection between nodes."""

    cluster_id: str
    node: int
    to: int
    purpose: str


class LinkTls(Protocol):
    """The TLS of the listener for nodes. Both contexts may be different ones after a reload."""

    @property
    def context(self) -> ssl.SSLContext:
        """That of accepted connections. It requires a certificate."""

    @property
    def connecting(self) -> ssl.SSLContext:
        """That of connections to other nodes, with the same key and trust."""


class NodeLinks:
    """The connections between this node and the others: an AcceptPolicy of the listener for nodes, and what connects to others."""

    def __init__(self, others: OtherNodes, tls: LinkTls, incidents: Incidents) -> None:
        self._others = others
        self._tls = tls
        self._incidents = incidents
        self._names: set[str] = set()
        # Those that are served now.
        self._purposes: dict[str, Accept] = {}
        # Dicts, so that iteration has a fixed order.
        self._strangers: dict[_Stranger, None] = {}

    def purpose(self, name: str) -> PurposeLinks:
        """Return the transport of links of one purpose."""
        self._names.add(name)
        return PurposeLinks(self, name)

    def close(self) -> None:
        """Close the connections that are no links yet."""
        for stranger in list(self._strangers):
            stranger.close()

    # AcceptPolicy.

    @property
    def tls(self) -> ssl.SSLContext:
        """The TLS of a connection that is accepted now."""
        return self._tls.context

    def delay_ms(self) -> int:
        """Return 0: nodes are few."""
        return 0

    def hold_ms(self, host: str) -> int:
        """Return 0: no peer is held."""
        return 0

    def admit(self, host: str) -> asyncio.Protocol | None:
        """Return the protocol that waits for a greeting, or None if too many wait."""
        if len(self._strangers) >= MOST_STRANGERS:
            self._refuse(
                host, f"{MOST_STRANGERS} connections have not said yet who they are", "look who connects to this listener"
            )
            return None
        stranger = _Stranger(host, self._greeted, self._refuse, self._forget)
        self._strangers[stranger] = None
        return stranger

    def lost(self, protocol: asyncio.Protocol, why: OSError) -> None:
        """The connection ended in its TLS handshake."""
        assert isinstance(protocol, _Stranger)
        self._forget(protocol)
        if not isinstance(why, ssl.SSLError | ConnectionAbortedError):
            return
        self._incidents.report(
            "tls-handshake-failed",
            peer=protocol.host,
            why=tls_reason(why),
            action="closed; a node shows a certificate that is trusted here",
        )

    # What purposes call.

    def serve(self, purpose: str, accept: Accept) -> None:
        """Give connections of a purpose to a protocol."""
        self._purposes[purpose] = accept

    def end(self, purpose: str) -> None:
        """Accept no more connections of a purpose."""
        self._purposes.pop(purpose, None)

    async def connect(self, to: int, purpose: str, protocol: MakeProtocol, at: Endpoint | None = None) -> None:
        """Connect to a node and greet it, ``at`` an address or where the view has it. Raises OSError, as ssl.SSLError is one."""
        address = at or self._others.address_of(to)
        if address is None:
            raise ConnectionRefusedError(f"the view has no address of node {to}")
        greeting = Greeting(self._others.cluster_id, self._others.node, to, purpose)
        with self._refused_by(to, address):
            await asyncio.get_running_loop().create_connection(
                lambda: _Greeter(encode_message(greeting), protocol),
                address.host,
                address.port,
                ssl=self._tls.connecting,
                ssl_handshake_timeout=GREETING_S,
            )

    # Internal.

    @contextlib.contextmanager
    def _refused_by(self, to: int, address: Endpoint) -> Iterator[None]:
        try:
            yield
        except ssl.SSLError as failed:
            reason = failed.verify_message if isinstance(failed, ssl.SSLCertVerificationError) else failed.reason or str(failed)
            self._refuse(
                str(address), f"node {to}: {reason}", "its certificate must name its host, and its authority be trusted here"
            )
            raise

    def _greeted(self, greeting: Greeting, names: CertificateNames) -> asyncio.Protocol | _Early | str:
        """Return the protocol of a link, or why it is refused, if it is not only early."""
        others, address = self._others, self._others.address_of(greeting.node)
        if greeting.cluster_id != others.cluster_id:
            return f"it is of the cluster {greeting.cluster_id[:64]!r}"
        if greeting.to != others.node:
            return f"it looks for node {greeting.to}, and this is node {others.node}"
        if greeting.node == others.node:
            return "it says that it is this node"
        if address is None:
            return _Early(f"it says that it is node {greeting.node}, which the view does not have")
        if not names.include(address.host):
            return f"its certificate does not name {address.host}, the host of node {greeting.node}"
        accept = self._purposes.get(greeting.purpose)
        if accept is not None:
            return accept(greeting.node)
        return _Early(None) if greeting.purpose in self._names else f"links for {greeting.purpose[:64]!r} are not served"

    def _refuse(self, host: str, why: str, action: str) -> None:
        self._incidents.report("node-link-refused", peer=host, why=why, action=action)

    def _forget(self, stranger: _Stranger) -> None:
        self._strangers.pop(stranger, None)


class PurposeLinks:
    """The links of one purpose: a LinkTransport."""

    def __init__(self, links: NodeLinks, purpose: str) -> None:
        self._links = links
        self._purpose = purpose

    async def listen(self, accept: Accept, /) -> PurposeLinks:
        """Accept links of this purpose from the listener for nodes."""
        self._links.serve(self._purpose, accept)
        return self

    async def connect(self, to: int, protocol: MakeProtocol, at: Endpoint | None = None, /) -> None:
        """Connect to a node. Raises OSError if it does not prove who it is, ConnectionRefusedError if nothing listens."""
        await self._links.connect(to, self._purpose, protocol, at)

    def close(self) -> None:
        """Accept no more links of this purpose."""
        self._links.end(self._purpose)


class CertificateNames(NamedTuple):
    """The hosts that a certificate is for: its subject alternative names."""

    hosts: frozenset[str]
    addresses: frozenset[str]

    @classmethod
    def of(cls, certificate: Mapping[str, Any]) -> CertificateNames:
        """Return those of a certificate as ``getpeercert`` describes it."""
        names = [(kind, str(name)) for kind, name in certificate.get("subjectAltName", ())]
        return cls(
            frozenset(name.lower() for kind, name in names if kind == "DNS"),
            frozenset(ipaddress.ip_address(name).compressed for kind, name in names if kind == "IP Address"),
        )

    def include(self, host: str) -> bool:
        """Return whether the certificate is for a host. A name may have ``*`` for its first label (RFC 6125)."""
        try:
            return ipaddress.ip_address(host).compressed in self.addresses
        except ValueError:
            name = host.lower().removesuffix(".")
        return name in self.hosts or ("." in name and f"*.{name.partition('.')[2]}" in self.hosts)


class _Early(NamedTuple):
    """A greeting that may be answered soon. ``why`` is what is wrong if it cannot be; None: nothing is."""

    why: str | None


Greeted = Callable[[Greeting, CertificateNames], "asyncio.Protocol | _Early | str"]


class _Stranger(asyncio.Protocol):
    """An accepted connection until its greeting is answered. Then it gets the protocol of its purpose, or is closed."""

    def __init__(
        self, host: str, greeted: Greeted, refuse: Callable[[str, str, str], None], forget: Callable[[_Stranger], None]
    ) -> None:
        self.host = host
        self._greeted = greeted
        self._refuse = refuse
        self._forget = forget
        self._received = b""
        self._transport: asyncio.Transport | None = None
        # Whether it has, and until when that may wait for an answer.
        self._has_greeted = False
        self._early_until_s = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # An event loop's own transports may not inherit from asyncio.Transport.
        self._transport = cast(asyncio.Transport, transport)
        self._timer = asyncio.get_running_loop().call_later(GREETING_S, self._end, f"it has not greeted within {GREETING_S:g} s")

    def data_received(self, data: bytes) -> None:
        received = self._received = self._received + data
        if self._has_greeted:
            if len(received) > MOST_EARLY_BYTES:
                self._end(f"it has sent {MOST_EARLY_BYTES:,} bytes, and its greeting is not answered")
            return
        end = _LENGTH_BYTES + int.from_bytes(received[:_LENGTH_BYTES], "big")
        if end > _LENGTH_BYTES + GREETING_BYTES:
            self._end("its first message is no greeting: it is too large")
            return
        if len(received) < max(end, _LENGTH_BYTES):
            return
        try:
            greeting = msgspec.msgpack.decode(received[_LENGTH_BYTES:end], type=Greeting)
        except msgspec.MsgspecError as wrong:
            self._end(f"its first message is no greeting: {wrong}")
            return
        self._has_greeted = True
        self._early_until_s = asyncio.get_running_loop().time() + EARLY_S
        self._answer(greeting, end)

    def _answer(self, greeting: Greeting, end: int) -> None:
        """Begin the link, wait, or refuse it."""
        transport, loop = self._transport, asyncio.get_running_loop()
        assert transport is not None
        certificate = transport.get_extra_info("ssl_object").getpeercert()
        protocol = self._greeted(greeting, CertificateNames.of(certificate))
        self._stop_timer()
        if isinstance(protocol, _Early):
            if loop.time() < self._early_until_s:
                self._timer = loop.call_later(_LOOK_AGAIN_S, self._answer, greeting, end)
            elif protocol.why is not None:
                self._end(protocol.why)
            else:
                self._leave()
                self.close()
        elif isinstance(protocol, str):
            self._end(protocol)
        else:
            self._leave()
            transport.set_protocol(protocol)
            protocol.connection_made(transport)
            if len(self._received) > end:
                protocol.data_received(self._received[end:])

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.abort()

    def _end(self, why: str) -> None:
        self._refuse(self.host, why, "closed: look at inter.node.listener.name and the certificate of that node")
        self._leave()
        self.close()

    def _leave(self) -> None:
        self._stop_timer()
        self._forget(self)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


class _Greeter(asyncio.Protocol):
    """A connection to another node. It greets, and gets the protocol of the link."""

    def __init__(self, greeting: bytes, make: MakeProtocol) -> None:
        self._greeting = greeting
        self._make = make

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        connection = cast(asyncio.Transport, transport)
        connection.write(self._greeting)
        protocol = self._make()
        connection.set_protocol(protocol)
        protocol.connection_made(connection)
