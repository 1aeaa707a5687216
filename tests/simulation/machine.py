"""The machine that the server runs on: its clocks, its disk, its threads, and the process itself,
which is paused, killed and started again.
"""

from __future__ import annotations

import asyncio
import traceback
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final
from weakref import WeakSet

from coordinator_server.config import Config
from coordinator_server.config.description import UNLIMITED
from coordinator_server.log.errors import LogError
from coordinator_server.log.file_names import layer_path
from coordinator_server.log.storage import File
from coordinator_server.log.write.journal_writer import Written, write_durably
from coordinator_server.pipeline.compact.run import compact, plans, run_python
from coordinator_server.pipeline.progress import Progress
from coordinator_server.server.cluster.nodes import Place
from coordinator_server.server.daemon import Daemon
from coordinator_server.server.environment import Environment
from coordinator_server.server.errors import StartError
from coordinator_server.worker import Post
from tests.simulation.links import Child, LoopSockets, Neighbourhood
from tests.simulation.loop import SimulatedLoop, SimulatedServer
from tests.simulation.network import Network
from tests.simulation.world import MS, Event, World
from tests.support.storage import PowerCut, SimulatedDisk

FIRST_WALL_MS: Final = 1_700_000_000_000
JOURNAL_BYTES: Final = 1 << 16


class Died(BaseException):
    """The process has ended itself."""


class Disk(SimulatedDisk):
    """``cut`` is called at the moment when the power goes."""

    cut: Callable[[], None] = staticmethod(lambda: None)

    def _call(self, operation: str, path: str, *, is_change: bool = True) -> None:
        try:
            super()._call(operation, path, is_change=is_change)
        except PowerCut:
            self.cut()
            raise


