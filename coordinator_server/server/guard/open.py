"""Opens the room: what may stop the requests of a loop."""

from __future__ import annotations

from typing import NamedTuple

from coordinator_server.security.authorizer import Authorizer
from coordinator_server.server.cluster.open import Cluster
from coordinator_server.server.foundation import Foundation
from coordinator_server.server.guard.audit import Audit
from coordinator_server.server.guard.authorization import authorizer_of, follow_acls
from coordinator_server.server.guard.client_quotas import ClientQuotas
from coordinator_server.server.guard.metering import Metering
from coordinator_server.server.guard.request_quotas import Meter, RequestQuotas
from coordinator_server.server.wire.incidents import Incidents
from coordinator_server.server.wire.open import Wire
from coordinator_server.server.wire.sampled_rate import client_windows


class Guard(NamedTuple):
    """The room of access control, quotas and the audit log. Without an ``authorizer`` everybody may do everything."""

    authorizer: Authorizer | None
    audit: Audit
    quotas: ClientQuotas
    incidents: Incidents

    def not_known(self, host: str, **fields: str) -> None:
        """Note that a client was not authenticated."""
        self.incidents.count("authentication-failed")
        self.audit.authentication_failed(host, **fields)


def open_guard(base: Foundation, wire: Wire, cluster: Cluster) -> Guard:
    """Create what follows the catalog's ACLs and quotas. Raises ConfigError."""
    now_ms, authorizer = base.clock.now_ms, authorizer_of(base.config)
    audit = Audit(now_ms, wire.incidents.episodes)
    follow_acls(authorizer, cluster.catalog, cluster.family_news, audit)
    metering = Metering(Meter(RequestQuotas(client_windows(base.config), now_ms), base.timers()), wire.background)
    quotas = ClientQuotas(cluster.catalog, cluster.family_news, wire.listener, metering)
    return Guard(authorizer, audit, quotas, wire.incidents)
