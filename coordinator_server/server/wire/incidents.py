"""Counts what the server refuses, delays or closes, and logs it without a line for each case."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import structlog

from coordinator_server.server.wire.episodes import Episodes

log = structlog.get_logger(__name__)

NAMES: Final = (
    "authentication-failed",
    "catalog-full",
    "client-quotas-full",
    "connection-idle",
    "connection-limit-reached",
    "connection-quota-exceeded",
    "connection-rate-reached",
    "connection-refused",
    "connections-not-accepted",
    "group-full",
    "group-record-too-large",
    "group-setting-out-of-bounds",
    "keys-not-fetched",
    "login-shed",
    "login-timed-out",
    "member-refused",
    "members-full",
    "node-link-refused",
    "request-shed",
    "request-stalled",
    "share-state-refused",
    "target-refused",
    "tls-handshake-failed",
    "user-removed",
)
"""All cases that are reported or counted. Their metrics are 0 before the first case."""


class Incidents:
    """The counters of one loop. ``counts`` has them by name, since the start."""

    def __init__(self, episodes: Episodes) -> None:
        self.counts: dict[str, int] = {}
        self.episodes = episodes

    def count(self, name: str) -> None:
        """Count a case that is normal, without a line."""
        self.counts[name] = self.counts.get(name, 0) + 1

    def report(self, name: str, **fields: Any) -> None:
        """Count a case, and log it as one of an episode of this name. ``fields`` say why, and what to do."""
        self.count(name)
        self.episodes.add(name, partial(self._write, name), fields)

    def _write(self, name: str, **fields: Any) -> None:
        total = {"in_all": self.counts[name]} if "more" in fields else {}
        log.warning(name, **fields, **total)
