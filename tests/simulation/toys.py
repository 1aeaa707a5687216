"""A play with the toy kinds in it: somebody adds to totals, and knows in the end which additions must be there,
may be there, and must not.

Each addition to a name is a power of two of its own, so a total says which of them it has.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Final

from coordinator_server.kinds import Kind
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.server.local_operation import Refusal
from protocol.error_codes import ErrorCode
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from tests.simulation.client import Script
from tests.simulation.play import Play
from tests.simulation.world import MS
from tests.toy.rows import FOLDED, KEYED, PARTITIONS
from tests.toy.shard import ToyShard

ADDITIONS: Final = 60


class Adder:
    """Uses a kind for the first time, and then adds, now and then, to one name after the other."""

    def __init__(self, play: Play, kind: Kind) -> None:
        self._play = play
        self._kind = kind
        self._client = play.stage.client(f"adder of {kind.topic}")
        self.asked: dict[str, int] = {}
        self.answered: dict[str, int] = {}

    async def work(self) -> None:
        """Until abandoned."""
        request = FindCoordinatorRequest(key_type=self._kind.key_type or 0, coordinator_keys=["some"])
        found = None
        while found is None or found.coordinators[0].error_code != ErrorCode.NONE:
            await self._client.sleep(200)
            found = await self._client.ask(request, 4, FindCoordinatorResponse)
        for number in count():
            await self._client.sleep(self._play.rng.randint(1, 300))
            self._add(f"name-{number // ADDITIONS}-{number % 3}", 1 << number % ADDITIONS)

    def wrong(self) -> list[str]:
        """What the totals of the running server should not be, or should."""
        process = self._play.machine.serving
        assert process is not None
        runtime, found = process.daemon.rooms.hosting.node.runtimes[self._kind.topic], []
        for name, asked in self.asked.items():
            total = runtime.read(partition_for(name, PARTITIONS), ToyShard.total, name) or 0
            answered = self.answered.get(name, 0)
            if total & answered != answered or total & ~asked:
                found.append(f"{self._kind.topic}: {name} is {total:b}, {answered:b} was answered and {asked:b} asked for")
        return found

    def _add(self, name: str, amount: int) -> None:
        process = self._play.machine.serving
        if process is None:
            return
        operation = process.daemon.operations[self._kind.topic]

        async def ask() -> None:
            self.asked[name] = self.asked.get(name, 0) | amount
            try:
                await operation({"name": name, "amount": amount})
            except Refusal:
                return  # Whether it is in the log nobody knows, or a shard loads.
            self.answered[name] = self.answered.get(name, 0) | amount

        process.loop.call_soon(lambda: process._watch(ask()))


class ToyPlay(Play):
    """A play in which both toys are used. ``adders`` know what became of it."""

    def __init__(self, seed: int, storm_s: int) -> None:
        super().__init__(seed, storm_s)
        self.adders = [Adder(self, kind) for kind in (KEYED, FOLDED)]

    def _storm(self) -> None:
        for adder in self.adders:
            self.world.after(self.rng.randint(0, 2000) * MS, self._begin(adder))
        super()._storm()

    def _begin(self, adder: Adder) -> Callable[[], None]:
        return lambda: self.scripts.append(Script(adder.work()))

    def _silence(self) -> None:
        super()._silence()
        for adder in self.adders:
            self.broken += adder.wrong()
