"""Requests that arrive at a node before their shard does, or while it is loading: they wait for it, and are not sent away.

A shard that nodes give to each other is taken and loaded in a few ms. A client that comes in between and hears
COORDINATOR_LOAD_IN_PROGRESS or NOT_COORDINATOR asks again much later: librdkafka gives up a commit that has heard the one three
times, and waits for a second after the other one if it has just learned that this is the node. So requests that write wait, and so
does OffsetFetch; other reads are refused. What waits runs when the shard is loaded, in its order, before anything that comes later.
It waits no longer than ``offsets.commit.timeout.ms``: then, or if MOST_WAITING wait already, it is refused.

Messages from other shards do not wait: their sender repeats them, and what has failed for it must not run later.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final

from coordinator_server.log.shards import ShardId
from coordinator_server.machine.shard import DEFERRED, Clock, CoordinatorResult, CoordinatorTimer, Reply, RequestContext
from coordinator_server.runtime.context import ShardContext, ShardState
from coordinator_server.runtime.lease import Gate
from protocol.error_codes import ErrorCode

MOST_WAITING: Final = 256
"""So many requests wait for one shard: all of them run in one turn of the loop."""
_KEY: Final = ("arrivals",)


class Arrivals:
    """What becomes of requests whose shard is not ACTIVE: they are refused."""

    def expect(self, shards: Iterable[ShardId]) -> None:
        """Note that this node is about to own shards: clients are sent here from now on."""

    def came(self, shard: ShardId) -> None:
        """Note that this node owns a shard, which is LOADING if its kind is in use."""

    def receive(
        self,
        id: ShardId,
        shard: ShardContext[Any] | None,
        context: RequestContext,
        run: Callable[[], object] | None,
        reply: Reply[Any],
    ) -> None:
        """Refuse a request. ``run`` would begin it once more, if that may be later."""
        reply.fail(ErrorCode.NOT_COORDINATOR if shard is None else shard.refusal())


NO_ARRIVALS: Final = Arrivals()


class WaitingArrivals(Arrivals):
    """Those of clients wait for their shard, with one timer for all shards of a loop."""

    def __init__(self, gate: Gate, clock: Clock, timer: CoordinatorTimer, timeout_ms: int) -> None:
        self._gate = gate
        self._clock = clock
        self._timer = timer
        self._timeout_ms = timeout_ms
        # What waits for shards that are expected, with the time until which they are.
        self._expected: dict[ShardId, tuple[int, list[Callable[[ErrorCode], None]]]] = {}
        # With the time until which each waits, in ascending order.
        self._waiting: deque[tuple[int, _Arrival]] = deque()

    def expect(self, shards: Iterable[ShardId]) -> None:
        """Note that this node is about to own shards: clients are sent here from now on."""
        now_ms = self._clock.now_ms()
        self._expected = {shard: each for shard, each in self._expected.items() if now_ms < each[0]}
        for shard in shards:
            self._expected.setdefault(shard, (now_ms + self._timeout_ms, []))

    def came(self, shard: ShardId) -> None:
        """Begin what has waited for a shard to come. It goes on waiting if the shard is LOADING."""
        if shard in self._expected:
            for arrived in self._expected.pop(shard)[1]:
                arrived(ErrorCode.NONE)

    def receive(
        self,
        id: ShardId,
        shard: ShardContext[Any] | None,
        context: RequestContext,
        run: Callable[[], object] | None,
        reply: Reply[Any],
    ) -> None:
        """Let a client's request wait if its shard is LOADING or expected, and refuse it otherwise."""
        now_ms, queue, refusal = self._clock.now_ms(), None, ErrorCode.NOT_COORDINATOR
        if shard is None and id in self._expected and now_ms < self._expected[id][0]:
            queue = self._expected[id][1]
        elif shard is not None and shard.state is ShardState.LOADING:
            queue, refusal = shard.when_loaded, shard.refusal()
        if queue is None or len(queue) >= MOST_WAITING or run is None or context.api_key < 0:
            super().receive(id, shard, context, run, reply)
            return
        arrival = _Arrival(self._gate, run, reply, refusal)
        queue.append(arrival.loaded)
        self._waiting.append((now_ms + self._timeout_ms, arrival))
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

    __slots__ = ("_gate", "_refusal", "_waits")

    def __init__(self, gate: Gate, run: Callable[[], object], reply: Reply[Any], refusal: ErrorCode) -> None:
        self._gate = gate
        self._refusal = refusal
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
            reply.fail(self._refusal)
