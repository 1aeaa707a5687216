"""Collects the batches of all shards of a loop once per turn and submits them to the log together.

While one submit is in progress the shards collect records for the next one. So batches grow with the load, and no request
waits for a timer. One Flusher serves every runtime of the loop, because they share its journal.

Each shard of a submit has an outcome of its own:

    durable    the high watermark advances, and parked responses are sent
    refused    the shard reverts, and parked responses fail
    fenced     the same, and the shard is unloaded
    unknown    nothing is written to the shard and nothing of it is answered until the store knows which of these it is;
               if it cannot, the process ends

A runtime may set an append linger. Its shards' batches are then held for that time, or until one is full. With a linger of 0
each operation is a separate batch, submitted at once or when the submit in progress is done.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import structlog

from coordinator_server.log.errors import Diverged, Fenced, LogError, OutcomeUnknown
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.log.store import AppendingLog, Failures
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

    ``soon`` runs a callback at the end of the loop's turn. ``fatal`` is called when the log cannot be trusted: waiting requests
    are not answered then, and the process must end.
    """

    def __init__(self, store: AppendingLog, soon: Soon, fatal: Callable[[LogError], None]) -> None:
        self._store = store
        self._soon = soon
        self._fatal = fatal
        self._dirty: dict[ShardContext[Any], None] = {}
        # Shards whose batches linger; a timer of each shard releases them.
        self._held: dict[ShardContext[Any], None] = {}
        self._flushing: list[tuple[ShardContext[Any], int]] = []
        self._appends: list[Append] = []
        # Shards with an unknown outcome, and the offset that they reach if it is durable.
        self._unresolved: dict[ShardContext[Any], int] = {}
        self._due: deque[tuple[list[DeferredEvent], ErrorCode | None]] = deque()
        self._is_scheduled = False
        self._is_failing = self._is_lost = False
        self._idle: list[Callable[[], None]] = []
        self._submitted: list[Callable[[], None]] = []
        # Called at each submit, while ``Deadlines`` does not look.
        self.on_submit: Callable[[], None] | None = None
        # Called with the shards whose logs have grown, while a waiter has set it.
        self.on_durable: Callable[[list[ShardId]], None] | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits to be written and nothing is being written."""
        return not (self._dirty or self._flushing or self._held or self._unresolved)

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
        """Call back when all that was submitted is durable or has failed; immediately if that is so."""
        if self._flushing or self._unresolved:
            self._submitted.append(callback)
        else:
            callback()

    def waiting(self) -> list[ShardContext[Any]]:
        """Return the shards that wait for the log; none if nothing is being written."""
        if not self._flushing and not self._unresolved:
            return []
        return list({**dict(self._flushing), **self._unresolved, **self._dirty})

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
        if self._flushing or self._is_lost:
            return
        appends = []
        dirty, self._dirty = self._dirty, {}
        if self._unresolved:
            self._dirty = {context: None for context in dirty if context in self._unresolved}
            dirty = {context: None for context in dirty if context not in self._unresolved}
        for context in dirty:
            append = context.take_flush()
            if append is not None:
                appends.append(append)
                self._flushing.append((context, context.flushing_to))
        if appends:
            self._submit(appends)
        elif self.is_idle:
            self._call_back(self._idle)

    def _submit(self, appends: list[Append]) -> None:
        self._appends = appends
        if self.on_submit is not None:
            self.on_submit()
        try:
            self._store.submit(appends, self._flushed)
        except Exception as bug:
            # The store must report failures by its callback. After an exception it is unknown what was written.
            log.exception("submit-failed")
            self._fail(OutcomeUnknown(f"the log broke: {bug}"))

    def _flushed(self, failures: Failures | None) -> None:
        flushed, self._flushing = self._flushing, []
        appends, self._appends = self._appends, []
        if failures is None:
            for context, offset in flushed:
                self._due.append((context.commit(offset), None))
            if self._is_failing:
                self._tell_operator(None)
            if self.on_durable is not None:
                self.on_durable([context.id for context, _ in flushed])
            self._go_on()
            return
        unknown = {context: offset for context, offset in flushed if isinstance(failures.get(context.id), OutcomeUnknown)}
        if unknown:
            self._unresolved |= unknown
            self._resolve([append for append in appends if isinstance(failures.get(append.shard), OutcomeUnknown)])
        if not self._is_lost:
            self._settle([(context, offset) for context, offset in flushed if context not in unknown], failures)

    def _resolve(self, appends: list[Append]) -> None:
        log.warning("log-outcome-unknown", shards=[str(append.shard) for append in appends], action="the store is asked")
        shards = {append.shard for append in appends}

        def resolved(failures: Failures | None) -> None:
            found = [(context, offset) for context, offset in self._unresolved.items() if context.id in shards]
            for context, _ in found:
                del self._unresolved[context]
            self._settle(found, failures or {})

        self._store.resolve(appends, resolved)

    def _settle(self, found: list[tuple[ShardContext[Any], int]], failures: Failures) -> None:
        """Settle shards that are durable, refused or fenced, each independently."""
        lost = next(
            (failures[each.id] for each, _ in found if isinstance(failures.get(each.id), OutcomeUnknown | Diverged)), None
        )
        if lost is not None:
            # Nobody knows what is durable: the shards stay as they are, and nothing of them is answered.
            self._unresolved |= dict(found)
            self._fail(lost)
            return
        durable, fenced = [], []
        refused: LogError | None = None
        for context, offset in found:
            failure = failures.get(context.id)
            if failure is None:
                durable.append(context)
                self._due.append((context.commit(offset), None))
                continue
            self._due.append((context.revert(), error_for(failure)))
            self._dirty.pop(context, None)
            if isinstance(failure, Fenced):
                fenced.append(context)
            else:
                refused = failure
        if refused is not None or durable:
            self._tell_operator(refused)
        if durable and self.on_durable is not None:
            self.on_durable([context.id for context in durable])
        self._go_on(fenced)

    def _go_on(self, fenced: Sequence[ShardContext[Any]] = ()) -> None:
        """Write the next batches, and answer what is due."""
        if not self._unresolved:
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

    def _fail(self, failure: LogError) -> None:
        self._is_lost = True
        self._fatal(failure)

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


def answer_overdue(events: list[DeferredEvent]) -> int:
    """Answer the clients of events that stay parked. Return the number of answers."""
    answered = 0
    for event in events:
        reply = event.reply
        try:
            if event.response is DEFERRED:
                answered += 0 if event.on_overdue is None else event.on_overdue()
            elif reply is not None:
                event.reply = None
                answered += 1
                reply.fail(ErrorCode.REQUEST_TIMED_OUT)
        except Exception:
            log.exception("deferred-event-failed", offset=event.offset)
    return answered
