"""Makes the quotas of the catalog count in this loop: when it starts, and before a change of them is answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from coordinator_server.catalog.client_quotas import CLIENT_QUOTAS
from coordinator_server.catalog.quota_names import REQUEST_PERCENTAGE
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.server.cluster.catalog import Catalog
from coordinator_server.server.cluster.family_news import FamilyNews
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.guard.metering import Metering
from coordinator_server.server.guard.quota_limits import QuotaLimits
from coordinator_server.server.guard.request_quotas import MeteredDispatcher
from coordinator_server.server.wire.connection import Dispatch
from coordinator_server.server.wire.listener import Listener


class ClientQuotas:
    """The quotas of a loop. As long as there is none for request times, its listener uses its own dispatcher.

    It follows the catalog from ``measure`` on, which needs the listener's own dispatcher.
    """

    def __init__(self, catalog: Catalog, news: FamilyNews, listener: Listener, metering: Metering) -> None:
        self._catalog = catalog
        self._news = news
        self._listener = listener
        self._metering = metering
        self._quotas = metering.meter.quotas
        self._plain: Dispatch
        self._metered: Dispatch

    def measure(self, new_dispatcher: Callable[..., Dispatcher], apis: Sequence[ApiRow[Any, Any]]) -> None:
        """When there are quotas, replace the listener's dispatcher by one of ``apis`` whose requests are measured."""
        dispatcher = new_dispatcher(self._metering.observed(apis), run_large=self._metering.run_large)
        self._metered = MeteredDispatcher(dispatcher, self._metering.meter)
        self._plain = self._listener.dispatch
        self._news.follow(CLIENT_QUOTAS, self.changed)

    def changed(self) -> None:
        """Read the quotas, and use them from now on."""
        records = list(self._catalog.read(CatalogShard.records, CLIENT_QUOTAS))
        self._quotas.limits = QuotaLimits(records, REQUEST_PERCENTAGE)
        self._listener.use(self._metered if self._quotas.limits else self._plain)
        self._listener.limit_addresses(records)
