"""A play in which leases are taken and renewed, while clocks jump: each token has one owner, and none goes back."""

from __future__ import annotations

from typing import Any

from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.server.local_operation import Refusal
from tests.leases.rows import LEASES, PARTITIONS
from tests.leases.shard import NOBODY, Lease, LeaseShard
from tests.simulation.play import Play
from tests.simulation.toys import Adder, ToyPlay

OWNERS = 3


class Lessees(Adder):
    """Three who want the same few leases, for up to four seconds each time."""

    def __init__(self, play: Play) -> None:
        super().__init__(play, LEASES)
        self.granted: dict[str, list[Lease]] = {}

    def wrong(self) -> list[str]:
        """What the leases of the running server should not be."""
        process = self._play.machine.serving
        assert process is not None
        runtime, found = process.daemon.rooms.hosting.node.runtimes[LEASES.topic], []
        for name, granted in self.granted.items():
            lease = runtime.read(partition_for(name, PARTITIONS), LeaseShard.lease, name) or Lease(NOBODY, 0, 0)
            owners = {(each.token, each.owner) for each in granted} | (
                {(lease.token, lease.owner)} if lease.owner != NOBODY else set()
            )
            if len(owners) != len({token for token, _ in owners}):
                found.append(f"{name}: a token has two owners: {sorted(owners)}")
            last = max(granted, key=lambda each: (each.token, each.expires_ms))
            if (lease.token, lease.expires_ms) < (last.token, last.expires_ms):
                found.append(f"{name} is {lease}, and {last} was answered")
        return found

    def _add(self, name: str, amount: int) -> None:
        process = self._play.machine.serving
        if process is None:
            return
        operation, rng = process.daemon.operations[LEASES.topic], self._play.rng
        request = {"name": name[-1], "owner": f"owner-{rng.randrange(OWNERS)}", "for_ms": rng.randint(1, 4000)}

        async def ask() -> None:
            try:
                answer: Any = await operation(request)
            except Refusal:
                return  # Somebody else has it, or whether it is in the log nobody knows.
            self.granted.setdefault(name[-1], []).append(Lease(**answer["lease"]))
            self.answered[name[-1]] = len(self.granted[name[-1]])

        process.loop.call_soon(lambda: process._watch(ask()))


class LeasePlay(ToyPlay):
    """A play in which leases are used, and no other toy."""

    def __init__(self, seed: int, storm_s: int) -> None:
        super().__init__(seed, storm_s)
        self.adders = [Lessees(self)]
