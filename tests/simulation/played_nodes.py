"""A node of a play: its machine with clocks of its own, its links, what it sends to the store, and clients that look for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from coordinator_server.config import Config
from coordinator_server.kinds import partition_counts
from coordinator_server.log.members import Opened, Shared
from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.log.store import Meta
from coordinator_server.runtime.context import ShardContext, ShardState
from coordinator_server.server.cluster.link_transport import UnixLinks
from coordinator_server.server.cluster.view import Endpoint
from coordinator_server.server.environment import Environment
from tests.simulation.client import Client, Told
from tests.simulation.machine import Clock, Machine, Process
from tests.simulation.network import Network
from tests.simulation.ownership import Ledger, Life
from tests.simulation.world import MS, SECOND
from tests.support.node_log import NodeLog
from tests.support.shared_members import SharedMembers
from tests.support.shared_store import Fate

if TYPE_CHECKING:
    from tests.simulation.nodes_play import NodesPlay

FIRST_NODE: Final = 1
LEAST_WAIT_US, MOST_WAIT_US = 50 * MS, SECOND
"""How long a node waits before it sends a statement again."""
LOADED: Final = (ShardState.ACTIVE, ShardState.SUSPENDED)
FATES: Final = [fate for fate in Fate if fate not in {Fate.RUNS, Fate.IS_NOT_REPLICATED}]


class NodeClock(Clock):
    """The clocks of a machine. CLOCK_BOOTTIME has a speed of its own, and goes on while the machine is suspended."""

    speed = 1.0
    _before_us = _since_us = _until_us = 0

    def suspend(self, duration_us: int) -> None:
        """The machine stands still for so long, if it is not woken before."""
        self._before_us = self.suspended_us
        self._since_us = self._machine.world.now_us
        self._until_us = self._since_us + duration_us

    def wake(self) -> None:
        """The machine goes on."""
        self._until_us = min(self._until_us, self._machine.world.now_us)

    @property
    def suspended_us(self) -> int:
        """For how long it has stood still so far."""
        return self._before_us + min(self._machine.world.now_us, self._until_us) - self._since_us

    def now_ms(self) -> int:
        return 1_000_000 + (self._machine.world.now_us - self.suspended_us) // 1000

    def boot_ms(self) -> int:
        return 5_000_000 + int(self.speed * self._machine.world.now_us / 1000)

    def us_of(self, boot_ms: int) -> float:
        """The time of the world at which CLOCK_BOOTTIME reads so much."""
        return (boot_ms - 5_000_000) * 1000 / self.speed


class Spared(NamedTuple):
    """A member that is in force when the lease of its group's shard ends, the shard as it is loaded then, and the ledger."""

    shard: ShardId
    context: ShardContext[Any]
    ledger: Ledger
    life: Life


class SimulatedLinks:
    """The links of a node: NodeTransports."""

    def __init__(self, environment: Environment, node: int) -> None:
        self.certificates: dict[str, Any] = {}
        self._sockets = environment.sockets
        self._node = node

    def purpose(self, name: str, /) -> UnixLinks:
        return UnixLinks(self._sockets, lambda node: Path(f"/links/{name}-{node}"), self._node)

    async def listen(self) -> Endpoint:
        return Endpoint(f"node-{self._node}", 9192)

    def close(self) -> None:
        """The room closes what it listens on."""


class RoutedClient(Client):
    """A client that asks the node at which it believes the owner to be."""

    def __init__(self, route: Callable[[], Network], client_id: str, recorded: Told, answered: Told) -> None:
        super().__init__(route(), client_id, recorded, answered)
        self._route = route

    def send(self, *args: Any, **kwargs: Any) -> Any:
        network = self._route()
        if network is not self._network and not self._waiting:
            self.close()
            self._network = network
        return super().send(*args, **kwargs)


def _call_soon(process: Process, call: Callable[[], None]) -> None:
    process.loop.call_soon(call)