class Machine:
    """``told`` hears of everything that happens to the server; ``broken`` of what never should."""

    def __init__(
        self, world: World, network: Network, config: Config, told: Callable[[str], None], broken: Callable[[str], None]
    ) -> None:
        self.world = world
        self.network = network
        self.config = config
        self.told = told
        self.broken = broken
        self.disk: SimulatedDisk = Disk(world.rng)
        self.wall_ahead_ms = 0
        # A real directory with the same name is where compactions work.
        self.data_dir = "/data"
        self.process: Process | None = None
        self._loops: WeakSet[SimulatedLoop] = WeakSet()
        # Hears of each frame of the journal that is durable, before anybody who waits for it.
        self.journaled: Callable[[Process, bytes], None] = lambda _process, _frame: None
        self.compacting: Callable[[], None] = lambda: None
        # How many of 100 journal writes are done on the loop, and how long a sync takes at most.
        self.inline_odds = 1.0
        self.sync_us = 3 * MS
        self.is_timers_first = True
        # The sockets that it shares with other loops of the server, and its place among them, if there are others.
        self.neighbourhood = Neighbourhood(world)
        self.next_place: Callable[[], Place | None] = lambda: None
        # How often a child dies of what it is to do.
        self.child_death_odds = 0.0
        # What the process is made of. A test that wants to see a checker fail gives it other ones.
        self.make_clock: Callable[[Machine], Clock] = Clock
        self.equip: Callable[[Process, Environment], Environment] = lambda _process, environment: environment
        self.make_writer: Callable[[Process, Post], Writer] = Writer
        self.when_serving: Callable[[Process], None] = lambda _process: None

    @property
    def serving(self) -> Process | None:
        """The process, if it has loaded and serves."""
        process = self.process
        return process if process is not None and process.is_serving else None

    def use(self, directory: str) -> None:
        """Keep the data in a directory that is there, for good."""
        self.data_dir = directory
        self.disk.make_dir(directory)
        for path in (directory, *map(str, Path(directory).parents)):
            self.disk.sync_dir(path)

    def start(self) -> None:
        """Start the server, if it does not run."""
        if self.process is None:
            self.told("start")
            self.disk.kill()
            self.process = Process(self)
            self._loops.add(self.process.loop)
            self.network.loop = self.process.loop

    def kill(self) -> None:
        """kill -9: what was written stays, what was answered is on its way."""
        self._end("killed")

    def scrap(self) -> None:
        """It is gone for good: nothing is left of any process that it had."""
        self.kill()
        for loop in list(self._loops):
            loop.unwind()

    def lose_power(self) -> None:
        """The machine goes down: of what was not synced any part may be gone."""
        self._end("lost power")
        self._power_loss()

    def stop(self) -> None:
        """SIGTERM."""
        if self.serving is not None:
            self.told("stopping")
            self.serving.stop()

    def pause(self, duration_us: int) -> None:
        """SIGSTOP, and SIGCONT after a while."""
        if self.process is not None and self.world.now_us >= self.process.paused_until_us:
            self.told(f"paused for {duration_us // MS} ms")
            self.process.pause(duration_us)

    def resume(self) -> None:
        """SIGCONT, before its time."""
        if self.process is not None and self.world.now_us < self.process.paused_until_us:
            self.told("resumed")
            self.process.pause(0)

    def jump(self, ms: int) -> None:
        """Somebody sets the date."""
        self.told(f"wall clock jumps {ms} ms")
        self.wall_ahead_ms += ms

    def compact(self) -> None:
        """What the server's cleaner does: seal, and have a child compact what is sealed, which takes a while."""
        process = self.serving
        if process is not None:
            process.seal(
                lambda sealed: self.world.after(self.world.between(0, 2000 * MS), lambda: self._compact(process, sealed))
            )

    def _compact(self, process: Process, sealed: Mapping[str, int]) -> None:
        # The child ends with its server. It works on copies in a real directory, and its layers are on the disk all at once.
        if not process.is_alive:
            return
        self.compacting()
        for path in self.disk.files(self.data_dir):
            if path.endswith(".log"):
                Path(path).parent.mkdir(exist_ok=True)
                Path(path).write_bytes(self.disk.content(path))
        todo = [plan for plan in plans(Path(self.data_dir), sealed) if plan.shard in sealed]
        done = compact(todo, None, run_python, Progress())
        for layer in done.layers:
            for file in sorted(layer_path(Path(layer.directory), layer.to_offset).iterdir()):
                self.disk.put(str(file), file.read_bytes())
        self.told(f"compacted {', '.join(f'{layer.shard} to {layer.to_offset}' for layer in done.layers)}")

    # What the process does to itself.

    def ended(self, process: Process, how: str) -> None:
        """The process is gone, by itself."""
        if self.process is process:
            self._end(how)

    def power_cut(self, process: Process) -> None:
        """The power went in the middle of a disk operation."""
        if self.process is process:
            self._end("lost power while it wrote")
            if self.world.rng.random() < 0.7:
                self._power_loss()

    def _end(self, how: str) -> None:
        if self.process is not None:
            self.told(how)
            self.process.end()
            self.neighbourhood.lose(self.process)
            self.process = None
            self.network.reset_all()
            self.network.loop = None
            self.disk.kill()

    def _power_loss(self) -> None:
        lost = self.disk.power_loss(self.world.rng)
        disk = Disk(self.world.rng)
        disk._root = lost._root
        disk.is_write_short = self.disk.is_write_short
        self.disk = disk


