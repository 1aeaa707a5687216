"""The deadline of parked responses: the client gets REQUEST_TIMED_OUT, which each API translates,
when the log does not answer in time.

The records may still be written, and later reads say whether they were. Nothing is reverted, and ``on_append`` is still called with
the outcome. If ``on_append`` sends the responses (DEFERRED), ``on_overdue`` refuses those that wait. What no client
requested has no deadline. Changes of the catalog have none, because their replies also notify the other loops.

There is no timer per request. While something is being written, one timer checks ``TICKS`` times per deadline the shards that
wait for the log. So a response is parked for at most a tick longer than the deadline.
"""

from __future__ import annotations

from typing import Final

import structlog

from coordinator_server.machine.shard import DEFERRED, CoordinatorResult, CoordinatorTimer
from coordinator_server.runtime.flush import Flusher, answer_overdue

log = structlog.get_logger(__name__)

TICKS: Final = 5
_KEY: Final = ("deadlines",)


class Deadlines:
    """The deadlines of all shards of a loop."""

    def __init__(self, flusher: Flusher, timer: CoordinatorTimer, timeout_ms: int) -> None:
        self._flusher = flusher
        self._timer = timer
        self._tick_ms = max(timeout_ms // TICKS, 1)
        self._is_logged = False
        flusher.on_submit = self._begin

    def _begin(self) -> None:
        self._flusher.on_submit = None
        self._timer.schedule(_KEY, self._tick_ms, self._look)

    def _look(self) -> CoordinatorResult[None]:
        waiting = self._flusher.waiting()
        answered = sum(answer_overdue(context.deferred.age(TICKS)) for context in waiting)
        if answered and not self._is_logged:
            log.error("log-does-not-answer", shards=len(waiting), requests=answered, action="clients get a retriable error")
        self._is_logged = bool(waiting) and (self._is_logged or answered > 0)
        if waiting:
            self._timer.schedule(_KEY, self._tick_ms, self._look)
        else:
            self._flusher.on_submit = self._begin
        return CoordinatorResult(DEFERRED)
