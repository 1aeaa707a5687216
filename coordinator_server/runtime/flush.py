"""Gathers what all shards of a loop want written, once per turn of the loop, into one submit to the log.

While one submit is under way the shards collect; whatever has come together is the next one. So the batch grows with the load and
nobody waits for a timer. One Flusher serves every runtime of the loop, because they share its journal.

A runtime may ask to wait for more all the same (its append linger): then its shards' batches are held for that long, or
until one is full. With a linger of 0 each operation is a batch of its own and goes out at once, or when what is being written is done.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import structlog

from coordinator_server.log.errors import Fenced, LogError, OutcomeUnknown
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.log.store import LogStore
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
    """Moves open batches to the log, and high watermarks when they are durable.

    ``soon`` runs a callback at the end of the loop's turn; ``fatal`` is told when the log cannot be trusted any more: nobody who
    waits is answered then, and the process has to end.
    """

    def __init__(self, store: LogStore, soon: Soon, fatal: Callable[[LogError], None]) -> None:
        self._store = store
        self._soon = soon
        self._fatal = fatal
        self._dirty: dict[ShardContext[Any], None] = {}
        # Batches that wait for more; each shard's own timer lets them go.
        self._held: dict[ShardContext[Any], None] = {}
        self._flushing: list[tuple[ShardContext[Any], int]] = []
        self._due: deque[tuple[list[DeferredEvent], ErrorCode | None]] = deque()
        self._is_scheduled = False
        self._is_failing = False
        self._idle: list[Callable[[], None]] = []
        self._submitted: list[Callable[[], None]] = []
        # Told of shards that have become longer, while somebody waits for that.
        self.on_durable: Callable[[list[ShardId]], None] | None = None

    @property
    def is_idle(self) -> bool:
        """Nothing waits to be written and nothing is being written."""
        return not self._dirty and not self._flushing and not self._held

    def mark(self, context: ShardContext[Any], linger_ms: int = ADAPTIVE) -> None:
        """This shard has records in its open batch, which may wait for more until the turn ends, or for ``linger_ms``."""
        if linger_ms != ADAPTIVE:
            self._linger(context, linger_ms)
            return
        self._dirty[context] = None
        if not self._is_scheduled and not self._flushing:
            self._is_scheduled = True
            self._soon(self._flush)

    def forget(self, context: ShardContext[Any]) -> None:
        """This shard is given up: what it has not submitted yet is not to be written."""
        self._dirty.pop(context, None)
        self._held.pop(context, None)

    def when_idle(self, callback: Callable[[], None]) -> None:
        """Call back once ``is_idle`` (at once, when it is so now). Nothing lingers until then."""
        for context in list(self._held):
            self._let_go(context)
        if self.is_idle:
            callback()
        else:
            self._idle.append(callback)

    def after_submit(self, callback: Callable[[], None]) -> None:
        """Call back once what is being written is durable, or failed; at once when nothing is."""
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
            self._tell(self._idle)

    def _submit(self, appends: list[Append]) -> None:
        try:
            self._store.submit(appends, self._flushed)
        except Exception as bug:
            # Duty of the store: to tell by ``done``. What it has written when it breaks nobody knows.
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
        self._tell(self._submitted)
        # The disk works on the next batch while this one is answered. It may be done with that before we are back here: then what
        # was due first has been answered first.
        if self._dirty:
            self._flush()
        while self._due:
            answer_events(*self._due.popleft())
        for context in fenced:
            context.on_fenced()
        if self.is_idle:
            self._tell(self._idle)

    def _tell_operator(self, failure: LogError | None) -> None:
        """One line when storage begins to refuse, and one when it takes records again."""
        if failure is not None and not self._is_failing:
            log.error("log-refuses", why=str(failure), action="commits fail with a retriable error until this is over")
        elif failure is None and self._is_failing:
            log.info("log-accepts-again")
        self._is_failing = failure is not None

    def _tell(self, waiting: list[Callable[[], None]]) -> None:
        told = waiting[:]
        waiting.clear()
        for callback in told:
            callback()


def answer_events(events: list[DeferredEvent], error: ErrorCode | None) -> None:
    """Complete the events, or fail them with ``error``. A bug in one must not cost the others their answer."""
    for event in events:
        try:
            if error is not None:
                event.fail(error)
            elif event.on_append is None and event.reply is not None and event.response is not DEFERRED:
                # As ``complete`` does it, without another call.
                event.reply.complete(event.response)
            else:
                event.complete()
        except Exception:
            log.exception("deferred-event-failed", offset=event.offset)
