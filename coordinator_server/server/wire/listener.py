"""The listener: has the connections of a loop, writes their ready answers once per turn of the loop, and shuts down gracefully."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from coordinator_server.config import Config
from coordinator_server.machine.shard import Clock, CoordinatorResult, CoordinatorTimer
from coordinator_server.security.tls_reason import tls_reason
from coordinator_server.server.wire.acceptor import MakeAcceptor
from coordinator_server.server.wire.address_rates import AddressRates
from coordinator_server.server.wire.admission import Admission
from coordinator_server.server.wire.admission import Limits as ConnectionLimits
from coordinator_server.server.wire.background import Background
from coordinator_server.server.wire.connection import Connection, Dispatch, Limits
from coordinator_server.server.wire.incidents import Incidents
from coordinator_server.server.wire.receiving import Bounds, Receiving
from coordinator_server.server.wire.sampled_rate import client_windows
from coordinator_server.server.wire.turns import Turns
from protocol.messages.cluster_metadata import ClientQuotaRecord

if TYPE_CHECKING:
    # Only a server with TLS loads the package.
    from coordinator_server.security.tls import ListenerTls

DRAIN_SECONDS = 2.0
LONGEST_SWEEP_MS = 5_000
# The part of an idle time or deadline by which a connection may be closed late.
SWEEPS_PER_DEADLINE = 6
CONNECTIONS_PER_STEP = 2_000
_NO_TLS: Final = "closed: does the client know that this listener wants TLS? It needs security.protocol=SSL, or SASL_SSL"
_NO_TRUST: Final = "closed: does the client trust this certificate, and connect to a name that is in it?"
# What a failed handshake is a sign of, by OpenSSL's reason.
_HANDSHAKE_ADVICE: Final = {
    "HTTP_REQUEST": _NO_TLS,
    "WRONG_VERSION_NUMBER": _NO_TLS,
    "RECORD_LAYER_FAILURE": _NO_TLS,
    "SSLV3_ALERT_BAD_CERTIFICATE": _NO_TRUST,
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": _NO_TRUST,
    "TLSV1_ALERT_UNKNOWN_CA": _NO_TRUST,
}
_OTHER_HANDSHAKE_ADVICE: Final = "closed; a client without TLS, or one that does not trust the certificate, is refused like this"
STRANGERS_PART = 8
"""Divisor of ``queued.max.request.bytes``: the share of connections whose login is not complete."""


BeginLogin = Callable[[Connection], None]


class EntranceServices(NamedTuple):
    """What an address has that clients connect to: the listener's name, its TLS, and limits of its own, if it has some."""

    name: str = ""
    tls: ListenerTls | None = None
    limits: ConnectionLimits | None = None


class ListenerServices(NamedTuple):
    """What a listener uses besides its event loop. ``entrances`` has an item for each address that clients connect to."""

    clock: Clock
    timers: CoordinatorTimer
    make_acceptor: MakeAcceptor
    limits: ConnectionLimits
    incidents: Incidents
    entrances: Sequence[EntranceServices] = (EntranceServices(),)


class Entrance:
    """One of the addresses that clients connect to (an ``AcceptPolicy``)."""

    def __init__(self, listener: Listener, number: int, services: EntranceServices, own: Admission | None) -> None:
        self._listener = listener
        self._number = number
        self._name, self._tls, _ = services
        self._own = own

    @property
    def tls(self) -> ssl.SSLContext | None:
        """The TLS of a connection that is accepted now, or None."""
        return None if self._tls is None else self._tls.context

    def delay_ms(self) -> int:
        """Return the time until the next connection may be accepted; 0 for now."""
        own_ms = 0 if self._own is None else self._own.delay_ms()
        return max(own_ms, self._listener.delay_ms())

    def hold_ms(self, host: str) -> int:
        """Return for how long a new connection is held before it is closed; 0 if it is not refused for this reason."""
        return self._listener.hold_ms(host)

    def admit(self, host: str) -> Connection | None:
        """Return a new connection, or None if it is refused."""
        connection = self._listener.admit(host, self._own)
        if connection is not None:
            connection.listener = self._number
            begin_login = self._listener.logins.get(self._name)
            if begin_login is not None:
                begin_login(connection)
            elif self._tls is not None:
                connection.principal_of = self._tls.principal
        return connection

    def lost(self, connection: asyncio.Protocol, why: OSError) -> None:
        """The connection ended before it had a transport, perhaps in its TLS handshake."""
        self._listener.lost(connection, why)


