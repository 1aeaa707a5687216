"""What a node serves in ``memberships.py``: a real runtime of toy shards on the shared store, behind a real lease, and its clients.

A client writes a number that nobody had before, or reads, at a node that it takes for the owner, rightly or not. All answers of one
shard have an order that explains them: no owner answers from a state that is not the log, and no former owner answers at all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from coordinator_server.log.shards import ShardId
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.runtime.lease import Gate, Lease
from protocol.error_codes import ErrorCode
from tests.simulation.checkers.offsets import NEVER, NONE, Step, is_linearizable
from tests.simulation.world import MS, World
from tests.support.runtime import CONTEXT, RUN, TOPIC, ToyRuntime, toy_record
from tests.support.shared_store import Database, SharedLog

NAME = "number"
TURN_US = MS

Later = Callable[[int, Callable[[], None]], None]
"""Runs something in the process, after some time, unless it is dead by then."""


class Asked:
    """A request. ``ended_us`` is NEVER as long as it may still have happened without an answer."""

    def __init__(self, number: int, sent_us: int, value: int | None) -> None:
        self.number = self.connection = number
        self.sent_us = sent_us
        self.ended_us = NEVER
        self.is_read = value is None
        self.value = value
        # Whether it certainly did not happen.
        self.is_refused = False


class History:
    """What clients asked of each shard."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._asked: dict[ShardId, list[Asked]] = defaultdict(list)
        self.count = self.answered = 0

    def ask(self, shard: ShardId, *, is_read: bool) -> Asked:
        """A request is sent."""
        self.count += 1
        asked = Asked(self.count, self._world.now_us, None if is_read else self.count)
        self._asked[shard].append(asked)
        return asked

    def answer(self, asked: Asked, value: int | None) -> None:
        """It has succeeded; a read says what it found."""
        self.answered += 1
        asked.ended_us = self._world.now_us
        if asked.is_read:
            asked.value = NONE if value is None else value

    def wrong(self) -> Iterator[str]:
        """Say what no order explains."""
        for shard, of_shard in self._asked.items():
            steps = [
                Step(each.sent_us, each.ended_us, each.is_read, each.value, each)  # type: ignore[arg-type]
                for each in of_shard
                if not each.is_refused and each.value is not None
            ]
            if not is_linearizable(steps):
                yield f"no order explains what happened to {shard}"


class ToyServer:
    """The runtime of one process. ``later`` runs what the store and the loop do, ``fate`` draws the next statement's."""

    def __init__(
        self, database: Database, gate: Gate, clocks: Any, later: Later, fate: Callable[[], None], delay: Callable[[], int]
    ) -> None:
        self.gate = gate
        self._later = later
        self._fate = fate
        self._delay = delay
        self.toy = ToyRuntime(store=SharedLog(database, self._post))  # type: ignore[arg-type]
        self.toy.clock.now_ms = clocks.boot_ms  # type: ignore[method-assign]
        self.toy.clock.wall_ms = clocks.wall_ms  # type: ignore[method-assign]
        self._is_awake = False

    def lease(self, regained: Callable[[], None]) -> Lease:
        """The right of the process to answer."""
        suspend = self.toy.runtime.suspend

        def renewed(_: bool) -> None:
            suspend(False)
            regained()

        return self.gate.lease(lambda _: suspend(True), renewed)

    def own(self, shard: ShardId, epoch: int) -> None:
        if shard.topic == TOPIC:
            self.toy.runtime.load(shard.partition, epoch)
            self._wake()

    def disown(self, shard: ShardId, unloaded: Callable[[], None]) -> None:
        if shard.topic == TOPIC:
            self.toy.runtime.unload(shard.partition)
        self.toy.flusher.after_submit(unloaded)
        self._wake()

    def serve(self, shard: ShardId, asked: Asked, history: History) -> None:
        """Handle a request that was read from a socket."""
        # As each pass over a connection does.
        self.gate.is_open()
        if asked.is_read:
            try:
                found = self.toy.number(NAME, shard.partition)
            except CoordinatorError:
                return
            history.answer(asked, found)
        else:
            assert asked.value is not None
            reply = _Reply(asked, history)
            self.toy.runtime.write(shard.partition, RUN, CONTEXT, _put(asked.value), reply)
            self._wake()

    def _wake(self) -> None:
        """Let the loop turn as long as there is something to do."""
        if self.toy.has_to_turn and not self._is_awake:
            self._is_awake = True
            self._later(TURN_US, self._turn)

    def _turn(self) -> None:
        self._is_awake = False
        self.toy.turn()
        self._wake()

    def _post(self, run: Callable[[], None]) -> None:
        def arrive() -> None:
            self._fate()
            run()
            self._wake()

        self._later(self._delay(), arrive)


class _Reply(NamedTuple):
    asked: Asked
    history: History

    def complete(self, _response: object, /) -> None:
        self.history.answer(self.asked, None)

    def fail(self, error: ErrorCode, _message: str | None = None, /) -> None:
        # Every other error may have been the end of something that is written all the same.
        self.asked.is_refused = error is ErrorCode.KAFKA_STORAGE_ERROR


def _put(number: int) -> Callable[[object, object], CoordinatorResult[str]]:
    return lambda _shard, _reply: CoordinatorResult(NAME, [toy_record(NAME, number)])
