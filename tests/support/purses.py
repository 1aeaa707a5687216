"""A loop with purse shards (tests/toy/purse.py), turned by hand: its messages wait until a test delivers them,
its child until a test lets it run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from coordinator_server.cli.executor import done_with
from coordinator_server.log.errors import LogError
from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.machine.outbox import Effect
from coordinator_server.machine.provenance import SHARD_ORIGIN
from coordinator_server.machine.shard import Reply, RequestContext
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.runtime.executor import Done, ExecutorQueue
from coordinator_server.runtime.flush import Flusher
from coordinator_server.runtime.loads import LoadQueue
from coordinator_server.runtime.outbox import OutboxQueue
from coordinator_server.runtime.runtime import CoordinatorRuntime, WriteOperation
from coordinator_server.runtime.services import LoopServices, ShardServices
from coordinator_server.runtime.timers import TimerQueue
from coordinator_server.server.hosting.executor import Run
from protocol.error_codes import ErrorCode
from tests.support.clock import BusyClock, ManualClock
from tests.support.runtime import MemoryStore, Outcome
from tests.toy.purse import CREDIT, FORGET, SERDE, TOPIC, Fill, PurseShard, Transfer

CONTEXT = RequestContext("", "", -1, 0, origin=SHARD_ORIGIN)
FILL = WriteOperation("fill", PurseShard.fill)
TRANSFER = WriteOperation("transfer", PurseShard.transfer)
RECEIVED: dict[str, WriteOperation[PurseShard, Any, Any]] = {
    CREDIT.name: WriteOperation(CREDIT.name, PurseShard.credit),
    FORGET.name: WriteOperation(FORGET.name, PurseShard.forget),
}


class Carried(NamedTuple):
    """A message on its way."""

    shard: ShardId
    effect: Effect[Any, Any]
    request: Any
    reply: Reply[Any]
    sender: Ownership | None = None


class Child:
    """One that says nothing before ``PurseLoop.compute``."""

    def __init__(self, done: Callable[[Done], None], lost: Callable[[], None]) -> None:
        self.done = done
        self.lost = lost
        self.asked: Run | None = None
        self.is_alive = True

    def run(self, task: str, argument: bytes, /) -> None:
        assert self.is_alive
        assert self.asked is None, "one at a time"
        self.asked = Run(task, argument)

    def kill(self) -> None:
        self.is_alive = False

    def die(self) -> None:
        """It has ended, whatever it was doing."""
        self.is_alive = False
        self.lost()


class PurseLoop:
    """The Carrier of its own messages: partitions are named by the last letter of a purse, a = 0."""

    def __init__(self, store: MemoryStore | None = None) -> None:
        self.store = store or MemoryStore()
        self.clock = ManualClock()
        self.timers = TimerQueue()
        self.carried: list[Carried] = []
        self.children: list[Child] = []
        self.cannot_start: OSError | None = None
        self._soon: list[Callable[[], None]] = []
        soon = self._soon.append
        self.flusher = Flusher(self.store, soon, lambda failure: None)
        self.outbox = OutboxQueue(self, soon, self.timers, self.clock)
        self.executor = ExecutorQueue(self._start_child, soon, self.timers, self.clock)
        loads = LoadQueue(soon, BusyClock())
        queues = {"outbox": self.outbox, "executor": self.executor}
        services = LoopServices(self.store, self.flusher, self.timers, self.clock, loads, has_provenance=True, **queues)  # type: ignore[arg-type]
        self.runtime: CoordinatorRuntime[PurseShard] = CoordinatorRuntime(
            TOPIC, SERDE, self._build, services, max_batch_bytes=1 << 20
        )

    def _build(self, *, partition: int, registry: SnapshotRegistry, services: ShardServices) -> PurseShard:
        return PurseShard(registry=registry, outbox=services.outbox, executor=services.executor)

    def _start_child(self, done: Callable[[Done], None], lost: Callable[[], None]) -> Child:
        if self.cannot_start is not None:
            raise self.cannot_start
        self.children.append(Child(done, lost))
        return self.children[-1]

    # The Carrier.

    def locate(self, topic: str, to: int | str, /) -> ShardId:
        return ShardId(topic, to if isinstance(to, int) else ord(to[-1]) - ord("a"))

    def carry(
        self, sender: Ownership | None, shard: ShardId, effect: Effect[Any, Any], request: Any, reply: Reply[Any], /
    ) -> None:
        self.carried.append(Carried(shard, effect, request, reply, sender))

    def deliver(self, carried: Carried | None = None) -> None:
        """The message arrives; the first, if none is named."""
        carried = carried or self.carried.pop(0)
        operation = RECEIVED[carried.effect.name]
        self.runtime.write(carried.shard.partition, operation, CONTEXT, carried.request, carried.reply)

    # What tests do.

    def load(self, *partitions: int, epoch: int = 1) -> None:
        for partition in partitions:
            self.runtime.load(partition, epoch)
        self.turn()

    def turn(self) -> None:
        """Turns of the loop, until there is nothing to do."""
        while self._soon:
            soon = self._soon[:]
            self._soon.clear()
            for callback in soon:
                callback()

    def pass_time(self, ms: int) -> None:
        """Time passes, and what is due is done."""
        self.clock.advance(ms)
        self.timers.run(self.clock.now_ms())
        self.turn()

    def flush(self, failure: LogError | None = None) -> None:
        """The disk is done with what there is to write."""
        self.turn()
        self.store.finish(failure)
        self.turn()

    def run(self) -> None:
        """Everything happens that can: messages arrive, batches are durable, the child computes."""
        self.turn()
        while self.carried or self.store.open is not None or self._is_computing:
            if self.store.open is not None:
                self.store.finish()
            elif self.carried:
                self.deliver()
            else:
                self.compute()
            self.turn()

    @property
    def _is_computing(self) -> bool:
        return bool(self.children) and self.children[-1].is_alive and self.children[-1].asked is not None

    def compute(self) -> None:
        """The child is done with its task."""
        child = self.children[-1]
        asked, child.asked = child.asked, None
        assert asked is not None
        child.done(done_with(asked))

    def fill(self, name: str, amount: int) -> None:
        """Money from nowhere, durable."""
        self.runtime.write(self.locate(TOPIC, name).partition, FILL, CONTEXT, Fill(name, amount), Outcome())
        self.flush()

    def transfer(self, transfer_id: str, payer: str, payee: str, amount: int) -> Outcome:
        """Not durable yet."""
        outcome = Outcome()
        request = Transfer(transfer_id, payer, payee, amount)
        self.runtime.write(self.locate(TOPIC, payer).partition, TRANSFER, CONTEXT, request, outcome)
        return outcome

    def purses(self) -> dict[str, int]:
        """All that is durable in all shards."""
        return {
            name: amount
            for progress in self.runtime.progress
            for name, amount in self.runtime.read(progress.shard.partition, PurseShard.purses).items()
        }

    def under_way(self, partition: int = 0) -> set[str]:
        return set(self.runtime.read(partition, PurseShard.under_way))

    def arrived(self, partition: int) -> set[str]:
        return self.runtime.read(partition, PurseShard.arrived)

    def refuse(self, error: ErrorCode) -> Carried:
        """The message is refused, by whoever; the message."""
        carried = self.carried.pop(0)
        carried.reply.fail(error)
        self.turn()
        return carried
