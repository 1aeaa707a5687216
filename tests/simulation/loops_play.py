"""Several loops in one thread and from one integer: what a play with more than one loop shares.

    a storm    somebody uses the server; loops are killed, stopped, and started again by what stands for their supervisor; links
               are slow
    a calm     nothing befalls anybody: all that was begun comes to its end

Each loop is a whole server process with a disk of its own, which has its journal and its shards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, Final

from coordinator_server.kinds import partition_counts
from coordinator_server.log.directory import lock_directory, recover_all_loops
from coordinator_server.log.shards import ShardId
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.server.cluster.nodes import Place
from coordinator_server.server.cluster.view import CATALOG_SHARD
from tests.simulation.client import Client, Told
from tests.simulation.links import Neighbourhood
from tests.simulation.machine import Machine, Process
from tests.simulation.mirror import Mirror
from tests.simulation.network import Network
from tests.simulation.play import listening
from tests.simulation.world import MS, SECOND, World
from tests.support.configs import config_with
from tests.support.views import CONTROLLER, loop_of, loops_view

if TYPE_CHECKING:
    from tests.simulation.store_mirror import StoreMirror

STORM_S: Final = 12
CALM_S: Final = 25


class LoopsPlay:
    """Everything that a seed decides. ``properties`` are those of the servers, besides the ones that are drawn.

    storm    ``_act``: what clients do; troubles befall the loops
    calm     ``_rest``: nothing befalls anybody any more; ``_finish``: wait, and look at what must be true then:
             ``_wind_down``, what was begun comes to its end; then ``_start_again``
    """

    name = ""
    # How many troubles a storm has, one of these.
    trouble_counts: tuple[int, ...] = (3, 8, 20)
    # How many loops it has, one of these.
    loop_counts: tuple[int, ...] = (1, 2, 2, 3)
    properties: Mapping[str, Any] = {}
    # How long it takes until all serve again that were killed.
    restart_s = 5
    # How long nobody has done anything before what was begun has to be over.
    calm_s = CALM_S

    def __init__(self, seed: int, properties: Mapping[str, Any]) -> None:
        self.rng = rng = Random(f"{self.name} {seed}")
        self.world = World(rng)
        self.broken: list[str] = []
        self.told: list[tuple[int, str]] = []
        self.loops = rng.choice(self.loop_counts)
        self.neighbourhood = Neighbourhood(self.world)
        self.config = config_with(
            log_journal_bytes=rng.choice((8000, 1 << 16)),
            offsets_topic_segment_bytes=rng.choice((8000, 1 << 20)),
            log_cleaner_enable=False,
            **{**properties, **self.properties, **self._invite(seed)},
        )
        self.neighbourhood.most_us = rng.choice((1, 2, 40)) * MS
        self.neighbourhood.slow_odds = rng.choice((0.0, 0.3, 0.6))
        self.neighbourhood.piece_odds = rng.choice((0.0, 0.1, 0.5))
        self.is_calm = False
        self._starts = [0] * self.loops
        self.machines = [self._machine(loop) for loop in range(self.loops)]

    def _invite(self, seed: int) -> Mapping[str, Any]:
        """Have other plays on the same machines (``guests.py``). Return the properties that they need."""
        del seed
        return {}

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
        serving = tuple(each for each, machine in enumerate(self.machines) if machine.process is not None)
        return Place(loop, loops_view(self.loops, self.config.node_id), serving if loop == CONTROLLER else (), self._starts[loop])

    def run(self) -> list[str]:
        """Storm and calm. Return what went wrong."""
        with listening(self._logged):
            try:
                self._play()
            finally:
                # Also if the play cannot go on.
                for machine in self.machines:
                    machine.scrap()
        return self.broken

    def _play(self) -> None:
        self._prepare()
        for machine in self.machines:
            machine.start()
        self.world.run_for(3 * SECOND)
        self._watch_over()
        self._begin()
        self._storm()
        self._calm()

    # Who has what.

    def loop_with(self, shard: ShardId) -> int:
        """The loop that owns a shard."""
        return loop_of(shard, self.loops)

    @property
    def controller(self) -> int:
        """The loop that owns the catalog."""
        return self.loop_with(CATALOG_SHARD)

    def serving(self, shard: ShardId) -> Process | None:
        """The process that serves a shard, if one does."""
        return self.machines[self.loop_with(shard)].serving

    def partitions(self, topic: str) -> int:
        """The number of shards of a kind."""
        return partition_counts(self.config.log)[topic]

    def shard_of(self, topic: str, key: str) -> ShardId:
        """The shard of a kind that has a key."""
        return ShardId(topic, partition_for(key, self.partitions(topic)))

    def client_of(self, shard: ShardId, name: str, recorded: Told, answered: Told) -> Client:
        """A client that asks the owner of a shard."""
        return Client(self.machines[self.loop_with(shard)].network, name, recorded, answered)

    def lines(self) -> Iterator[str]:
        """Yield one line for each thing that has happened, for people."""
        yield from (f"{at_us / MS:12.3f} ---- {what}" for at_us, what in self.told)

    def _mirrors(self) -> Sequence[Mirror | StoreMirror]:
        return [self._mirror(loop) for loop in range(self.loops)]

    def _mirror(self, loop: int) -> Mirror:
        machine = self.machines[loop]
        mirror = Mirror(machine, self.broken.append, lambda shard: loop_of(shard, self.loops) == loop)
        machine.journaled = mirror.journaled
        # A mirror has to read a new process's log before a layer stands for some of it.
        machine.compacting = mirror.check
        return mirror

    # What a play adds

    def _begin(self) -> None:
        """The server is put to use, on a quiet day."""

    def _act(self) -> None:
        """Draw what somebody does in the storm."""

    def _check(self) -> None:
        """Look at what must be true at any moment."""

    def _end(self) -> None:
        """Look at what must be true after the calm."""

    # Its course

    def _prepare(self) -> None:
        """What a supervisor does to the directory, of which every loop has its part."""
        if self.loops == 1:
            return
        first, counts = self.machines[0].disk, partition_counts(self.config.log)
        lock_directory(first, "/data", node_id=self.config.node_id, partitions=counts).lock.close()
        for machine in self.machines:
            machine.use("/data")
            if machine.disk is not first:
                machine.disk.put("/data/meta.properties", first.content("/data/meta.properties"))
            recover_all_loops(machine.disk, "/data", self.loops, partial(loop_of, loops=self.loops))

    def _storm(self) -> None:
        rng, world = self.rng, self.world
        self._act()
        troubles = [self._kill, self._kill, self._stop, self._pause, self._pause_and_kill, self._fill_disk, self._lose_power]
        for _ in range(rng.choice(self.trouble_counts)):
            world.after(rng.randint(0, STORM_S * SECOND), rng.choice(troubles))
        for _ in range(20):
            world.run_for(STORM_S * SECOND // 20)
            self._check()

    def _calm(self) -> None:
        self._rest()
        self._finish()

    def _rest(self) -> None:
        self._tell(-1, "calm")
        self.is_calm = True
        self.neighbourhood.slow_odds = 0.0
        for machine in self.machines:
            machine.disk.mend()
            machine.resume()
            machine.child_death_odds = 0.0

    def _finish(self) -> None:
        finish([self])

    def _wind_down(self) -> Iterator[int]:
        """Yield how long to wait, in us, again and again, until what was begun is over."""
        yield self.calm_s * SECOND
        self._check()
        self._end()

    def _start_again(self) -> Iterator[int]:
        """Start everything again, if that is looked at, and look at what is left. Yield how long to wait, in us."""
        yield from ()

    # What befalls them.

    def _watch_over(self) -> None:
        """Start again what has ended, as a supervisor does:
        a while later, and the whole server when the one loop is all there is.
        """
        for machine in self.machines:
            if machine.process is None:
                machine.start()
        self.world.after(self.world.between(10 * MS, SECOND), self._watch_over)

    def _any(self) -> Machine:
        return self.rng.choice(self.machines)

    def _kill(self) -> None:
        self._kill_one(self._any())

    def _kill_one(self, machine: Machine) -> None:
        machine.kill()

    def _stop(self) -> None:
        self._any().stop()

    def _pause(self) -> None:
        self._any().pause(self.rng.randint(MS, 3 * SECOND))

    def _pause_and_kill(self) -> None:
        """It hangs, and its supervisor has seen it."""
        machine = self._any()
        machine.pause(10 * SECOND)
        self.world.after(self.rng.randint(MS, 2 * SECOND), machine.kill)

    def _set_clock(self) -> None:
        """That of the machine, which all loops read."""
        for machine in self.machines:
            machine.jump(-3_600_000)

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

    def _tell(self, loop: int, what: str) -> None:
        self.told.append((self.world.now_us, f"loop {loop}: {what}"))

    def _logged(self, line: dict[str, Any]) -> None:
        if "exception" in line and not self._is_excused(line):
            self.broken.append(f"logged: {line}")

    def _is_excused(self, line: dict[str, Any]) -> bool:
        return any(machine.disk._faults for machine in self.machines) and line["event"] == "shard-load-failed"


def finish(plays: Sequence[LoopsPlay]) -> None:
    """Let plays in one world come to their ends at the same time. Whoever starts all again waits for the others before."""
    world = plays[0].world
    world.pass_together([play._wind_down() for play in plays])
    world.pass_together([play._start_again() for play in plays])


Mutate = Callable[[LoopsPlay], None]
