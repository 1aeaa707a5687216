"""The services that a loop shares between its runtimes, and those that a runtime gives to each shard."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, NoReturn, Protocol, TypeVar

from coordinator_server.log.store import LoadingLog
from coordinator_server.machine.executor import CoordinatorExecutor
from coordinator_server.machine.outbox import Outbox
from coordinator_server.machine.provenance import SHARD_ORIGIN, TASK_ORIGIN, Origin
from coordinator_server.machine.shard import Clock, CoordinatorResult, CoordinatorShard, CoordinatorTimer
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.runtime.arrivals import NO_ARRIVALS, Arrivals
from coordinator_server.runtime.context import ShardContext
from coordinator_server.runtime.executor import ExecutorQueue, ShardExecutor
from coordinator_server.runtime.flush import Flusher
from coordinator_server.runtime.loads import LoadQueue
from coordinator_server.runtime.outbox import OnOutcome, OutboxQueue, ShardOutbox
from coordinator_server.runtime.silences import SilencesOf, unmeasured
from coordinator_server.runtime.timers import TimerQueue

S_co = TypeVar("S_co", bound=CoordinatorShard, covariant=True)


class ShardServices(NamedTuple):
    """The services of one state machine."""

    timer: CoordinatorTimer
    outbox: Outbox
    executor: CoordinatorExecutor


class BuildShard(Protocol[S_co]):
    """A factory of empty state machines."""

    def __call__(self, *, partition: int, registry: SnapshotRegistry, services: ShardServices) -> S_co: ...


class LoopServices(NamedTuple):
    """The services that a loop shares between its runtimes. Without both queues its shards have no outbox and no executor.

    ``arrivals`` says which requests wait for loads: none by default. ``silences`` takes those of a shard's clients.
    """

    store: LoadingLog
    flusher: Flusher
    timers: TimerQueue
    clock: Clock
    loads: LoadQueue
    # Whether records written by timers, answers and tasks get provenance headers.
    has_provenance: bool
    outbox: OutboxQueue | None = None
    executor: ExecutorQueue | None = None
    arrivals: Arrivals = NO_ARRIVALS
    silences: SilencesOf = unmeasured


class _None:
    """The outbox and the executor of a shard that must not use them, because no outcome would be delivered."""

    def send(self, *_: Any) -> NoReturn:
        raise AssertionError("this shard has no effects on others")

    def schedule(self, *_: Any) -> NoReturn:
        raise AssertionError("this shard has no tasks")

    def cancel(self, *_: Any) -> None:
        """Do nothing: there are no tasks."""

    def is_scheduled(self, *_: Any) -> bool:
        return False


NO_EFFECTS = _None()


def following(timer: CoordinatorTimer) -> ShardServices:
    """Return the services of a state machine that only replays records written by a different process."""
    return ShardServices(timer, NO_EFFECTS, NO_EFFECTS)


RunOwn = Callable[[Origin, str, Callable[[], CoordinatorResult[Any]], OnOutcome], None]


def shard_services(loop: LoopServices, shard: ShardContext[Any], run_own: RunOwn) -> ShardServices:
    """Return the services of one shard. ``run_own`` runs a write operation of it that no request caused."""
    if loop.outbox is None or loop.executor is None:
        return following(shard.timers)
    outbox = ShardOutbox(loop.outbox, lambda: shard.ownership, partial(run_own, SHARD_ORIGIN))
    executor = ShardExecutor(loop.executor, partial(run_own, TASK_ORIGIN))
    shard.effects = (outbox, executor)
    return ShardServices(shard.timers, outbox, executor)
