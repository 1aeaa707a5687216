"""Collects the batches of all shards of a loop once per turn and submits them to the log together.

While one submit is in progress the shards collect records for the next one. So batches grow with the load, and no request
waits for a timer. One Flusher serves every runtime of the loop, because they share its journal.

A runtime may set an append linger. Its shards' batches are then held for that time, or until one is full. With a linger of 0
each operation is a separate batch, submitted at once or when the submit in progress is done.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import structlog

from coordinator_server.log.errors import Fenced, LogError, OutcomeUnknown
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.log.store import AppendingLog
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult
from coordinator_server.runtime.context import ShardContext
from coordinator_server.runtime.deferred import DeferredEvent
from coordinator_server.runtime.errors import error_for
from protocol.error_codes import ErrorCode

log = structlog.get_logger(__name__)

Soon = Callable[[Callable[[], None]], object]

ADAPTIVE: Final = -1
_LINGER = object()  # the key of a shard's timer


class Flusher:
    """Submits open batches to the log, and advances high watermarks when they are durable.

    ``soon`` runs a callback at the end of the loop's turn. ``fatal`` is called when the outcome of a write is unknown. Waiting
    requests are not answered then, and the process must end.
    """

    def __init__(self, store: AppendingLog, soon: Soon, fatal: Callable[[LogError], None]) -> None:
        self._store = store
        self._soon = soon
        self._fatal = fatal
        self._dirty: dict[ShardContext[Any], None] = {}
        # Shards whose batches linger; a timer of each shard releases them.
        self._held: dict[ShardContext[Any], None] = {}
        self._flushing: list[tuple[ShardContext[Any], int]] = []
        self._due: deque[tuple[list[DeferredEvent], ErrorCode | None]] = deque()
        self._is_scheduled = False
        self._is_failing = False
        self._idle: list[Callable[[], None]] = []
        self._submitted: list[Callable[[], None]] = []
        # Called with the shards whose logs have grown, while a waiter has set it.
        self.on_durable: Callable[[list[ShardId]], None] | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits to be written and nothing is being written."""
        return not self._dirty and not self._flushing and not self._held

    def mark(self, context: ShardContext[Any], linger_ms: int = ADAPTIVE) -> None:
        """Schedule a shard's open batch to be written at the end of the turn, or after ``linger_ms``."""
        if linger_ms != ADAPTIVE:
            self._linger(context, linger_ms)
            return
        self._dirty[context] = None
        if not self._is_scheduled and not self._flushing:
            self._is_scheduled = True
            self._soon(self._flush)

    def forget(self, context: ShardContext[Any]) -> None:
        """Discard what a shard has not submitted yet. Called when the shard is unloaded."""
        self._dirty.pop(context, None)
        self._held.pop(context, None)

    def when_idle(self, callback: Callable[[], None]) -> None:
        """Call back when ``is_idle`` (immediately, if it is idle). Lingering batches are released."""
        for context in list(self._held):
            self._let_go(context)
        if self.is_idle:
            callback()
        else:
            self._idle.append(callback)

    def after_submit(self, callback: Callable[[], None]) -> None:
        """Call back when the submit in progress is durable or has failed; immediately if there is none."""
        if self._flushing:
            self._submitted.append(callback)
        else:
            callback()

    def _linger(self, context: ShardContext[Any], linger_ms: int) -> None:
        if linger_ms == 0:
            context.end_batch()
            self._dirty[context] = None
            self._flush()
        elif context.has_full_batch:
            self._let_go(context)
        elif context not in self._held:
            self._held[context] = None
            context.timers.schedule(_LINGER, linger_ms, partial(self._let_go, context))

    def _let_go(self, context: ShardContext[Any]) -> CoordinatorResult[Any]:
        self._held.pop(context, None)
        context.timers.cancel(_LINGER)
        self.mark(context)
        return CoordinatorResult(DEFERRED)

    def _flush(self) -> None:
        self._is_scheduled = False
        if self._flushing:
            return
        appends = []
        for context in self._dirty:
            append = context.take_flush()
            if append is not None:
                appends.append(append)
                self._flushing.append((context, context.flushing_to))
        self._dirty.clear()
        if appends:
            self._submit(appends)
        elif self.is_idle:
            self._call_back(self._idle)

    def _submit(self, appends: list[Append]) -> None:
        try:
            self._store.submit(appends, self._flushed)
        except Exception as bug:
            # The store must report failures by its callback. After an exception it is unknown what was written.
            log.exception("submit-failed")
            self._fatal(OutcomeUnknown(f"the log broke: {bug}"))

    def _flushed(self, failure: LogError | None) -> None:
        if isinstance(failure, OutcomeUnknown):
            self._fatal(failure)
            return
        flushed, self._flushing = self._flushing, []
        fenced: list[ShardContext[Any]] = []
        if isinstance(failure, Fenced):
            fenced = [context for context, _ in flushed if context.id in failure.shards]
        else:
            self._tell_operator(failure)
        for context, offset in flushed:
            if failure is None:
                self._due.append((context.commit(offset), None))
            else:
                self._due.append((context.revert(), error_for(failure)))
                self._dirty.pop(context, None)
        if failure is None and self.on_durable is not None:
            self.on_durable([context.id for context, _ in flushed])
        self._call_back(self._submitted)
        # Submit the next batches before answering, so that the disk works meanwhile. If that submit completes before this
        # line returns, the older events in the queue are answered first.
        if self._dirty:
            self._flush()
        while self._due:
            answer_events(*self._due.popleft())
        for context in fenced:
            context.on_fenced()
        if self.is_idle:
            self._call_back(self._idle)

    def _tell_operator(self, failure: LogError | None) -> None:
        """Log once when storage starts to refuse records, and once when it accepts them again."""
        if failure is not None and not self._is_failing:
            log.error("log-refuses", why=str(failure), action="commits fail with a retriable error until this is over")
        elif failure is None and self._is_failing:
            log.info("log-accepts-again")
        self._is_failing = failure is not None

    def _call_back(self, waiting: list[Callable[[], None]]) -> None:
        callbacks = waiting[:]
        waiting.clear()
        for callback in callbacks:
            callback()


def answer_events(events: list[DeferredEvent], error: ErrorCode | None) -> None:
    """Complete the events, or fail them with ``error``. An exception in one event does not stop the others."""
    for event in events:
        try:
            if error is not None:
                event.fail(error)
            elif event.on_append is None and event.reply is not None and event.response is not DEFERRED:
                # ``complete``, inlined for speed.
                event.reply.complete(event.response)
            else:
                event.complete()
        except Exception:
            log.exception("deferred-event-failed", offset=event.offset)
