"""Requests that arrive at a node while their shard is loading: they wait for it, and are not sent away.

A shard that nodes give to each other is loaded in a few ms. A client that comes in between and hears COORDINATOR_LOAD_IN_PROGRESS
asks again much later, and librdkafka gives up a commit that has heard it three times. What waits runs when the shard is loaded, in
its order, before anything that comes later. It waits no longer than ``offsets.commit.timeout.ms``: then, or if MOST_WAITING wait
already, the answer is COORDINATOR_LOAD_IN_PROGRESS.

Messages from other shards do not wait: their sender repeats them, and what has failed for it must not run later.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Final

from coordinator_server.machine.shard import DEFERRED, Clock, CoordinatorResult, CoordinatorTimer, Reply, RequestContext
from coordinator_server.runtime.context import ShardContext, ShardState
from coordinator_server.runtime.lease import Gate
from protocol.error_codes import ErrorCode

MOST_WAITING: Final = 256
"""So many requests wait for one shard: all of them run in one turn of the loop."""
_KEY: Final = ("arrivals",)


class Arrivals:
    """What becomes of requests whose shard is not ACTIVE: they are refused."""

    def receive(
        self, shard: ShardContext[Any] | None, context: RequestContext, run: Callable[[], object] | None, reply: Reply[Any]
    ) -> None:
        """Refuse a request. ``run`` would begin it once more, if that may be later."""
        reply.fail(ErrorCode.NOT_COORDINATOR if shard is None else shard.refusal())


NO_ARRIVALS: Final = Arrivals()


class WaitingArrivals(Arrivals):
    """Those of clients wait for the load of their shard, with one timer for all shards of a loop."""

    def __init__(self, gate: Gate, clock: Clock, timer: CoordinatorTimer, timeout_ms: int) -> None:
        self._gate = gate
        self._clock = clock
        self._timer = timer
        self._timeout_ms = timeout_ms
        # With the time until which each waits, in ascending order.
        self._waiting: deque[tuple[int, _Arrival]] = deque()

    def receive(
        self, shard: ShardContext[Any] | None, context: RequestContext, run: Callable[[], object] | None, reply: Reply[Any]
    ) -> None:
        """Let a client's request wait if its shard is LOADING, and refuse it otherwise."""
        is_loading = shard is not None and shard.state is ShardState.LOADING and len(shard.when_loaded) < MOST_WAITING
        if shard is None or not is_loading or run is None or context.api_key < 0:
            super().receive(shard, context, run, reply)
            return
        arrival = _Arrival(self._gate, run, reply)
        shard.when_loaded.append(arrival.loaded)
        self._waiting.append((self._clock.now_ms() + self._timeout_ms, arrival))
        if not self._timer.is_scheduled(_KEY):
            self._timer.schedule(_KEY, self._timeout_ms, self._look)

    def _look(self) -> CoordinatorResult[None]:
        waiting, now_ms = self._waiting, self._clock.now_ms()
        while waiting and (waiting[0][0] <= now_ms or waiting[0][1].is_over):
            waiting.popleft()[1].give_up()
        if waiting:
            self._timer.schedule(_KEY, waiting[0][0] - now_ms, self._look)
        return CoordinatorResult(DEFERRED)


class _Arrival:
    """One request. It is run or refused once."""

    __slots__ = ("_gate", "_waits")

    def __init__(self, gate: Gate, run: Callable[[], object], reply: Reply[Any]) -> None:
        self._gate = gate
        self._waits: tuple[Callable[[], object], Reply[Any]] | None = (run, reply)

    @property
    def is_over(self) -> bool:
        """Whether it does not wait any more."""
        return self._waits is None

    def loaded(self, error: ErrorCode) -> None:
        """Run it, or refuse it if its shard has left. No pass over its connection compares the lease before that."""
        if self._waits is not None:
            (run, reply), self._waits = self._waits, None
            self._gate.look()
            if error is ErrorCode.NONE:
                run()
            else:
                reply.fail(error)

    def give_up(self) -> None:
        """Send it away, if it still waits."""
        if self._waits is not None:
            (_, reply), self._waits = self._waits, None
            reply.fail(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