class _Sweeps:
    """How often connections are looked at, and after how many sweeps one is stalled or idle; ``until_idle`` None: never."""

    def __init__(self, stalled_ms: int, idle_ms: int) -> None:
        shortest_ms = min(stalled_ms, idle_ms) if idle_ms >= 0 else stalled_ms
        self.every_ms = max(1, min(LONGEST_SWEEP_MS, shortest_ms // SWEEPS_PER_DEADLINE))
        self.until_stalled = -(-stalled_ms // self.every_ms)
        self.until_idle = -(-idle_ms // self.every_ms) if idle_ms >= 0 else None


class Listener:
    """The connections of one loop. Before the first one it needs ``serve``."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        config: Config,
        turns: Turns,
        background: Background,
        services: ListenerServices,
    ) -> None:
        self._loop = loop
        # The bound address of each entrance.
        self.addresses: list[tuple[str, int]] = []
        self._limits = Limits(config.socket_request_max_bytes, config.max_pending_requests_per_connection)
        # How the connections of a listener with SASL begin.
        self.logins: Mapping[str, BeginLogin] = {}
        self._dispatch: Dispatch
        self._turns = turns
        self._background = background
        self._timers = services.timers
        self.incidents = services.incidents
        self.acceptors = [
            services.make_acceptor(loop, Entrance(self, number, each, self._own_admission(each, services.clock)), self.incidents)
            for number, each in enumerate(services.entrances)
        ]
        self._admission = Admission(services.limits, self.incidents, services.clock.now_ms)
        self._addresses = AddressRates(client_windows(config), self.incidents, services.clock.now_ms)
        self._stalled_ms = config.socket_request_stalled_after_ms
        self._idle_ms = config.live.connections_max_idle_ms
        self._sweeps = _Sweeps(self._stalled_ms, self._idle_ms)
        self._receiving = Receiving(_bounds(config), self._sweeps.until_stalled, self.incidents)
        # The number of the sweep after which each was last used, in order of arrival.
        self._connections: dict[Connection, int] = {}
        self._hosts: dict[Connection, str] = {}
        # Those of entrances with limits of their own.
        self._limited: dict[Connection, Admission] = {}
        self._sweep = 0
        self._to_write: dict[Connection, None] = {}
        self._all_closed = asyncio.Event()

    def serve(self, dispatch: Dispatch, logins: Mapping[str, BeginLogin]) -> None:
        """Let ``dispatch`` run the requests of connections. Those of the listeners named in ``logins`` begin with a login."""
        self._dispatch, self.logins = dispatch, logins

    @property
    def dispatch(self) -> Dispatch:
        """What runs the requests of connections that are accepted now."""
        return self._dispatch

    def use(self, dispatch: Dispatch) -> None:
        """Let ``dispatch`` run the requests of all connections that the present one serves, and of later ones."""
        if dispatch is self._dispatch:
            return
        before, self._dispatch = self._dispatch, dispatch
        for connection in self._connections:
            if connection.dispatch is before:
                connection.dispatch_with(dispatch, self._limits.frame_bytes)

    def limit_addresses(self, quotas: Iterable[ClientQuotaRecord]) -> None:
        """Limit the rates of new connections by address."""
        self._addresses.use(quotas)

    @property
    def connections(self) -> Sequence[Connection]:
        """The open connections, in order of arrival."""
        return list(self._connections)

    def counts(self) -> tuple[int, int, int]:
        """Return the number of connections, of requests that are not answered, and of connections whose requests wait."""
        connections = self._connections
        return len(connections), sum(len(each.unanswered) for each in connections), sum(each.has_waiting for each in connections)

    def stop_reading(self) -> None:
        """Stop accepting and reading. Requests already read are still answered."""
        for acceptor in self.acceptors:
            acceptor.close()
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

    def limit(self, limits: ConnectionLimits) -> None:
        """Admit connections within other limits. Those that are open stay."""
        self._admission.limit(limits)

    def close_idle(self, idle_ms: int) -> None:
        """Close connections after ``idle_ms`` without a byte; never if it is negative.

        Time without a byte is counted from now on.
        """
        if idle_ms == self._idle_ms:
            return
        self._idle_ms = idle_ms
        self._sweeps = _Sweeps(self._stalled_ms, idle_ms)
        self._receiving.allow(self._sweeps.until_stalled)
        self._connections = dict.fromkeys(self._connections, self._sweep)

    # Called by the entrances

    def delay_ms(self) -> int:
        """Return the time until the next connection may be accepted; 0 for now."""
        return self._admission.delay_ms()

    def hold_ms(self, host: str) -> int:
        """Return for how long a new connection is held before it is closed; 0 if it is not refused for this reason."""
        hold_ms = self._addresses.hold_ms(host)
        if hold_ms:
            self._sweep_later()
        return hold_ms

    def admit(self, host: str, own: Admission | None = None) -> Connection | None:
        """Return a new connection, or None if it is refused. ``own`` has the connections of its entrance, if that limits them."""
        admissions = [self._admission] if own is None else [own, self._admission]
        for place, admission in enumerate(admissions):
            if not admission.admit(host):
                for before in admissions[:place]:
                    before.release(host)
                self._sweep_later()
                return None
        connection = Connection(self._dispatch, self._write_later, self._closed, self._limits, self._turns, self._background)
        connection.received, connection.report = self._receiving.received, self.incidents.report
        self._connections[connection] = self._sweep
        self._hosts[connection] = host
        if own is not None:
            self._limited[connection] = own
        self._sweep_later()
        return connection

    def lost(self, connection: asyncio.Protocol, why: OSError) -> None:
        """The connection ended before it had a transport, perhaps in its TLS handshake."""
        assert isinstance(connection, Connection)
        if isinstance(why, ssl.SSLError | ConnectionAbortedError):
            self.incidents.report(
                "tls-handshake-failed",
                peer=self._hosts[connection],
                why=tls_reason(why),
                action=_HANDSHAKE_ADVICE.get(getattr(why, "reason", ""), _OTHER_HANDSHAKE_ADVICE),
            )
        connection.connection_lost(None)

    # Internal

    def _own_admission(self, entrance: EntranceServices, clock: Clock) -> Admission | None:
        return None if entrance.limits is None else Admission(entrance.limits, self.incidents, clock.now_ms)

    def _closed(self, connection: Connection) -> None:
        del self._connections[connection]
        host = self._hosts.pop(connection)
        self._admission.release(host)
        own = self._limited.pop(connection, None)
        if own is not None:
            own.release(host)
        self._receiving.ended(connection)
        self._watch_the_last()

    def _watch_the_last(self) -> None:
        if not self._connections:
            self._all_closed.set()

    def _sweep_later(self) -> None:
        if not self._timers.is_scheduled(_SWEEP):
            self._timers.schedule(_SWEEP, self._sweeps.every_ms, self._sweep_all)

    def _sweep_all(self) -> CoordinatorResult[None]:
        """Close the connections that are idle, or stalled in the middle of a request."""
        self._sweep += 1
        self._receiving.sweep()
        self.incidents.episodes.review()
        self._look_at(list(self._connections))
        if self._connections or self.incidents.episodes:
            self._sweep_later()
        return CoordinatorResult(None)

    def _look_at(self, connections: Sequence[Connection]) -> None:
        """Close those that are idle, in steps."""
        for connection in connections[:CONNECTIONS_PER_STEP]:
            last_used = self._connections.get(connection)
            if last_used is None:
                continue
            if connection.was_used():
                self._connections[connection] = self._sweep
            elif self._sweeps.until_idle is not None and self._sweep - last_used > self._sweeps.until_idle:
                self.incidents.count("connection-idle")
                connection.abort()
        left = connections[CONNECTIONS_PER_STEP:]
        if left:
            self._turns.queue(partial(self._look_at, left))

    def _write_later(self, connection: Connection) -> None:
        if not self._to_write:
            self._loop.call_soon(self._write)
        self._to_write[connection] = None

    def _write(self) -> None:
        connections, self._to_write = self._to_write, {}
        for connection in connections:
            connection.write()


_SWEEP = "sweep"


def _bounds(config: Config) -> Bounds | None:
    """Return the bounds of bytes that are received and wait, or None. The largest request always fits."""
    if config.queued_max_request_bytes <= 0:
        return None
    most = max(config.queued_max_request_bytes, config.socket_request_max_bytes)
    return Bounds(most, max(most // STRANGERS_PART, config.access.sasl_server_max_receive_size))
