"""The removal of history from a database, from time to time: by the node that owns the catalog (``removal.py``)."""

from __future__ import annotations

from collections.abc import Callable

from coordinator_server.log.errors import Fenced, LockedLog, LogError
from coordinator_server.log.postgresql.job_log import job_log
from coordinator_server.log.postgresql.removal import Removal
from coordinator_server.log.store import History, RetentionRule
from coordinator_server.log.store_paths import StoreName
from coordinator_server.worker import ThreadWorker


class StoreRetention:
    """The job, from ``start`` to ``close``. ``is_ours`` says whether this node looks after the log of all."""

    def __init__(self, name: StoreName, is_ours: Callable[[], bool], history: History, rule: RetentionRule) -> None:
        self._name = name
        self._is_ours = is_ours
        self._history = history
        self._rule = rule
        self._worker = rule.worker or ThreadWorker(lambda: None)

    def keep(self, history: History) -> None:
        """Keep so much history from the next check on."""
        self._history = history

    def start(self) -> None:
        """Check every ``check_ms``, the first time after one interval."""
        self._later()

    def close(self) -> None:
        """Stop. Return when the running check is done."""
        self._worker.close()

    def _later(self) -> None:
        self._worker.run(self._check, delay=self._rule.check_ms / 1000)

    def _check(self) -> None:
        if self._is_ours():
            try:
                self._remove()
            except (Fenced, LockedLog):
                # Another node or a job looks after the log now.
                pass
            except LogError as error:
                self._rule.on_failed(error)
        self._later()

    def _remove(self) -> None:
        log = job_log(self._name)
        log.upkeep.claim()
        try:
            Removal(log, self._history, self._rule.now_ms()).run(self._rule.on_removed)
        finally:
            log.upkeep.leave()
