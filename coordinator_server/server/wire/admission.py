"""Which connections are accepted, and when (Kafka's ``ConnectionQuotas``).

A connection over ``max.connections``, or over the limit of its address, is refused: it is closed at once. Kafka leaves connections
over ``max.connections`` in the queue of the socket, where clients wait for an answer until their own timeout. The limit is never
higher than the system's limit of open files, less those that the log needs.

The creation rate is Kafka's: an average over ten seconds. At a higher rate the next connection is accepted later,
at most by a second.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from coordinator_server.config import Config
from coordinator_server.config.description import UNLIMITED
from coordinator_server.config.listener_settings import PREFIX, setting_of
from coordinator_server.config.values import connection_overrides
from coordinator_server.server.errors import StartError
from coordinator_server.server.wire.incidents import Incidents

RATE_WINDOW_S: Final = 10
LONGEST_DELAY_MS: Final = 1_000
# Descriptors besides those of shards: journal, sockets, tools, files that are read.
_FILES_OF_LOOP: Final = 256
# The active segment, a segment that is sealed or read, and the files of a layer.
_FILES_PER_SHARD: Final = 4


class Limits(NamedTuple):
    """The most connections in all, of one address, and per second. ``overrides`` has addresses with a limit of their own."""

    connections: int = UNLIMITED
    per_ip: int = UNLIMITED
    overrides: Mapping[str, int] = {}
    rate: int = UNLIMITED
    # The property or the system's limit behind ``connections``, and the property behind ``rate``, for log lines.
    reason: str = "max.connections"
    rate_property: str = "max.connection.creation.rate"


def connection_limits(config: Config, open_files: int, shards: int) -> Limits:
    """Return the limits of a loop that may have ``open_files`` descriptors, and owns a number of shards. Raises StartError."""
    for_log = min(_FILES_OF_LOOP + _FILES_PER_SHARD * shards, open_files // 2)
    connections, reason = config.live.max_connections, "max.connections"
    if open_files - for_log < connections:
        connections, reason = open_files - for_log, "the limit of open files (ulimit -n), less those of the log"
    overrides = {_address(host): most for host, most in connection_overrides(config).items()}
    return Limits(connections, config.live.max_connections_per_ip, overrides, config.live.max_connection_creation_rate, reason)


def limits_of_listener(config: Config, listener: str) -> Limits | None:
    """Return the limits that a listener has for itself (KIP-612), or None if it has none. They count beside those of the loop."""
    names = ("max.connections", "max.connection.creation.rate")
    own = [f"{listener}.{name}".lower() for name in names]
    if config.live.listener_name.keys().isdisjoint(own):
        return None
    connections, rate = (setting_of(config, listener, name) for name in names)
    assert isinstance(connections, int)
    assert isinstance(rate, int)
    return Limits(connections, rate=rate, reason=PREFIX + own[0], rate_property=PREFIX + own[1])


class Admission:
    """The connections of one loop: how many there are, and whether one more is accepted."""

    def __init__(self, limits: Limits, incidents: Incidents, now_ms: Callable[[], int]) -> None:
        self.connections = 0
        self._incidents = incidents
        self._now_ms = now_ms
        self._by_host: dict[str, int] = {}
        self.limit(limits)

    def limit(self, limits: Limits) -> None:
        """Use other limits from now on. The rate begins anew."""
        self._limits = limits
        # Connections that may be accepted without a delay, in thousandths, as of ``_filled_ms``.
        self._credit = self._most_credit = 1000 * limits.rate * RATE_WINDOW_S
        self._filled_ms = self._now_ms()

    def delay_ms(self) -> int:
        """Return the time until the next connection may be accepted; 0 for now."""
        limits = self._limits
        if limits.rate == UNLIMITED:
            return 0
        now = self._now_ms()
        self._credit = min(self._most_credit, self._credit + (now - self._filled_ms) * limits.rate)
        self._filled_ms = now
        if self._credit >= 1000:
            return 0
        self._incidents.report(
            "connection-rate-reached",
            why=f"more than {limits.rate_property}={limits.rate} a second",
            action="they are accepted later; raise the limit if these clients are expected",
        )
        return min(-((self._credit - 1000) // limits.rate), LONGEST_DELAY_MS)

    def admit(self, host: str) -> bool:
        """Return whether a connection from this address is accepted. If so, call ``release`` when it ends."""
        limits = self._limits
        if limits.rate != UNLIMITED:
            self._credit -= 1000
        if self.connections >= limits.connections:
            self._refuse(host, f"{limits.connections} connections are open", limits.reason)
            return False
        there = self._by_host.get(host, 0)
        most = limits.overrides.get(host, limits.per_ip)
        if there >= most:
            name = "max.connections.per.ip.overrides" if host in limits.overrides else "max.connections.per.ip"
            self._refuse(host, f"{most} connections of its address are open", name)
            return False
        self.connections += 1
        self._by_host[host] = there + 1
        return True

    def release(self, host: str) -> None:
        """Count the end of a connection."""
        self.connections -= 1
        left = self._by_host.pop(host) - 1
        if left:
            self._by_host[host] = left

    def _refuse(self, host: str, why: str, limit: str) -> None:
        self._incidents.report(
            "connection-limit-reached",
            peer=host,
            why=why,
            limit=limit,
            action="they are closed at once; raise the limit, or end clients that leave connections open",
        )


def _address(host: str) -> str:
    """Return an address in the form in which the system names peers. As in Kafka, a name is resolved to its first address."""
    try:
        found = str(socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError as unknown:
        raise StartError(f"max.connections.per.ip.overrides: {host!r} has no address: {unknown.strerror}") from None
    return str(ipaddress.ip_address(found))
