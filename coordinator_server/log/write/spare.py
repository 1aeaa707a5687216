"""The journal's next file, which the worker makes ready before the active one is full."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from coordinator_server.log.errors import LogError
from coordinator_server.log.write.health import Health
from coordinator_server.log.write.journal import Journal, JournalFile
from coordinator_server.log.write.shard_logs import ShardLogs
from coordinator_server.worker import Post, Worker

RETRY_DELAY_S: Final = 1.0

OnReady = Callable[[LogError | None], None]


class Spare:
    """Asks the worker for one spare file at a time. ``on_ready`` is called on the loop when the journal has it, or with the error.

    After an error it asks again, a second later.
    """

    def __init__(self, journal: Journal, logs: ShardLogs, worker: Worker, post: Post, health: Health) -> None:
        self._journal = journal
        self._logs = logs
        self._worker = worker
        self._post = post
        self._health = health
        self._on_ready: OnReady = lambda _error: None
        self._is_preparing = False
        self._content_bytes = 0
        self._prepared: JournalFile | LogError | None = None
        # Wait for a head that states what is open now: with the next file, and with the one that is made at the moment.
        self._renewals: list[OnReady] = []
        self._in_progress: list[OnReady] = []

    def when_ready(self, on_ready: OnReady) -> None:
        """Set what is called when there is a spare file, or an error."""
        self._on_ready = on_ready

    def ask(self, content_bytes: int) -> None:
        """Have a spare file made that takes a frame of ``content_bytes``."""
        if not self._is_preparing and not self._health.is_closed:
            self._is_preparing = True
            self._content_bytes = content_bytes
            self._in_progress, self._renewals = self._renewals, []
            self._worker.run(self._prepare)

    def renew(self, done: OnReady) -> None:
        """Have a head made durable that states the shards that are open now. ``done`` is called then, or with the error."""
        self._renewals.append(done)
        self.ask(0)

    def use_prepared(self) -> None:
        """Give the journal the file that the worker has made, if there is one."""
        prepared, self._prepared = self._prepared, None
        if prepared is None:
            return
        self._is_preparing = False
        renewed, self._in_progress = self._in_progress, []
        error = None if isinstance(prepared, JournalFile) else prepared
        if isinstance(prepared, JournalFile):
            self._journal.use(prepared)
        self._on_ready(error)
        for done in renewed:
            done(error)
        if self._renewals:
            self.ask(0)
        elif error is not None:
            self._worker.run(self._ask_again, delay=RETRY_DELAY_S)

    def refuse_renewals(self, error: LogError) -> None:
        """Answer every ``renew`` that waits for the worker."""
        renewals, self._renewals, self._in_progress = self._in_progress + self._renewals, [], []
        for done in renewals:
            done(error)

    # In the worker's thread.

    def _prepare(self) -> None:
        self._prepared = self._health.attempt(self._make)
        self._post(self.use_prepared)

    def _ask_again(self) -> None:
        self._post(partial(self.ask, 0))

    def _make(self) -> JournalFile:
        return self._journal.prepare([log.write_and_sync() for log in self._logs.journaled()], self._content_bytes)