class Clock:
    """The process's clocks."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def now_ms(self) -> int:
        return 1_000_000 + self._machine.world.now_us // 1000

    def boot_ms(self) -> int:
        return self.now_ms()

    def wall_ms(self) -> int:
        return FIRST_WALL_MS + self._machine.wall_ahead_ms + self._machine.world.now_us // 1000


class Process:
    """One run of the server, from its start to whatever ends it."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.world = machine.world
        self.is_alive = True
        self.is_serving = False
        self.busy_us = 0  # by what is done in this turn
        self.paused_until_us = 0
        self.loop = SimulatedLoop(lambda: self.world.now_us, self._wake, is_timers_first=machine.is_timers_first)  # type: ignore[abstract]
        self._free_us = 0
        self._next: Event | None = None
        self._next_us = 0
        self._is_in_turn = False
        # What threads were to do while the process was paused.
        self._stopped: list[Callable[[], None]] = []
        self._disk = machine.disk
        if isinstance(self._disk, Disk):
            self._disk.cut = lambda: machine.power_cut(self)
        self.place = machine.next_place()
        self.daemon = Daemon(machine.config, Path(machine.data_dir), self._fatal, self.place, self._environment())
        self.loop.call_soon(lambda: self._watch(self._serve()))

    def stop(self) -> None:
        """Have it end itself."""
        self.loop.call_soon(self._stop)

    def seal(self, sealed: Callable[[Mapping[str, int]], object]) -> None:
        """End every active segment; ``sealed`` gets the offsets, if that was possible."""

        async def ask() -> None:
            try:
                answer = await self.daemon.operations["seal"]({})
            except LogError:
                return
            sealed(answer["shards"])

        self.loop.call_soon(lambda: self._watch(ask()))

    def pause(self, duration_us: int) -> None:
        self.paused_until_us = self.world.now_us + duration_us
        self._schedule()
        if not duration_us:
            for job in self._stopped[:]:
                self.world.after(0, partial(self._continue, job))

    def end(self) -> None:
        """It is gone, with its threads."""
        self.is_alive = self.is_serving = False
        self.loop.is_over = True
        if self._next is not None:
            self._next.cancel()
        if self.daemon._rooms is not None:
            # Descriptors of layers, which go with a process.
            for context in self.daemon.rooms.hosting.node.groups._contexts.values():
                context.shard.groups.offsets.close()

    def soon(self, action: Callable[[], None]) -> None:
        """Have the loop do something in its next turn."""

        def call() -> None:
            self.loop.call_soon(action)

        self.in_thread(0, call)

    def in_thread(self, delay_us: int, job: Callable[[], None]) -> None:
        """Run something beside the loop, after a while."""
        self.world.after(delay_us, lambda: self._run_job(job))

    # Its life.

    def _environment(self) -> Environment:
        rng = self.world.rng
        environment = Environment(
            clock=self.machine.make_clock(self.machine),
            new_uuid=lambda: uuid.UUID(int=rng.getrandbits(128), version=4),
            storage=self._disk,
            make_worker=lambda: Worker(self),
            make_writer=lambda sync, post: self.machine.make_writer(self, post),
            make_acceptor=lambda _loop, policy, incidents: SimulatedServer(self.loop, policy, incidents),
            open_files=lambda: UNLIMITED,
            sockets=LoopSockets(self.machine.neighbourhood, self),
            start_child=lambda done, lost: Child(self, self.machine.child_death_odds, done, lost),
            has_tools=False,
        )
        return self.machine.equip(self, environment)

    async def _serve(self) -> None:
        try:
            if self.place is None:
                await self.daemon.open("127.0.0.1", 9092)
            else:
                await self.daemon.adopt([[]])
                await self.daemon.prepare()
                await self.daemon.listen()
            await self.daemon.finish_loading()
        except (StartError, LogError) as failure:
            self._complain(failure)
        self.is_serving = True
        self.machine.told("serving")
        self.machine.when_serving(self)

    def _stop(self) -> None:
        self.is_serving = False
        self._watch(self._finish())

    async def _finish(self) -> None:
        try:
            await self.daemon.stop()
        except LogError as failure:
            self._complain(failure)
        self.machine.ended(self, "stopped")

    def _fatal(self, failure: LogError) -> None:
        self._complain(failure)

    def _complain(self, failure: Exception) -> None:
        self.machine.ended(self, f"ended: {failure}".replace(self.machine.data_dir, "/data"))
        raise Died

    def _watch(self, life: object) -> None:
        assert asyncio.iscoroutine(life)
        self.loop.create_task(life).add_done_callback(self._lived)

    def _lived(self, task: asyncio.Task[None]) -> None:
        failure = task.exception()
        if failure is not None and not isinstance(failure, Died | PowerCut):
            raise failure

    # Its turns.

    def _wake(self) -> None:
        if not self._is_in_turn and self.is_alive:
            self._schedule()

    def _schedule(self) -> None:
        loop = self.loop
        when = loop.next_due() if loop.is_idle else self.world.now_us
        if when is None:
            return
        when = max(when, self._free_us, self.paused_until_us)
        if self._next is not None:
            if self._next_us == when:
                return
            self._next[2] = None
        self._next_us = when
        self._next = self.world.at(when, self._turn)

    def _turn(self) -> None:
        self._next = None
        if self._run(self.loop.turn):
            self._free_us = self.world.now_us + 20 + self.busy_us
            self.busy_us = 0
            self._schedule()

    def _run_job(self, job: Callable[[], None]) -> None:
        if self.is_alive and self.world.now_us < self.paused_until_us:
            self._stopped.append(job)
            self.world.at(self.paused_until_us, partial(self._continue, job))
        elif self.is_alive and self._run(job):
            self._schedule()

    def _continue(self, job: Callable[[], None]) -> None:
        if job in self._stopped:
            self._stopped.remove(job)
            self._run_job(job)

    def _run(self, action: Callable[[], None]) -> bool:
        """Whether the process lives on."""
        self._is_in_turn = True
        try:
            action()
        except (PowerCut, Died):
            assert not self.is_alive
        except Exception:  # noqa: BLE001 - whatever it is, it is for the report
            self.machine.broken(f"the process broke: {traceback.format_exc()}")
            self.machine.ended(self, "broke")
        finally:
            self._is_in_turn = False
        return self.is_alive


