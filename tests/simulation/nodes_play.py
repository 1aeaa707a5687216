"""Several nodes, each a whole daemon on a machine of its own, on one simulated shared store: what its plays have in common.

    a storm    nodes are killed, stopped, paused for longer than their leases, suspended, cut from the store; clocks jump and go at
               different speeds; shards move; the store loses statements and answers, and goes on as its standby; layers are made
               and replace rows (``layer_makers.py``)
    a calm     nothing befalls anybody

What must be true at any moment: of one shard no two nodes may answer, no epoch has two owners, and no shard goes back and forth.
After the calm each shard has an owner that lives and has loaded it. A node never ends by itself. Clients of all families are the
play's guests (``guests.py``).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from functools import partial
from random import Random
from typing import Any, Final

from msgspec.structs import replace

from coordinator_server.kinds import GROUPS, TRANSACTIONS
from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.runtime.context import ShardState
from coordinator_server.runtime.runtime import CoordinatorRuntime
from coordinator_server.server.cluster.view import CATALOG_SHARD
from tests.simulation import registers
from tests.simulation.client import Client, Script, Told
from tests.simulation.groups_play import GroupsPlay
from tests.simulation.guests import ConsumersOfNodes, Guest, SharesOfNodes, StreamsOfNodes, TransactionsOfNodes
from tests.simulation.history import Op
from tests.simulation.layer_makers import LayerMakers
from tests.simulation.loops_play import STORM_S, finish
from tests.simulation.machine import FIRST_WALL_MS, Machine, Process
from tests.simulation.network import Network
from tests.simulation.node_troubles import COMING_BACK_S, LEASE_MS, NodeTroubles
from tests.simulation.played_nodes import FIRST_NODE, Node, NodeClock, RoutedClient, Spared
from tests.simulation.registers import OffsetRegister, Register
from tests.simulation.store_mirror import StoreMirror
from tests.simulation.transactions import IDS
from tests.simulation.world import MS, SECOND
from tests.support.shared_members import Rows
from tests.support.shared_store import Database

PROPERTIES: Final[Mapping[str, Any]] = {"broker_session_timeout_ms": LEASE_MS, "broker_heartbeat_interval_ms": 600}
REGISTER: Final = "a-register"
TOPIC: Final = "t0"
"""One that exists from the start of the storm on."""
MOST_OWNERS: Final = 24
OWNERS_S: Final = 3
"""How many owners a shard has in so many seconds at the most. Commands that move shards each second, and moves back into balance,
make 14.
"""
FAMILIES: Final[tuple[type[Guest], ...]] = (TransactionsOfNodes, ConsumersOfNodes, StreamsOfNodes, SharesOfNodes)
"""Of clients, all at the same time."""


class NodesPlay(NodeTroubles):
    """Everything that a seed decides: nodes, what befalls them, and the plays of all families, its guests."""

    name = "nodes"
    loop_counts = (2, 3, 3)
    trouble_counts = (3, 8, 20)
    properties = PROPERTIES
    restart_s = 12

    def __init__(self, seed: int) -> None:
        self.database = Database()
        self.nodes: list[Node] = []
        self.owners: dict[Ownership, int] = {}
        self.owned_since = defaultdict[ShardId, deque[int]](lambda: deque(maxlen=MOST_OWNERS))
        self.cut_until_us = 0
        self.mirror = StoreMirror(self)
        self.guests: list[Guest] = []
        super().__init__(seed, {})
        for guest in self.guests:
            guest.arrive()
        rng = self.rng
        self.database.membership = Rows(self.shards)
        self.database.lateness = rng.choice((1, 10, 60))
        self.database.replicate()
        self.most_delay_us = rng.choice((2, 5, 60)) * MS
        self.fate_odds = rng.choice((0.0, 0.01, 0.1))
        # What is in a socket may be read when the shards have other owners.
        self.slow_us = rng.choice((2, 8)) * SECOND
        self.moves_every_us = rng.choice((0, 0, 1, 4)) * SECOND
        self.strands_every_us = rng.choice((0, 0, 2)) * SECOND
        self.senders = [self.shard_of(TRANSACTIONS.topic, each) for each in IDS]
        self.moved = self.ripe = 0
        self.is_storming = False
        self.layers = LayerMakers(self, Random(f"layers {seed}"))
        self.register = Register(self.broken.append)
        self.offsets = OffsetRegister(self.broken.append, REGISTER, TOPIC)
        self._readers: list[Script] = []

    def _invite(self, seed: int) -> Mapping[str, Any]:
        self.guests = [family.invited(self, seed) for family in FAMILIES]
        return {name: value for guest in self.guests for name, value in guest.wanted.items()}

    def _machine(self, loop: int) -> Machine:
        config = replace(self.config, node_id=FIRST_NODE + loop)
        machine = Machine(self.world, Network(self.world), config, partial(self._told_by, loop), self.broken.append)
        machine.neighbourhood = self.neighbourhood
        machine.is_timers_first = self.rng.random() < 0.5
        machine.child_death_odds = self.rng.choice((0.0, 0.1, 0.5))
        clock = NodeClock(machine)
        clock.speed = 1 + self.rng.choice((-0.045, 0, 0.045))
        machine.make_clock = lambda _machine: clock
        node = Node(self, loop, machine, clock)
        machine.equip = node.equip
        machine.when_serving = node.watch_lease
        self.nodes.append(node)
        return machine

    def _told_by(self, loop: int, what: str) -> None:
        self._tell(loop, what)
        if what.startswith("ended: "):
            self.broken.append(f"node {FIRST_NODE + loop} {what}")

    def delay_us(self) -> int:
        return self.world.between(MS // 2, self.most_delay_us)

    def wall_ms(self) -> int:
        """The store's clock."""
        return FIRST_WALL_MS + self.world.now_us // 1000

    # Who has what.

    @property
    def rows(self) -> Rows:
        found: Rows = self.database.membership
        return found

    def loop_with(self, shard: ShardId) -> int:
        owner = self.rows.shards[shard].owner
        return -1 if owner is None else owner.node - FIRST_NODE

    def serving(self, shard: ShardId) -> Process | None:
        row = self.rows.shards[shard]
        process = self.machines[self.loop_with(shard)].serving
        if row.owner is None or process is None:
            return None
        hosting = process.daemon.rooms.hosting
        if shard == CATALOG_SHARD and not process.daemon._is_controller:
            # It has the shard and does not know all of it yet: it answers from what it knew before.
            return None
        context = hosting.node.runtimes[shard.topic]._contexts.get(shard.partition)
        if context is not None and context.state in (ShardState.SUSPENDED, ShardState.FAILED):
            return None
        if context is not None and context.epoch == row.epoch:
            return process
        # A kind that nobody has used is loaded nowhere.
        is_used = any(kept.batches for each, kept in self.database.shards.items() if each.topic == shard.topic)
        return None if is_used or hosting.hosted.is_used(shard.topic) else process

    def client_of(self, shard: ShardId, name: str, recorded: Told, answered: Told) -> Client:
        return RoutedClient(partial(self._route, shard), name, recorded, answered)

    def _route(self, shard: ShardId) -> Network:
        loop = self.loop_with(shard)
        if loop < 0 or (not self.is_calm and self.rng.random() < 0.1):
            loop = self.rng.randrange(self.loops)
        return self.machines[loop].network

    def _reader(self, register: Register, number: int, client: Client) -> Script:
        return Script(registers.work(register, Random(f"{self.rng.random()}"), client, number))

    def _committer(self, number: int) -> Client:
        """A client that commits, or reads: at the owner, or at a node that was it when the client last looked."""
        shard = self.shard_of(GROUPS.topic, REGISTER)
        name = f"committer-{number}"
        if number < 2:
            return self.client_of(shard, name, _nobody, _nobody)
        return RoutedClient(partial(self._stale_route, shard, {}), name, _nobody, _nobody)

    def _stale_route(self, shard: ShardId, known: dict[str, Network]) -> Network:
        if not known or self.rng.random() < 0.1:
            known["network"] = self._route(shard)
        return known["network"]

    def _anywhere(self, name: str) -> Client:
        """A client that asks any node."""
        return RoutedClient(lambda: self.rng.choice(self.machines).network, name, _nobody, _nobody)

    # Its course.

    def _prepare(self) -> None:
        """There is no directory."""

    def _begin(self) -> None:
        for guest in self.guests:
            guest._begin()

    def _act(self) -> None:
        for guest in self.guests:
            guest._act()

    def _check(self) -> None:
        for guest in self.guests:
            guest._check()

    def _rest(self) -> None:
        super()._rest()
        for guest in self.guests:
            guest._rest()

    def _finish(self) -> None:
        finish(self.guests)
        self.mirror.check_times()

    def _storm(self) -> None:
        rng, world = self.rng, self.world
        self.is_storming = True
        self.neighbourhood.slow_us = self.slow_us
        self._act()
        self.layers.begin()
        self._readers = [
            self._reader(self.register, 0, self.client_of(CATALOG_SHARD, "administrator-0", _nobody, _nobody)),
            *(self._reader(self.register, number, self._anywhere(f"administrator-{number}")) for number in range(1, 4)),
            *(self._reader(self.offsets, number, self._committer(number)) for number in range(5)),
        ]
        # In a long storm what the clients of the families do comes first.
        storm_us = rng.choice((1, 1, 2)) * STORM_S * SECOND
        for _ in range(0 if self.strands_every_us else rng.choice(self.trouble_counts)):
            world.after(rng.randint(0, storm_us), rng.choice(self.troubles))
        if self.moves_every_us:
            self._move_on()
        if self.strands_every_us:
            # Nothing else befalls anybody: what a message has ended has to be over, and the next to have begun, when it arrives.
            self.neighbourhood.slow_odds = 0.0
            self._strand_on()
        for _ in range(20):
            world.run_for(storm_us // 20)
            self._check()

    def _calm_nodes(self) -> None:
        now_us = self.world.now_us
        self.is_storming, self.is_calm = False, True
        self.neighbourhood.hurry()
        self.cut_until_us = min(self.cut_until_us, now_us)
        for node in self.nodes:
            node.cut_until_us, node.down_until_us = min(node.cut_until_us, now_us), 0
            node.machine.wall_ahead_ms = 0

    def _calm(self) -> None:
        self._calm_nodes()
        # Whoever was paused is marked dead by others first, and then comes back. Meanwhile clients go on for a while: they are
        # most of what such seconds cost.
        for node in self.nodes:
            node.machine.resume()
            node.clock.wake()
        self._watch_over_all()
        self.world.run_for(LEASE_MS * MS)
        for script in self._readers:
            script.abandon()
        self._rest()
        self.world.run_for(COMING_BACK_S * SECOND)
        self.check_all_owned()
        self._finish()

    def _watch_over(self) -> None:
        self._watch_over_all()
        self.world.after(self.world.between(10 * MS, SECOND), self._watch_over)

    def _watch_over_all(self) -> None:
        for node in self.nodes:
            if node.process is None and self.world.now_us >= node.down_until_us:
                node.machine.start()

    def lines(self) -> Iterator[str]:
        """Yield one line for each thing that has happened, for people."""
        yield from sorted([*super().lines(), *(line for guest in self.guests for line in guest.lines())])

    def members_at(self, runtime: CoordinatorRuntime[Any], since_us: float) -> list[Spared]:
        """The members of groups of a node's shards whose answers were in force at a time."""
        return [
            Spared(guest._shard(group_id), context, guest.ledger, life)
            for guest in self.guests
            if isinstance(guest, GroupsPlay)
            for group_id, lives in guest.ledger.lives.items()
            if (context := runtime._contexts.get(guest._shard(group_id).partition)) is not None
            for life in lives
            if life.in_force_until_us > since_us
        ]

    # What is looked at.

    def check_owners(self) -> None:
        """No two nodes may answer for a shard, no epoch has two owners, and no shard goes back and forth."""
        owners, able, count = self.owners, set[ShardId](), 0
        for node in self.nodes:
            for owned in node.answers_for():
                count += 1
                able.add(owned[0])
                if owned not in owners:
                    self._note_owner(owned, node.id)
                elif owners[owned] != node.id:
                    self.broken.append(f"{owned.shard} has two owners at epoch {owned.epoch}")
        if len(able) < count:
            for shard in able:
                epochs = {node.id: epoch for node in self.nodes for each, epoch in node.answers_for() if each == shard}
                self.broken += [f"of {shard} may answer: {epochs}"] if len(epochs) > 1 else []

    def _note_owner(self, owned: Ownership, node_id: int) -> None:
        self.owners[owned] = node_id
        since, now_us = self.owned_since[owned.shard], self.world.now_us
        since.append(now_us)
        if len(since) == MOST_OWNERS and since[0] > now_us - OWNERS_S * SECOND:
            self.broken.append(f"{owned.shard} goes back and forth: {MOST_OWNERS} owners since {since[0] / SECOND:.1f} s")

    def check_all_owned(self) -> None:
        """Each shard has an owner that lives and has loaded it, if its kind is in use."""
        for shard, row in self.rows.shards.items():
            if not self.rows.is_alive(row.owner) or self.serving(shard) is None:
                self.broken.append(f"after the calm {shard} is that of {row.owner} at {row.epoch}, which does not serve it")


def _nobody(_op: Op) -> None:
    """Note nothing of a request."""
