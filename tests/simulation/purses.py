"""Several loops whose shards pay into each other's purses (tests/toy/purse.py): transfers at random, and what may befall loops."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from coordinator_server.log.shards import ShardId
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.runtime.runtime import CoordinatorRuntime, WriteOperation
from coordinator_server.server.cluster.operations import CREATE_INTERNAL_TOPIC
from protocol.error_codes import ErrorCode
from protocol.messages.cluster_metadata import TopicRecord
from tests.simulation.loops_play import CALM_S, STORM_S, LoopsPlay
from tests.simulation.machine import Process
from tests.simulation.play import listening
from tests.simulation.world import SECOND
from tests.support.views import CONTROLLER
from tests.toy.purse import FORGET, TOPIC, Fill, Forget, PurseShard, Transfer
from tests.toy.purse_rows import FILL, PARTITIONS, TRANSFER, state_of

EACH: Final = 1000
NAMES: Final = [f"purse-{number}" for number in range(8)]


def run(seed: int, mutate: Callable[[PursePlay], None] = lambda _: None) -> list[str]:
    """Play the whole of it; what went wrong. The same seed is the same play."""
    play = PursePlay(seed)
    mutate(play)
    return play.run()


class PursePlay(LoopsPlay):
    """A play in which purses pay each other. ``filled`` is all the money that there is."""

    name = "purses"

    def __init__(self, seed: int) -> None:
        super().__init__(seed, {"offsets_topic_num_partitions": 1})
        self.filled = 0
        self._transfers = 0

    def first_messages(self) -> list[object]:
        """What becomes of two messages to purses that nobody has used, a while apart, from the last loop."""
        with listening(self._logged):
            self._prepare()
            for machine in self.machines:
                machine.start()
            self.world.run_for(3 * SECOND)
            outcomes: list[object] = []
            process = self.machines[-1].serving
            assert process is not None
            outboxes = process.daemon.rooms.hosting.node.runtimes[TOPIC]._services.outbox
            assert outboxes is not None
            reply = CallbackReply(outcomes.append, lambda error, _: outcomes.append(error))
            for _ in range(2):
                process.soon(lambda: outboxes._carrier.carry(None, ShardId(TOPIC, 0), FORGET, Forget("t"), reply))
                self.world.run_for(3 * SECOND)
            for machine in self.machines:
                machine.kill()
        return outcomes

    def _begin(self) -> None:
        """The kind is put to use, and every purse gets something."""
        controller = self.machines[CONTROLLER].serving
        assert controller is not None
        node = controller.daemon.rooms.hosting.node
        [topic] = [each for each in node.internal.on_demand() if each.name == TOPIC]
        request = TopicRecord(TOPIC, topic.topic_id)
        reply = CallbackReply(lambda _: None, lambda error, _: self.broken.append(f"purses are not in use: {error.name}"))
        controller.loop.call_soon(lambda: node.catalog.write(CREATE_INTERNAL_TOPIC, node.ourselves, request, reply))
        self.world.run_for(3 * SECOND)
        for name in NAMES:
            self._do(FILL, name, Fill(name, EACH), self._add)
        self.world.run_for(SECOND)
        if self.filled != EACH * len(NAMES):
            self.broken.append("not every purse could be filled on a quiet day")

    def _add(self) -> None:
        self.filled += EACH

    def _act(self) -> None:
        for _ in range(self.rng.choice((30, 100, 300))):
            self.world.after(self.rng.randint(0, STORM_S * SECOND), self._pay)

    def _end(self) -> None:
        states = self._states()
        if states is None:
            self.broken.append("a loop does not serve, on a quiet day")
            return
        for partition, state in states.items():
            if state["open"] or state["arrived"]:
                self.broken.append(f"not over in {CALM_S} quiet seconds at {partition}: {state['open']} {state['arrived']}")
            if state["sum"] != {"as_of": state["changed_at"], "amount": sum(state["purses"].values())}:
                self.broken.append(f"not added up in {CALM_S} quiet seconds: {state}")

    def _pay(self) -> None:
        rng = self.rng
        self._transfers += 1
        payer, payee = rng.sample(NAMES, 2)
        if rng.random() < 0.1:
            payee = f"sealed-{payee}"
        transfer = Transfer(f"t{self._transfers}", payer, payee, rng.randint(1, 50))
        self._do(TRANSFER, payer, transfer)

    def _do(
        self, operation: WriteOperation[PurseShard, Any, Any], name: str, request: object, done: Callable[[], None] = lambda: None
    ) -> None:
        """Run an operation at the loop that has the purse, if it is there."""
        partition = partition_for(name, PARTITIONS)
        process = self.machines[partition % self.loops].serving
        if process is not None:
            reply = CallbackReply(lambda _: done(), self._refused)
            process.soon(partial(self._write, process, partition, operation, request, reply))

    def _write(
        self,
        process: Process,
        partition: int,
        operation: WriteOperation[PurseShard, Any, Any],
        request: object,
        reply: CallbackReply,
    ) -> None:
        node = process.daemon.rooms.hosting.node
        node.runtimes[TOPIC].write(partition, operation, node.ourselves, request, reply)

    def _refused(self, error: ErrorCode, message: str | None) -> None:
        """Nobody has to take a transfer."""

    # What is looked at.

    def _states(self) -> dict[int, dict[str, Any]] | None:
        """What all shards hold, as durable; None unless all are there."""
        found: dict[int, dict[str, Any]] = {}
        for partition in range(PARTITIONS):
            process = self.machines[partition % self.loops].serving
            if process is None:
                return None
            runtime: CoordinatorRuntime[PurseShard] = process.daemon.rooms.hosting.node.runtimes[TOPIC]
            try:
                found[partition] = runtime.read(partition, state_of)
            except CoordinatorError:
                return None
        return found

    def _check(self) -> None:
        """At any moment that all shards are there, no money is lost, and none is made."""
        states = self._states()
        if states is None:
            return
        arrived = {transfer for state in states.values() for transfer in state["arrived"]}
        total = 0
        for state in states.values():
            total += sum(state["purses"].values())
            total += sum(amount for transfer, amount in state["under_way"].items() if transfer not in arrived)
            summed = state["sum"]
            if (
                summed is not None
                and summed["as_of"] == state["changed_at"]
                and summed["amount"] != sum(state["purses"].values())
            ):
                self.broken.append(f"a child has added up what there is not: {state}")
        if total != self.filled:
            self.broken.append(f"there was {self.filled}, and is {total}: {states}")