class Worker:
    """A thread that takes jobs in turn."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._free_us = 0
        self._is_closed = False

    def run(self, job: Callable[[], None], /, *, delay: float = 0.0) -> None:
        if delay:
            self._process.in_thread(int(delay * 1e6), lambda: self.run(job))
            return
        world = self._process.world
        self._free_us = max(self._free_us, world.now_us + world.between(20, 2 * MS))
        self._process.in_thread(self._free_us - world.now_us, lambda: self._do(job))

    def close(self) -> None:
        self._is_closed = True

    def _do(self, job: Callable[[], None]) -> None:
        if not self._is_closed:
            job()


class Writer:
    """Writes on the loop, which stands still meanwhile, or in a thread."""

    def __init__(self, process: Process, post: Post) -> None:
        self._process = process
        self._post = post
        self._write: Callable[[], LogError | None] | None = None
        self._frame = b""
        self._outcome: LogError | None = None
        self._done: Written | None = None

    def write(self, file: File, data: bytes, position: int, done: Written, /) -> None:
        machine, world = self._process.machine, self._process.world
        took_us = world.between(100, machine.sync_us)
        if world.rng.random() < machine.inline_odds:
            self._process.busy_us += took_us
            outcome = write_durably(file, data, position)
            self._tell(outcome, data)
            done(outcome)
            return
        self._done = done
        self._frame = data
        self._write = lambda: write_durably(file, data, position)
        self._process.in_thread(took_us, self._do)

    def close(self) -> None:
        if self._write is not None:
            self._do()
        self._settle()

    def _do(self) -> None:
        write, self._write = self._write, None
        if write is not None:
            self._outcome = write()
            self._post(self._settle)

    def _settle(self) -> None:
        done, self._done = self._done, None
        if done is not None:
            self._tell(self._outcome, self._frame)
            done(self._outcome)

    def _tell(self, outcome: LogError | None, frame: bytes) -> None:
        if outcome is None:
            self._process.machine.journaled(self._process, frame)
