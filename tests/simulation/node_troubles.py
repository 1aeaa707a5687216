"""What befalls nodes that share a store: they end, stand still, do not hear from the store or from each other, and give shards
away.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Final

from coordinator_server.kinds import partition_counts
from coordinator_server.log.shards import ShardId
from coordinator_server.server.cluster.view import CATALOG_SHARD
from tests.simulation.links import End, unheard
from tests.simulation.loops_play import LoopsPlay
from tests.simulation.machine import Process
from tests.simulation.played_nodes import FIRST_NODE, Node
from tests.simulation.strands import Strand, is_sender, messages_in
from tests.simulation.world import MS
from tests.support.shared_store import Database

LEASE_MS: Final = 3000
COMING_BACK_S: Final = 3 * LEASE_MS // 1000
"""After so long without troubles every node is there again, and each shard has an owner."""
STRANDED_MS: Final = 14_000
"""How long a message is held at most, until it would do harm."""
SOON_MS: Final = (1, 2, 5, 20, 100, 1000)
"""When everything is looked at after that. Then the node that has sent it goes on."""


class NodeTroubles(LoopsPlay):
    """A play whose loops are nodes.

    ``senders`` are the shards whose messages end something. ``moves_every_us``: how often at most somebody gives a shard away;
    ``strands_every_us``: how long after one message the next is held; 0 is never. ``ripe``: how many would have done harm.
    """

    nodes: list[Node]
    database: Database
    cut_until_us: int
    moves_every_us: int
    strands_every_us: int
    senders: list[ShardId]
    moved: int
    ripe: int

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
            node.clock.suspend(duration_us)

    def _strand(self) -> None:
        """A message is under way for so long that others own the shards of its sender, which stands still meanwhile."""
        loop, most_ms = self.loop_with(self.rng.choice(self.senders)), self.rng.randint(4000, 8000)
        process = self.nodes[loop].process
        if loop >= 0 and process is not None:
            self.neighbourhood.writing = partial(self._hold, process, most_ms, 2 * LEASE_MS)

    def _strand_on(self) -> None:
        """Again and again, one at a time, and each until it would do harm."""
        self.neighbourhood.writing = partial(self._hold, None, STRANDED_MS, STRANDED_MS)

    def _hold(self, process: Process | None, most_ms: int, pause_ms: int, end: End, data: bytes) -> None:
        """Hold what ends something as a node writes it, and pause the node."""
        if self.is_calm or process not in (None, end.process) or not is_sender(end) or not any(messages_in(end, data)):
            return
        self.neighbourhood.writing = unheard
        strand = Strand(end.process, self.neighbourhood.hold(end.process))
        end.process.machine.pause(pause_ms * MS)
        end.process.machine.told(f"has sent what arrives after {most_ms} ms, or when it does harm")
        self.world.after(most_ms * MS, strand.release)
        self.world.after(0, partial(self._release_when_ripe, strand))

    def _release_when_ripe(self, strand: Strand) -> None:
        """Let what a node has sent arrive when it would end what has begun since."""
        process = strand.process
        if self.is_calm or not process.is_alive or strand.is_over:
            strand.release()
        elif strand.is_ripe():
            self.ripe += 1
            process.machine.told("what it has sent arrives: it is about what has begun since")
            strand.release()
            # What it has done is seen until the next of its kind.
            for ms in SOON_MS:
                self.world.after(ms * MS, self._check)
            self.world.after(SOON_MS[-1] * MS, process.machine.resume)
        else:
            self.world.after(2 * MS, partial(self._release_when_ripe, strand))
            return
        if self.strands_every_us:
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
