"""Rates of new connections by address (``connection_creation_rate`` of ``ip``, KIP-612; Kafka's ``ConnectionQuotas``).

A connection above the rate of its address is accepted, held for as long as it takes to get back to the rate, at most for a
window, and then closed: the client waits, instead of trying again at once. It does not count for any other limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from coordinator_server.catalog.client_quotas import key_of
from coordinator_server.catalog.quota_names import CONNECTION_CREATION_RATE, IP
from coordinator_server.security.addresses import comparable_address
from coordinator_server.server.wire.incidents import Incidents
from coordinator_server.server.wire.sampled_rate import RecentRates, Windows
from protocol.messages.cluster_metadata import ClientQuotaRecord


class AddressRates:
    """The rates of new connections to one loop."""

    def __init__(self, windows: Windows, incidents: Incidents, now_ms: Callable[[], int]) -> None:
        self._windows = windows
        self._incidents = incidents
        self._now_ms = now_ms
        # By address; None is the default of all others.
        self._limits: dict[str | None, float] = {}
        self._rates: RecentRates[str] = RecentRates(windows)

    def use(self, records: Iterable[ClientQuotaRecord]) -> None:
        """Limit addresses by these quotas."""
        self._limits = {}
        for record in records:
            entity = dict(key_of(record).entity)
            if record.key == CONNECTION_CREATION_RATE and IP in entity:
                address = entity[IP]
                self._limits[None if address is None else comparable_address(address)] = record.value

    def hold_ms(self, host: str) -> int:
        """Count a connection of an address. Return 0 if it is accepted, and the time to hold it if it is not."""
        if not self._limits:
            return 0
        address = comparable_address(host)
        limit = self._limits.get(address, self._limits.get(None))
        if limit is None:
            return 0
        rate = self._rates.of(address)
        now_ms = self._now_ms()
        rate.record(1, now_ms)
        wait_ms = min(rate.wait_ms(limit, now_ms), self._windows.window_ms)
        if wait_ms:
            rate.record(-1, now_ms)
            self._incidents.report(
                "connection-quota-exceeded",
                peer=host,
                why=f"more than connection_creation_rate={limit:g} a second of its address",
                action="they are held for a while and closed; raise the quota if this client is expected",
            )
        return wait_ms
