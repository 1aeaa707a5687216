"""Plays that share the machines of another one, their host: what befalls these is the host's, what is done with them is theirs.

A host has several guests, so what one family of clients does happens beside what the others do: over the same topics, and in
shards of the same owners. ``nodes.py`` has the host of all families.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

from coordinator_server.log.shards import ShardId
from tests.simulation.client import Client, Told
from tests.simulation.consumers import ConsumersPlay
from tests.simulation.loops_play import CALM_S, LoopsPlay
from tests.simulation.machine import Machine, Process
from tests.simulation.node_troubles import COMING_BACK_S
from tests.simulation.shares import SharesPlay
from tests.simulation.store_mirror import StoreMirror
from tests.simulation.streams import StreamsPlay
from tests.simulation.transactions import TransactionPlay

if TYPE_CHECKING:
    from tests.simulation.nodes_play import NodesPlay

G = TypeVar("G", bound="Guest")


class Guest(LoopsPlay):
    """What a play of loops has to be its own, on the nodes of a host. To be put after the play among the bases of a class.

    ``wanted`` are the properties that it needs. It has machines from ``arrive`` on, and does nothing with them before.
    """

    host: NodesPlay
    restart_s = 12
    # They have rested since the host's calm, in which its nodes come to terms.
    calm_s = CALM_S - COMING_BACK_S

    def __init__(self, seed: int, properties: Mapping[str, Any]) -> None:
        host = self.host
        self.wanted = properties
        self.rng = Random(f"{self.name} guest {seed}")
        self.world, self.broken, self.neighbourhood, self.loops = host.world, host.broken, host.neighbourhood, host.loops
        self.told = []
        self.is_calm = False

    @classmethod
    def invited(cls: type[G], host: NodesPlay, seed: int) -> G:
        """Return a guest of a host."""
        made: Callable[[int], G] = type(cls.__name__, (cls,), {"host": host})
        return made(seed)

    def arrive(self) -> None:
        """The host has its machines."""
        self.config, self.machines = self.host.config, self.host.machines

    def loop_with(self, shard: ShardId) -> int:
        return self.host.loop_with(shard)

    def serving(self, shard: ShardId) -> Process | None:
        return self.host.serving(shard)

    def client_of(self, shard: ShardId, name: str, recorded: Told, answered: Told) -> Client:
        return self.host.client_of(shard, name, recorded, answered)

    def _kill_one(self, machine: Machine) -> None:
        """In a play in which that may happen."""
        if not self.host.strands_every_us:
            super()._kill_one(machine)

    def _set_clock(self) -> None:
        """That of one node: none whose clock is far from the store's takes shards."""
        if not self.host.strands_every_us:
            self.host._jump()

    def _mirrors(self) -> Sequence[StoreMirror]:
        return [self.host.mirror]


class ConsumersOfNodes(ConsumersPlay, Guest):
    """Members of classic and consumer groups."""

    letter = "c"


class SharesOfNodes(SharesPlay, Guest):
    """Members of share groups, and leaders of share partitions."""

    letter = "s"


class StreamsOfNodes(StreamsPlay, Guest):
    """Members of streams groups."""

    letter = "w"


class TransactionsOfNodes(TransactionPlay, Guest):
    """Producers with transactions over groups of different nodes."""
