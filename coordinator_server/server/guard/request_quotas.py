"""Request-time quotas (``request_percentage``): how much of a loop's time a client may take, and for how long it has to wait.

A quota is a percentage of the time of this loop, which is a broker for its clients. What counts is the time of the loop for
decoding and handling a request, and for its steps, and the processor time of the thread for large messages; not that of the log
or of other loops. A client that exceeds its quota learns it from the next answer (``throttle_time_ms``), which is sent at once, and
its connection is not read for as long (KIP-219), at most for a window. See Kafka's ``ClientRequestQuotaManager``. Unlike there, a
large request starts when its client is within its quota again: one of them may take more than a window may.

As long as there is no quota, connections have the ordinary dispatcher, and nothing of this runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, Final

from coordinator_server.machine.shard import CoordinatorResult, CoordinatorTimer, RequestContext
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.guard.quota_limits import Measured, QuotaLimits
from coordinator_server.server.wire.connection import Connection, Dispatch
from coordinator_server.server.wire.sampled_rate import RecentRates, SampledRate, Windows

_PERCENT_PER_NS: Final = 100 / 1e9


class RequestQuotas:
    """The request-time quotas of a loop, and the rates of clients."""

    def __init__(self, windows: Windows, now_ms: Callable[[], int]) -> None:
        self.limits = QuotaLimits((), "")
        self._windows = windows
        self._now_ms = now_ms
        self._rates: RecentRates[Measured] = RecentRates(windows)

    def record(self, context: RequestContext, work_ns: int) -> int:
        """Count the time of a request. Return the time in ms for which its client has to wait."""
        found = self._rate(context)
        if found is None:
            return 0
        rate, limit = found
        now_ms = self._now_ms()
        rate.record(work_ns * _PERCENT_PER_NS, now_ms)
        return min(rate.wait_ms(limit, now_ms), self._windows.window_ms)

    def wait_ms(self, context: RequestContext) -> int:
        """Return the time in ms for which the client of a request has to wait, and count nothing."""
        found = self._rate(context)
        if found is None:
            return 0
        rate, limit = found
        return min(rate.wait_ms(limit, self._now_ms()), self._windows.window_ms)

    def _rate(self, context: RequestContext) -> tuple[SampledRate, float] | None:
        """Return the rate of a client and its limit, or None if it has no quota."""
        measured = self.limits.measured(context.principal.partition(":")[2], context.client_id)
        limit = self.limits.limit(measured)
        return None if limit is None else (self._rates.of(measured), limit)


class Meter:
    """Measures the requests of a loop. It is a stopwatch that runs while a request is dispatched."""

    def __init__(self, quotas: RequestQuotas, timers: CoordinatorTimer, now_ns: Callable[[], int] = time.perf_counter_ns) -> None:
        self.quotas = quotas
        self._timers = timers
        self._now_ns = now_ns
        self._began_ns = 0
        # The request that is dispatched.
        self._current: Exchange[Any] | None = None

    def begin(self) -> None:
        """Start the stopwatch."""
        self._current = None
        self._began_ns = self._now_ns()

    def began(self, request: Exchange[Any]) -> None:
        """Let the time since the start count for a request."""
        self._current = request

    def lap_ns(self, request: Exchange[Any]) -> int:
        """Return the time of a request since the start, or since the last call. 0 if it is not the one that is dispatched."""
        if request is not self._current:
            return 0
        now_ns, began_ns = self._now_ns(), self._began_ns
        self._began_ns = now_ns
        return now_ns - began_ns

    def end(self) -> None:
        """Stop, and count the rest."""
        current = self._current
        if current is not None:
            current.worked(self.lap_ns(current))
            self._current = None

    def settle(self, connection: Connection, context: RequestContext, work_ns: int) -> int:
        """Count the rest of the time of a request that is answered now.

        Return the time for which its client has to wait, from now on.
        """
        wait_ms = self.quotas.record(context, work_ns)
        if wait_ms and not connection.is_closed:
            self.mute(connection, wait_ms)
        return wait_ms

    def after(self, wait_ms: int, key: Hashable, run: Callable[[], None]) -> None:
        """Call ``run`` later."""

        def operation() -> CoordinatorResult[None]:
            run()
            return CoordinatorResult(None)

        self._timers.schedule(key, wait_ms, operation)

    def mute(self, connection: Connection, wait_ms: int) -> None:
        """Read nothing from a connection for some time. The last wait counts: it is that of all answers so far."""
        connection.mute()
        self._timers.schedule(connection, wait_ms, partial(_unmute, connection))
        connection.park(Meter, partial(self._timers.cancel, connection))


class MeteredDispatcher:
    """A dispatcher whose requests are measured. The rows of ``dispatcher`` are observed (``metering.py``)."""

    def __init__(self, dispatcher: Dispatch, meter: Meter) -> None:
        self._dispatcher = dispatcher
        self._meter = meter

    def __call__(self, connection: Connection, frame: bytes, /) -> bool:
        """Return whether the request has started. If not, an earlier one must be answered first."""
        self._meter.begin()
        try:
            return self._dispatcher(connection, frame)
        finally:
            self._meter.end()


def _unmute(connection: Connection) -> CoordinatorResult[None]:
    connection.unpark(Meter)
    connection.unmute()
    return CoordinatorResult(None)
