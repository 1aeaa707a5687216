"""The properties of a server for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from coordinator_server.config import Config, ConfigError
from coordinator_server.config.load import load

DEFAULTS: Final[Mapping[str, str]] = {
    # Groups settle at once, and a test may choose any session.
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1",
    "group.consumer.assignment.interval.ms": "0",
    # A day that a test skips is no reason to disconnect its clients.
    "connections.max.idle.ms": "-1",
    # Few shards start, load and expire in less time. Clients do not see how many there are.
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.num.partitions": "5",
    "share.coordinator.state.topic.num.partitions": "5",
    # The log ends with the test.
    "log.flush": "os",
    "log.journal.bytes": str(1 << 20),
}
"""What a server for tests has in place of Kafka's defaults. All other properties have them."""


def load_settings(properties: Mapping[str, str]) -> Config:
    """Return ``DEFAULTS`` with these properties. Raises ConfigError."""
    config = load({**DEFAULTS, **properties})
    if config.loops not in (1, "auto"):
        raise ConfigError(f"loops={config.loops}: a server for tests has one loop; 'coordinator-server serve' starts several")
    return config
