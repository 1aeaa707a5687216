"""Makes the quotas of the catalog count in this loop: when it starts, and before a change of them is answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from coordinator_server.catalog.client_quotas import CLIENT_QUOTAS
from coordinator_server.catalog.quota_names import REQUEST_PERCENTAGE
from coordinator_server.server.cluster.catalog import Catalog
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.guard.metering import Metering
from coordinator_server.server.guard.quota_limits import QuotaLimits
from coordinator_server.server.guard.request_quotas import MeteredDispatcher
from coordinator_server.server.wire.listener import Listener


class ClientQuotas:
    """The quotas of a loop. As long as there is none for request times, its listener uses its own dispatcher."""

    def __init__(
        self,
        catalog: Catalog,
        listener: Listener,
        metering: Metering,
        new_dispatcher: Callable[..., Dispatcher],
        apis: Sequence[ApiRow[Any, Any]],
    ) -> None:
        """Use a dispatcher of ``apis`` whose requests are measured when there are quotas."""
        self._catalog = catalog
        self._listener = listener
        self._quotas = metering.meter.quotas
        dispatcher = new_dispatcher(metering.observed(apis), run_large=metering.run_large)
        self._metered = MeteredDispatcher(dispatcher, metering.meter)
        self._plain = listener.dispatch

    def changed(self) -> None:
        """Read the quotas, and use them from now on."""
        records = list(self._catalog.records(CLIENT_QUOTAS))
        self._quotas.limits = QuotaLimits(records, REQUEST_PERCENTAGE)
        self._listener.use(self._metered if self._quotas.limits else self._plain)
        self._listener.limit_addresses(records)
