"""Nodes that share a store: who owns which shard, and what clients are answered, while nodes stop, die, come back, lose the store.

Each node has a runtime of toy shards on the shared store, so thousands of seeds cost little (``toy_servers.py``). Its clocks go at
speeds of their own; CLOCK_BOOTTIME of a suspended machine goes on. Any statement may be lost, late, run twice, or not be answered,
and the store may go on as its standby. The store notices when the session of a process ends; a process that is cut off has none,
and its listener answers, unless the network between nodes is slow, too.

What must be true at any moment: of one shard no two nodes may answer, no epoch has two owners, and no shard changes its owner but
from a node that has given it away or is marked dead. Reads and writes of a shard are linearizable. No node is marked dead that was
there. After the calm each shard has a living owner, and all have their part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any, Final

from coordinator_server.log.members import Member, MemberRow, Table
from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.runtime.lease import Gate
from coordinator_server.server.membership.leases import Clocks, LeaseTimes
from coordinator_server.server.membership.membership import MOST_CLOCK_DIFFERENCE_MS, Membership
from tests.simulation.play import listening
from tests.simulation.toy_servers import History, ToyServer
from tests.simulation.world import MS, SECOND, World
from tests.support.runtime import TOPIC
from tests.support.shared_members import Rows, SharedMembers
from tests.support.shared_store import Database, Fate

TIMES: Final = LeaseTimes(lease_ms=3000, renew_ms=600)
SHARDS: Final = [*(ShardId(TOPIC, each) for each in range(5)), ShardId("catalog", 0)]
STORM_S: Final = 40
CALM_S: Final = 30
# A node that was away is not marked dead any more when it has been there again for so long.
AWAY_MS: Final = TIMES.renew_ms * 2
FATES: Final = [fate for fate in Fate if fate not in {Fate.RUNS, Fate.IS_NOT_REPLICATED}]


def run(seed: int) -> list[str]:
    """Play the whole of it; what went wrong. The same seed is the same play."""
    return MembershipPlay(seed).run()


def run_alone(seed: int) -> list[str]:
    """Play it without clients, which is faster."""
    return MembershipPlay(seed, has_clients=False).run()


class NodeClocks:
    """The clocks of a machine. ``speed`` is seconds per second; ``suspended_us`` is what CLOCK_MONOTONIC does not have."""

    def __init__(self, world: World, rng: Random) -> None:
        self.world = world
        self.speed = 1 + rng.choice((-0.045, 0, 0.045))
        self.start_ms = rng.randint(0, 1 << 30)
        self.wall_ahead_ms = self.jumped_us = 0
        self.suspended_us = 0

    def boot_ms(self) -> int:
        return self.start_ms + int(self.speed * self.world.now_us / 1000)

    def wall_ms(self) -> int:
        return self.world.now_us // 1000 + self.wall_ahead_ms


class PlayedNode:
    """A machine, and the process on it, if one runs. It is the process's Host."""

    def __init__(self, play: MembershipPlay, node: int) -> None:
        self.play = play
        self.node = node
        self.clocks = NodeClocks(play.world, play.rng)
        self.membership: Membership | None = None
        self.server: ToyServer | None = None
        self.hosted: dict[ShardId, int] = {}
        self.process = 0
        self.paused_until_us = self.cut_until_us = 0
        # When it started.
        self.started_us = 0

    def start(self) -> None:
        if self.membership is None:
            process = self.process
            store = SharedMembers(
                self.play.database,
                partial(self._send, process),
                partial(self._answer, process),
                self.play.wall_ms,
                lambda: process == self.process,
            )
            clocks = Clocks(self.clocks.boot_ms, self.clocks.wall_ms)
            later = partial(self._later, process)
            server = ToyServer(
                self.play.database, Gate(self.clocks.boot_ms), self.clocks, later, self._draw_fate, self.play.delay_us
            )
            self.server = server
            self.membership = Membership(
                node=self.node,
                listeners=[("127.0.0.1", self.node)],
                store=store,
                host=self,
                lease=server.lease(self._regained),
                clocks=clocks,
                times=TIMES,
            )
            self.started_us = self.play.world.now_us
            self._tick(process)

    def kill(self) -> None:
        self.process += 1
        self.membership = self.server = None
        self.hosted = {}

    def stop(self) -> None:
        if self.membership is not None:
            self.membership.leave(self.kill)

    def pause(self, duration_us: int) -> None:
        """It stands still, its machine with it or not."""
        world = self.play.world
        if world.now_us >= self.paused_until_us:
            self.paused_until_us = world.now_us + duration_us
            self.clocks.suspended_us += duration_us

    def may_answer(self, shard: ShardId) -> bool:
        """Whether it may answer reads of a shard when it runs."""
        membership = self.membership
        # The node itself is not asked: it would note the end of its lease.
        return shard in self.hosted and membership is not None and self.clocks.boot_ms() < membership.lease.ends_ms

    # Its process.

    def _tick(self, process: int) -> None:
        if process != self.process or self.membership is None:
            return
        if self.play.world.now_us < self.paused_until_us:
            self.play.world.at(self.paused_until_us, partial(self._tick, process))
            return
        self.membership.tick()
        self.play.world.after(int(TIMES.renew_ms * MS * self.play.rng.uniform(0.7, 1)), partial(self._tick, process))

    def _send(self, process: int, statement: Callable[[], None]) -> None:
        def arrive() -> None:
            self._draw_fate()
            statement()
            self.play.check()

        self.play.world.after(self.play.delay_us(), arrive)

    def _draw_fate(self) -> None:
        """Say what becomes of the next statement."""
        play = self.play
        if max(self.cut_until_us, play.cut_until_us) > play.world.now_us:
            play.database.fates.append(play.rng.choice([Fate.IS_LOST, Fate.IS_LATE]))
        elif play.rng.random() < play.fate_odds:
            play.database.fates.append(play.rng.choice(FATES))

    def _later(self, process: int, delay_us: int, call: Callable[[], None]) -> None:
        self.play.world.after(delay_us, partial(self._hear, process, call))

    def ask(self, shard: ShardId, *, is_read: bool) -> None:
        """A client sends a request, whether it is the owner's or not."""
        if self.server is not None:
            asked = self.play.history.ask(shard, is_read=is_read)
            serve = partial(self.server.serve, shard, asked, self.play.history)
            self._later(self.process, self.play.world.between(MS, 20 * MS), serve)

    def _answer(self, process: int, done: Callable[[], None]) -> None:
        self.play.world.after(self.play.delay_us(), partial(self._hear, process, done))

    def _hear(self, process: int, done: Callable[[], None]) -> None:
        if process != self.process:
            return
        if self.play.world.now_us < self.paused_until_us:
            self.play.world.at(self.paused_until_us, partial(self._hear, process, done))
            return
        done()

    def _regained(self) -> None:
        self.play.regained += bool(self.hosted)

    # Host.

    def begin(self, me: Member, /) -> None:
        """Nothing was granted to it as another process."""

    def own(self, shard: ShardId, epoch: int, /) -> None:
        self.play.owns(self, shard, epoch)
        self.hosted[shard] = epoch
        assert self.server is not None
        self.server.own(shard, epoch)
        self.play.check()

    def disown(self, shard: ShardId, unloaded: Callable[[], None], /) -> None:
        del self.hosted[shard]
        assert self.server is not None
        self.server.disown(shard, unloaded)

    def changed(self, table: Table, /) -> None:
        """Clients would hear of it."""

    def offer(self, to: Member, shards: Sequence[Ownership], done: Callable[[bool], None], /) -> None:
        [node] = [each for each in self.play.nodes if each.node == to.node]
        heard = partial(self._later, self.process, self.play.delay_us())
        self._later(
            self.process, self.play.delay_us(), lambda: node.answer_offer(lambda is_taken: heard(partial(done, is_taken)))
        )

    def answer_offer(self, done: Callable[[bool], None]) -> None:
        """What it says to an offer; nothing in time while it is paused."""
        if self.membership is None or self.play.world.now_us < self.paused_until_us or self.play.rng.random() < 0.1:
            self.play.world.after(SECOND, partial(done, False))
        else:
            done(self.membership.accepts)

    def end_gift(self, _shard: ShardId, /) -> None:
        for node in self.play.nodes:
            if node.membership is not None and self.play.rng.random() < 0.7:
                node._later(node.process, self.play.delay_us(), node.membership.look_again)

    def ask_if_gone(self, member: Member, _row: MemberRow, done: Callable[[bool], None], /) -> None:
        [node] = [each for each in self.play.nodes if each.node == member.node]
        self._later(self.process, self.play.delay_us(), lambda: node.answer_if_present(member, partial(self._answered, done)))

    def _answered(self, done: Callable[[bool], None], is_gone: bool) -> None:
        self.play.gone += is_gone
        self._later(self.process, self.play.delay_us(), partial(done, is_gone))

    def answer_if_present(self, member: Member, done: Callable[[bool], None]) -> None:
        """What its listener does: refuse, answer, or nothing in time while it is paused."""
        if self.membership is None:
            done(True)
        elif self.play.world.now_us < self.paused_until_us or self.play.rng.random() < 0.1:
            self.play.world.after(SECOND, partial(done, False))
        else:
            me = self.membership.me
            done(me is not None and me.incarnation > member.incarnation)