class Node:
    """A machine of the play, and what the store hears of it."""

    def __init__(self, play: NodesPlay, loop: int, machine: Machine, clock: NodeClock) -> None:
        self.play = play
        self.id = FIRST_NODE + loop
        self.machine = machine
        self.clock = clock
        self.cut_until_us = self.down_until_us = 0

    def equip(self, process: Process, environment: Environment) -> Environment:
        """What a process of this node takes from its machine, which does not stand still when it starts."""
        self.clock.wake()
        play = self.play

        async def open_log(_data_dir: Path, config: Config, *_: Any) -> Opened:
            meta = Meta("cluster-of-nodes", config.node_id, dict(partition_counts(config.log)))
            answer, again = partial(self._answer, process), partial(self._again, process)
            log = NodeLog(play.database, self.send, answer, again, partial(self._bring, process), meta)
            members = SharedMembers(
                play.database, self.send, partial(self._answer, process), play.wall_ms, lambda: process is self.machine.process
            )
            return Opened(log, Shared(members, log.acquire, log.prepare))

        return environment._replace(
            open_log=open_log, node_links=lambda _config, _others, _incidents: SimulatedLinks(environment, self.id)
        )

    def send(self, statement: Callable[[], None]) -> None:
        """A statement is on its way: it arrives, whatever becomes of the process."""

        def arrive() -> None:
            self._draw_fate()
            statement()
            self.play.check_owners()

        self.play.world.after(self.play.delay_us(), arrive)

    def _answer(self, process: Process, call: Callable[[], None]) -> None:
        process.in_thread(self.play.delay_us(), partial(_call_soon, process, call))

    def _again(self, process: Process, statement: Callable[[], None]) -> None:
        """A statement that has failed is sent again: a while later, as nodes do, not as fast as it can fail."""
        process.in_thread(self.play.world.between(LEAST_WAIT_US, MOST_WAIT_US), partial(self.send, statement))

    def _bring(self, process: Process, call: Callable[[], None]) -> None:
        """The files of a layer take their time."""
        process.in_thread(self.play.world.between(MS, SECOND), call)

    def _draw_fate(self) -> None:
        play = self.play
        if max(self.cut_until_us, play.cut_until_us) > play.world.now_us:
            play.database.fates.append(play.rng.choice([Fate.IS_LOST, Fate.IS_LATE]))
        elif play.is_storming and play.rng.random() < play.fate_odds:
            play.database.fates.append(play.rng.choice(FATES))

    def watch_lease(self, process: Process) -> None:
        """A lease that is over and is won back gives sessions their whole time: members whose owner heard nobody stay in."""
        lease, runtime = process.daemon.rooms.hosting.lease, process.daemon.rooms.hosting.node.groups
        ended, renewed, members = lease._ended, lease._renewed, list[Spared]()

        def note_end(has_run_out: bool) -> None:
            members[:] = self.play.members_at(runtime, self.clock.us_of(lease.ends_ms))
            ended(has_run_out)

        def note_renewal(had_run_out: bool) -> None:
            renewed(had_run_out)
            for shard, context, ledger, life in members:
                if runtime._contexts.get(shard.partition) is context and context.state is ShardState.ACTIVE:
                    ledger.resume(life)

        lease._ended, lease._renewed = note_end, note_renewal

    @property
    def process(self) -> Process | None:
        return self.machine.process

    def answers_for(self) -> list[Ownership]:
        """The shards for which it answers when it runs."""
        process = self.machine.process
        rooms = None if process is None else process.daemon._rooms
        # Whether it is suspended at the moment is not asked: it would have to look at its clock first.
        if rooms is None or self.clock.boot_ms() >= rooms.hosting.lease.ends_ms:
            return []
        runtimes = rooms.hosting.node.runtimes.values()
        return [each.ownership for runtime in runtimes for each in runtime._contexts.values() if each.state in LOADED]
