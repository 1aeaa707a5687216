"""How much history of the log a loop keeps, and the lines about what it has removed."""

from __future__ import annotations

import structlog

from coordinator_server.config import Config, LiveConfig
from coordinator_server.log.store import History, LogStore, Removed, Retention, RetentionRule
from coordinator_server.machine.shard import Clock
from coordinator_server.machine.steady_clock import SteadyClock
from coordinator_server.worker import Worker

log = structlog.get_logger(__name__)


NOT_REMOVED, KEPT = FAILURES = ("history-not-removed", "history-kept")
"""Why history that is old enough is still there: an error, or damage of what replaces it."""


def open_retention(store: LogStore, config: Config, clock: Clock, worker: Worker | None, lines: HistoryLines) -> Retention:
    """Return what removes old history. History ages while the server runs: a wall clock that jumps removes none."""
    check_ms = config.log.log_retention_check_interval_ms
    rule = RetentionRule(check_ms, lines.removed, lines.failed, SteadyClock(clock).now_ms, worker)
    return store.retention(kept_history(config.live), rule)


def kept_history(config: LiveConfig) -> History:
    """Return how much history is kept."""
    return History(
        config.log_history_retention_ms,
        config.log_history_retention_bytes,
        config.log_local_retention_ms,
        config.log_local_retention_bytes,
    )


class HistoryLines:
    """Writes the lines. ``failures`` is the number of those about what is still there, by event."""

    def __init__(self) -> None:
        self.failures = dict.fromkeys(FAILURES, 0)

    def removed(self, removed: Removed) -> None:
        """Log what was removed. Layers alone are copies of what a newer layer has: no history has gone."""
        if removed.segments:
            log.info("history-removed", shard=str(removed.shard), layers=removed.layers, segments=removed.segments)
        elif removed.layers:
            log.info("replaced-layers-removed", shard=str(removed.shard), layers=removed.layers)
        if removed.moved:
            log.info("history-moved", shard=str(removed.shard), segments=list(removed.moved))
        if removed.damage is not None:
            self._warn(KEPT, shard=str(removed.shard), damage=str(removed.damage))

    def failed(self, error: Exception) -> None:
        """Log why old history is still there. It is tried again at the next check."""
        self._warn(NOT_REMOVED, error=str(error))

    def _warn(self, event: str, **fields: str) -> None:
        self.failures[event] += 1
        log.warning(event, **fields)