class MembershipPlay:
    """Everything that a seed decides."""

    def __init__(self, seed: int, *, has_clients: bool = True) -> None:
        self.has_clients = has_clients
        self.rng = rng = Random(f"memberships {seed}")
        self.world = World(rng)
        self.broken: list[str] = []
        self.database = Database()
        self.database.membership = Rows(SHARDS)
        self.database.lateness = rng.choice((1, 10, 60))
        self.database.replicate()
        self.most_delay_us = rng.choice((5, 50, 400)) * MS
        self.fate_odds = rng.choice((0.0, 0.02, 0.2))
        self.has_faults = self.fate_odds > 0
        self.cut_until_us = 0
        self.history = History(self.world)
        self.owners: dict[tuple[ShardId, int], int] = {}
        self._row_owners: dict[tuple[ShardId, int], int] = {}
        self.owned = self.regained = self.moved = self.given = self.gone = 0
        self.nodes = [PlayedNode(self, node) for node in range(1, rng.choice((2, 3, 3, 4)) + 1)]
        self._before = self.database.membership

    def run(self) -> list[str]:
        """Storm and calm. Return what went wrong."""
        with listening(self._logged):
            self._storm()
            self._calm()
        return self.broken

    def _logged(self, line: dict[str, Any]) -> None:
        if "exception" in line:
            self.broken.append(f"logged: {line}")

    def _storm(self) -> None:
        rng, world = self.rng, self.world
        for node in self.nodes:
            world.after(rng.randint(0, 2 * SECOND), node.start)
        troubles = [self._kill, self._stop, self._pause, self._pause, self._cut, self._cut_store, self._jump, self._fail_over]
        for _ in range(rng.choice((4, 10, 25))):
            world.after(rng.randint(5 * SECOND, STORM_S * SECOND), rng.choice(troubles))
        self._start_again()
        if self.has_clients:
            self._ask()
        for _ in range(STORM_S * 10):
            world.run_for(100 * MS)
            self.check()

    def delay_us(self) -> int:
        return self.world.between(MS, self.most_delay_us)

    def wall_ms(self) -> int:
        """The store's clock."""
        return self.world.now_us // 1000

    # What is looked at.

    def owns(self, node: PlayedNode, shard: ShardId, epoch: int) -> None:
        self.owned += 1
        if self.owners.setdefault((shard, epoch), node.node) != node.node:
            self.broken.append(f"{shard} has two owners at epoch {epoch}")
        # What it may have owned before, and a statement that was under way, are no decision.
        is_new = self._row_owners.get((shard, epoch - 1)) != node.node and self.world.now_us - node.clocks.jumped_us > 3 * SECOND
        is_new = is_new and not self.has_faults and self.database.lateness == 1
        if is_new and abs(node.clocks.wall_ahead_ms) > MOST_CLOCK_DIFFERENCE_MS:
            self.broken.append(f"{node.node} has taken {shard}, and its clock is {node.clocks.wall_ahead_ms} ms ahead")

    def check(self) -> None:
        """What must be true at any moment."""
        for shard in SHARDS:
            able = [node.node for node in self.nodes if node.may_answer(shard)]
            if len(able) > 1:
                self.broken.append(f"of {shard} may answer: {able}")
        before, now = self._before, self.database.membership
        for shard, row in now.shards.items():
            if row.owner is not None:
                self._row_owners[shard, row.epoch] = row.owner.node
            was = before.shards[shard].owner
            if row.epoch > before.shards[shard].epoch and was not in (None, row.owner):
                self.moved += 1
                to = now.gifts.get((shard, before.shards[shard].epoch + 1))
                self.given += to is not None
                if to is None and now.is_alive(was):
                    self.broken.append(f"{shard} was taken from {was}, which lives")
        for member, member_row in now.members.items():
            if member_row.is_dead and before.is_alive(member):
                self._check_dead(member)
        self._before = now.copy()

    def _check_dead(self, member: Member) -> None:
        """Only somebody who was away may have been marked dead, also when nobody reached the store for a while."""
        [node] = [each for each in self.nodes if each.node == member.node]
        is_running = node.membership is not None and node.membership.me == member
        there_since_us = max(node.started_us, node.paused_until_us, node.cut_until_us)
        if is_running and not self.has_faults and self.world.now_us - there_since_us > AWAY_MS * MS:
            self.broken.append(f"{member} was marked dead, and was there all the time")

    # What befalls them.

    def _ask(self) -> None:
        """A client asks for a shard, of its owner or of another node."""
        shard = SHARDS[self.rng.randrange(5)]
        owner = self.database.membership.shards[shard].owner
        node = self.rng.choice(self.nodes)
        if owner is not None and self.rng.random() < 0.6:
            [node] = [each for each in self.nodes if each.node == owner.node]
        node.ask(shard, is_read=self.rng.random() < 0.6)
        self.world.after(self.world.between(MS, 300 * MS), self._ask)

    def _start_again(self) -> None:
        for node in self.nodes:
            node.start()
        self.world.after(self.world.between(200 * MS, 8 * SECOND), self._start_again)

    def _any(self) -> PlayedNode:
        return self.rng.choice(self.nodes)

    def _kill(self) -> None:
        self._any().kill()

    def _stop(self) -> None:
        self._any().stop()

    def _pause(self) -> None:
        self._any().pause(self.rng.randint(0, 3 * TIMES.lease_ms) * MS)

    def _cut(self) -> None:
        self._any().cut_until_us = self.world.now_us + self.rng.randint(0, 3 * TIMES.lease_ms) * MS

    def _cut_store(self) -> None:
        self.cut_until_us = self.world.now_us + self.rng.randint(0, 3 * TIMES.lease_ms) * MS

    def _jump(self) -> None:
        clocks = self._any().clocks
        clocks.wall_ahead_ms, clocks.jumped_us = self.rng.choice((0, 0, -3_600_000, 5000, 3_600_000)), self.world.now_us

    def _fail_over(self) -> None:
        self.database.fail_over()

    def _calm(self) -> None:
        now_us = self.world.now_us
        self.fate_odds, self.cut_until_us = 0.0, min(self.cut_until_us, now_us)
        for node in self.nodes:
            node.cut_until_us, node.clocks.wall_ahead_ms = min(node.cut_until_us, now_us), 0
        self.world.run_for(max(0, *(node.paused_until_us - now_us for node in self.nodes)) + CALM_S * SECOND)
        self.check()
        self.broken += self.history.wrong()
        rows: Rows = self.database.membership
        for shard, row in rows.shards.items():
            hosts = {node.node: node.hosted[shard] for node in self.nodes if node.may_answer(shard)}
            if not rows.is_alive(row.owner) or row.owner is None or hosts != {row.owner.node: row.epoch}:
                self.broken.append(
                    f"after {CALM_S} quiet seconds {shard} is that of {row.owner} at {row.epoch}, and {hosts} have it"
                )
        parts = Counter(row.owner.node for shard, row in rows.shards.items() if row.owner and shard.topic == TOPIC)
        spread = [parts[node.node] for node in self.nodes]
        if max(spread) - min(spread) > 1:
            self.broken.append(f"the shards are not spread over {len(self.nodes)} nodes: {parts}")
