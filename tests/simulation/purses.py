"""Several loops in one thread and from one integer, whose shards pay into each other's purses (tests/toy/purse.py).

    a storm    transfers at random; loops are killed, stopped, and started again by what stands for their supervisor; links are slow, and children die
    a calm     nothing befalls anybody: every transfer comes to its end

Each loop is a whole server process with a disk of its own, which has its journal and its shards.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, Final

from coordinator_server.config import Config
from coordinator_server.kinds import partition_counts
from coordinator_server.log.directory import lock_directory, recover_all_loops
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.runtime.runtime import CoordinatorRuntime, WriteOperation
from coordinator_server.server.callback_reply import CallbackReply
from coordinator_server.server.cluster.nodes import CONTROLLER, loop_of
from coordinator_server.server.cluster.operations import CREATE_INTERNAL_TOPIC
from coordinator_server.server.composition import Place
from protocol.error_codes import ErrorCode
from protocol.messages.cluster_metadata import TopicRecord
from tests.simulation.links import Neighbourhood
from tests.simulation.machine import Machine, Process
from tests.simulation.network import Network
from tests.simulation.play import listening
from tests.simulation.world import MS, SECOND, World
from tests.toy.purse import FORGET, TOPIC, Fill, Forget, PurseShard, Transfer
from tests.toy.purse_rows import FILL, PARTITIONS, TRANSFER, state_of

STORM_S: Final = 12
CALM_S: Final = 25
EACH: Final = 1000
NAMES: Final = [f"purse-{number}" for number in range(8)]


def run(seed: int, mutate: Callable[[PursePlay], None] = lambda _: None) -> list[str]:
    """Play the whole of it; what went wrong. The same seed is the same play."""
    play = PursePlay(seed)
    mutate(play)
    return play.run()


class PursePlay:
    """Everything that a seed decides."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = Random(f"purses {seed}")
        self.world = World(rng)
        self.broken: list[str] = []
        self.told: list[tuple[int, str]] = []
        self.loops = rng.choice((1, 2, 2, 3))
        self.config = Config(
            offsets_topic_num_partitions=1,
            log_journal_bytes=rng.choice((8000, 1 << 16)),
            offsets_topic_segment_bytes=rng.choice((8000, 1 << 20)),
            log_cleaner_enable=False,
        )
        self.neighbourhood = Neighbourhood(self.world)
        self.neighbourhood.most_us = rng.choice((1, 2, 40)) * MS
        self.neighbourhood.slow_odds = rng.choice((0.0, 0.3, 0.6))
        self.neighbourhood.piece_odds = rng.choice((0.0, 0.1, 0.5))
        self.filled = 0
        self.is_calm = False
        self._transfers = 0
        self._starts = [0] * self.loops
        self.machines = [self._machine(loop) for loop in range(self.loops)]

    def _machine(self, loop: int) -> Machine:
        machine = Machine(self.world, Network(self.world), self.config, partial(self._tell, loop), self.broken.append)
        machine.neighbourhood = self.neighbourhood
        machine.is_timers_first = self.rng.random() < 0.5
        machine.inline_odds = self.rng.choice((1.0, 0.5, 0.0))
        machine.sync_us = self.rng.choice((1, 3, 60)) * MS
        machine.child_death_odds = self.rng.choice((0.0, 0.1, 0.5))
        if self.loops > 1:
            machine.next_place = partial(self._place, loop)
        return machine

    def _place(self, loop: int) -> Place:
        self._starts[loop] += 1
        ports = tuple(range(9092, 9092 + self.loops))
        serving = tuple(each for each, machine in enumerate(self.machines) if machine.process is not None)
        return Place(loop, ports, serving if loop == CONTROLLER else (), self._starts[loop])

    def run(self) -> list[str]:
        """Storm and calm."""
        with listening(self._logged):
            self._prepare()
            for machine in self.machines:
                machine.start()
            self._begin()
            self._storm()
            self._calm()
            for machine in self.machines:
                machine.kill()
        return self.broken

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
            outboxes = process.daemon.parts.node.runtimes[TOPIC]._services.outbox
            assert outboxes is not None
            reply = CallbackReply(outcomes.append, lambda error, _: outcomes.append(error))
            for _ in range(2):
                process.soon(lambda: outboxes._carrier.carry(ShardId(TOPIC, 0), FORGET, Forget("t"), reply))
                self.world.run_for(3 * SECOND)
            for machine in self.machines:
                machine.kill()
        return outcomes

    def _prepare(self) -> None:
        """What a supervisor does to the directory, of which every loop has its part."""
        if self.loops == 1:
            return
        first, counts = self.machines[0].disk, partition_counts(self.config)
        lock_directory(first, "/data", node_id=self.config.node_id, partitions=counts).lock.close()
        for machine in self.machines:
            machine.use("/data")
            if machine.disk is not first:
                machine.disk.put("/data/meta.properties", first.content("/data/meta.properties"))
            recover_all_loops(machine.disk, "/data", self.loops, partial(loop_of, loops=self.loops))

    def _begin(self) -> None:
        """The kind is put to use, and every purse gets something."""
        self.world.run_for(3 * SECOND)
        self._watch_over()
        controller = self.machines[CONTROLLER].serving
        assert controller is not None
        node = controller.daemon.parts.node
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

    def _storm(self) -> None:
        rng, world = self.rng, self.world
        for _ in range(rng.choice((30, 100, 300))):
            world.after(rng.randint(0, STORM_S * SECOND), self._pay)
        troubles = [self._kill, self._kill, self._stop, self._pause, self._pause_and_kill, self._fill_disk, self._lose_power]
        for _ in range(rng.choice((3, 8, 20))):
            world.after(rng.randint(0, STORM_S * SECOND), rng.choice(troubles))
        for _ in range(20):
            world.run_for(STORM_S * SECOND // 20)
            self._check()

    def _calm(self) -> None:
        self._tell(-1, "calm")
        self.is_calm = True
        self.neighbourhood.slow_odds = 0.0
        for machine in self.machines:
            machine.disk.mend()
            machine.resume()
            machine.child_death_odds = 0.0
        self.world.run_for(CALM_S * SECOND)
        self._check()
        states = self._states()
        if states is None:
            self.broken.append("a loop does not serve, on a quiet day")
            return
        for partition, state in states.items():
            if state["open"] or state["arrived"]:
                self.broken.append(f"not over in {CALM_S} quiet seconds at {partition}: {state['open']} {state['arrived']}")
            if state["sum"] != {"as_of": state["changed_at"], "amount": sum(state["purses"].values())}:
                self.broken.append(f"not added up in {CALM_S} quiet seconds: {state}")

    # What befalls them.

    def _watch_over(self) -> None:
        """Start again what has ended, as a supervisor does: a while later, and the whole server when the one loop is all there is."""
        for machine in self.machines:
            if machine.process is None:
                machine.start()
        self.world.after(self.world.between(10 * MS, SECOND), self._watch_over)

    def _any(self) -> Machine:
        return self.rng.choice(self.machines)

    def _kill(self) -> None:
        self._any().kill()

    def _stop(self) -> None:
        self._any().stop()

    def _pause(self) -> None:
        self._any().pause(self.rng.randint(MS, 3 * SECOND))

    def _pause_and_kill(self) -> None:
        """It hangs, and its supervisor has seen it."""
        machine = self._any()
        machine.pause(10 * SECOND)
        self.world.after(self.rng.randint(MS, 2 * SECOND), machine.kill)

    def _fill_disk(self) -> None:
        machine = self._any()
        fault = machine.disk.fail("pwrite", 28, "/journal/")
        fault_us = self.rng.randint(MS, 2 * SECOND)
        self._tell(self.machines.index(machine), f"disk full for {fault_us // MS} ms")
        assert fault is not None
        self.world.after(fault_us, machine.disk.mend)

    def _lose_power(self) -> None:
        """All of them at once."""
        for machine in self.machines:
            machine.lose_power()

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
        node = process.daemon.parts.node
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
            runtime: CoordinatorRuntime[PurseShard] = process.daemon.parts.node.runtimes[TOPIC]
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

    def _tell(self, loop: int, what: str) -> None:
        self.told.append((self.world.now_us, f"loop {loop}: {what}"))

    def _logged(self, line: dict[str, Any]) -> None:
        if "exception" in line and not self._is_excused(line):
            self.broken.append(f"logged: {line}")

    def _is_excused(self, line: dict[str, Any]) -> bool:
        return any(machine.disk._faults for machine in self.machines) and line["event"] == "shard-load-failed"
