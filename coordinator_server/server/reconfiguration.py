"""Gives a running loop the properties that SIGHUP has changed (``config/live.py``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import structlog

from coordinator_server.config import Config
from coordinator_server.log.store import Retention
from coordinator_server.server.errors import StartError
from coordinator_server.server.hosting.history import kept_history
from coordinator_server.server.login.sasl_listeners import SaslListeners
from coordinator_server.server.wire.admission import Limits
from coordinator_server.server.wire.certificates import Certificates
from coordinator_server.server.wire.listener import Listener

log = structlog.get_logger(__name__)


_LIMITS: Final = (
    "max_connections",
    "max_connections_per_ip",
    "max_connections_per_ip_overrides",
    "max_connection_creation_rate",
)


class Reconfiguration(NamedTuple):
    """The parts of a loop that keep what they have read of ``config``. ``limits`` returns the limits of connections."""

    config: Config
    certificates: Certificates
    listener: Listener
    retention: Retention
    limits: Callable[[], Limits]
    sasl: SaslListeners

    def apply(self, changed: Config) -> None:
        """Use the values of ``changed`` from now on. A part that cannot use them keeps what it has, and says so."""
        has_other_limits = any(getattr(self.config.live, each) != getattr(changed.live, each) for each in _LIMITS)
        self.config.live.adopt(changed.live)
        self.certificates.reload(changed)
        self.sasl.reload(changed)
        self.retention.keep(kept_history(changed.live))
        self.listener.close_idle(changed.live.connections_max_idle_ms)
        if has_other_limits:
            self._limit()

    def _limit(self) -> None:
        # Names of hosts are looked up, which may take the loop's time: only where a limit has changed.
        try:
            self.listener.limit(self.limits())
        except StartError as wrong:
            log.error("limits-not-reloaded", why=str(wrong), action="the old ones stay in use")
