"""What befalls nodes that share a store: they end, stand still, do not hear from the store or from each other, and give shards
away.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Final

from coordinator_server.group.share.state_effects import DELETE_STATES
from coordinator_server.kinds import partition_counts
from coordinator_server.log.shards import ShardId
from coordinator_server.server.cluster.view import CATALOG_SHARD
from coordinator_server.transaction.markers import WRITE_MARKER
from tests.simulation.loops_play import LoopsPlay
from tests.simulation.machine import Process
from tests.simulation.played_nodes import FIRST_NODE, Node
from tests.simulation.world import MS
from tests.support.shared_store import Database

LEASE_MS: Final = 3000
COMING_BACK_S: Final = 3 * LEASE_MS // 1000
"""After so long without troubles every node is there again, and each shard has an owner."""
STRANDED: Final = frozenset({WRITE_MARKER.name, DELETE_STATES.name})
"""The messages that end something, so that they must not act on what has begun since."""


class NodeTroubles(LoopsPlay):
    """A play whose loops are nodes.

    ``senders`` are the shards whose messages end something. ``moves_every_us``: how often at most somebody gives a shard away;
    ``strands_every_us``: how often a message is held; 0 is never.
    """

    nodes: list[Node]
    database: Database
    cut_until_us: int
    moves_every_us: int
    strands_every_us: int
    senders: list[ShardId]
    moved: int

    @property
    def shards(self) -> list[ShardId]:
        counts = partition_counts(self.config.log)
        return [ShardId(topic, partition) for topic, count in counts.items() for partition in range(count)]

    @property
    def troubles(self) -> list[Callable[[], None]]:
        """Those of a storm: some of them, at any time."""
        return [
            self._kill,
            self._stop,
            self._stay_away,
            self._pause,
            self._pause_long,
            self._suspend,
            self._strand,
            self._strand,
            self._cut,
            self._cut_store,
            self._leave_behind,
            self._depose,
            self._jump,
            self._fail_over,
        ]

    def _any_node(self) -> Node:
        return self.rng.choice(self.nodes)

    def _stay_away(self) -> None:
        """It is killed, and does not come back for a while."""
        node = self._any_node()
        node.machine.kill()
        node.down_until_us = self.world.now_us + self.rng.randint(0, 3 * LEASE_MS) * MS

    def _pause_long(self) -> None:
        self._any().pause(self.rng.randint(0, 3 * LEASE_MS) * MS)

    def _suspend(self) -> None:
        """The whole machine stands still: its CLOCK_MONOTONIC, too."""
        node, duration_us = self._any_node(), self.rng.randint(0, 3 * LEASE_MS) * MS
        process = node.process
        if process is not None and self.world.now_us >= process.paused_until_us:
            node.machine.pause(duration_us)
            self.world.after(duration_us, partial(setattr, node.clock, "suspended_us", node.clock.suspended_us + duration_us))

    def _strand(self) -> None:
        """A message is under way for so long that others own the shards of its sender, which stands still meanwhile."""
        loop, until_us = self.loop_with(self.rng.choice(self.senders)), self.world.now_us + self.rng.randint(4000, 8000) * MS
        node = self.nodes[loop]
        process = node.process
        if loop >= 0 and process is not None:
            self.neighbourhood.hold(process, until_us)
            self._pause_with_a_message(node, process, until_us)

    def _pause_with_a_message(self, node: Node, process: Process, until_us: int) -> None:
        """Pause a node as soon as it has sent something that changes others and has no answer."""
        if self.is_calm or node.process is not process or self.world.now_us >= until_us:
            return
        if self._has_sent(process):
            self._tell(node.id - FIRST_NODE, f"has sent what arrives after {until_us // MS} ms")
            node.machine.pause(2 * LEASE_MS * MS)
        else:
            self.world.after(5 * MS, partial(self._pause_with_a_message, node, process, until_us))

    def _has_sent(self, process: Process) -> bool:
        rooms = process.daemon._rooms
        neighbours = None if rooms is None else rooms.cluster.neighbours
        senders = () if neighbours is None else neighbours._senders.values()
        return any(asked.effect.name in STRANDED for sender in senders for asked in sender._asked.values())

    def _strand_on(self) -> None:
        """Again and again: few of the messages that are under way then would change something."""
        if not self.is_calm:
            self._strand()
            self.world.after(self.strands_every_us, self._strand_on)

    def _cut(self) -> None:
        self._cut_off(self._any_node(), self.rng.randint(0, 3 * LEASE_MS) * MS)

    def _cut_off(self, node: Node, duration_us: int) -> None:
        node.cut_until_us = self.world.now_us + duration_us
        self._tell(node.id - FIRST_NODE, f"is cut from the store until {node.cut_until_us // MS} ms")

    def _leave_behind(self) -> None:
        """A node does not hear from the store, and meanwhile there is another controller, or another term of the same."""
        leader, duration_us = self.loop_with(CATALOG_SHARD), self.rng.randint(0, 3 * LEASE_MS) * MS
        self._cut_off(self.rng.choice([node for loop, node in enumerate(self.nodes) if loop != leader]), duration_us)
        self.world.after(self.rng.randint(0, duration_us), self._give_catalog_away)

    def _give_catalog_away(self) -> None:
        process = None if self.is_calm else self.serving(CATALOG_SHARD)
        if process is not None:
            process.soon(partial(self._give_away, process, [CATALOG_SHARD]))

    def _depose(self) -> None:
        """The controller does not hear from the store for so long that nobody waits any more for what it has granted."""
        leader = self.loop_with(CATALOG_SHARD)
        if leader >= 0:
            self._cut_off(self.nodes[leader], self.rng.randint(2 * LEASE_MS, 5 * LEASE_MS) * MS)

    def _cut_store(self) -> None:
        self.cut_until_us = self.world.now_us + self.rng.randint(0, 3 * LEASE_MS) * MS
        self._tell(-1, f"nobody reaches the store until {self.cut_until_us // MS} ms")

    def _jump(self) -> None:
        node = self._any_node()
        node.machine.wall_ahead_ms = self.rng.choice((0, 0, -3_600_000, -5000, 5000, 3_600_000))

    def _fail_over(self) -> None:
        self._tell(-1, "the store goes on as its standby")
        self.database.fail_over()

    def _move_on(self) -> None:
        """Somebody gives a shard away, again and again."""
        if self.is_calm:
            return
        process = self._any().serving
        if process is not None:
            process.soon(partial(self._give_away, process, self.shards))
        self.world.after(self.world.between(100 * MS, self.moves_every_us), self._move_on)

    def _give_away(self, process: Process, some: Collection[ShardId]) -> None:
        """Have a node give away one of some shards, if it has any of them."""
        shards = process.daemon.rooms.shards
        membership = None if shards is None else shards._membership
        if membership is None or membership.me is None or membership.is_leaving:
            return
        others = [] if membership.rows is None else [each for each in membership.rows.staying if each != membership.me]
        owned = [shard for shard in membership.owned if shard in some]
        if owned and others:
            shard = self.rng.choice(owned)
            self.moved += 1
            membership._offer(membership.me, [(shard, membership.owned[shard], self.rng.choice(others))])
