"""One simulation, from its seed: what there is, what befalls it, and when it is looked at."""

from __future__ import annotations

import contextlib
import errno
import logging
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import structlog
from msgspec import Struct

from coordinator_server.config import Config
from tests.simulation.client import Script
from tests.simulation.extras import Administrator, Impatient, Impostor
from tests.simulation.history import History
from tests.simulation.machine import JOURNAL_BYTES, Machine
from tests.simulation.member import PARTITIONS, TOPICS, Member, Timeouts
from tests.simulation.mirror import Mirror
from tests.simulation.network import Network
from tests.simulation.stage import Stage
from tests.simulation.world import MS, SECOND, World
from tests.support.configs import config_with

STORM_S: Final = 10
# So many of the seeds have their log compacted, now and then. It takes real files.
COMPACTED: Final = 0.15
# In so many somebody does not wait for answers.
IMPATIENT: Final = 0.4


def real_directory(is_needed: bool) -> contextlib.AbstractContextManager[str | None]:
    """Give a directory for the layers of a log that is compacted, in memory where there is such a place."""
    if not is_needed:
        return contextlib.nullcontext()
    memory = "/dev/shm"
    return tempfile.TemporaryDirectory(prefix="simulation-", dir=memory if Path(memory).is_dir() else None)


class Outcome(Struct):
    """What a simulation leaves behind for the checkers.

    ``broken`` is what the server itself, or its log, did that it never should.
    """

    history: History
    mirror: Mirror
    broken: list[str]
    config: Config


def run(seed: int, storm_s: int = STORM_S) -> Outcome:
    """Play the whole of it. The same seed is the same history, to the last byte."""
    return Play(seed, storm_s).run()


class Play:
    """Everything that a seed decides."""

    def __init__(self, seed: int, storm_s: int) -> None:
        self.seed = seed
        self.rng = rng = Random(f"coordinator-server {seed}")
        self.storm_s = storm_s
        self.world = World(rng)
        self.network = Network(self.world)
        self.stage = Stage(self.world, self.network)
        self.broken: list[str] = []
        # In some seeds offsets are to go when they are older than all that comes before,
        # in others the clock jumps and nothing is to go for that.
        self.is_expiring = rng.random() < 0.1
        self.is_jumpy = not self.is_expiring and rng.random() < 0.1
        # Drawn beside the rest, which stays what a seed has always been.
        # The longest wait for an answer is shorter than this idle time.
        impatient = Random(f"impatient {seed}").random() < 0.1
        self.config = config_with(
            connections_max_idle_ms=8000 if impatient else 600_000,
            socket_request_stalled_after_ms=1000 if impatient else 30_000,
            topics=",".join(f"{topic}:{PARTITIONS}" for topic in TOPICS),
            group_min_session_timeout_ms=1000,
            group_initial_rebalance_delay_ms=rng.choice((0, 0, 300, 1500)),
            group_max_size=rng.choice((1000, 1000, 1000, 3)),
            offsets_topic_num_partitions=rng.choice((1, 2, 2, 4)),
            offsets_topic_segment_bytes=rng.choice((1500, 8000, 1 << 20)),
            log_journal_bytes=rng.choice((3000, 8000, JOURNAL_BYTES)),
            log_roll_ms=rng.choice((3000, 1 << 30)),
            group_coordinator_append_linger_ms=rng.choice((-1, -1, -1, 0, 5)),
            max_pending_requests_per_connection=rng.choice((1000, 1000, 2)),
            log_cleaner_enable=False,
            offsets_retention_minutes=1 + storm_s // 30 if self.is_expiring else 7 * 24 * 60,
            offsets_retention_check_interval_ms=5000 if self.is_expiring or self.is_jumpy else 600_000,
        )
        self.machine = Machine(self.world, self.network, self.config, self.stage.tell, self.broken.append)
        self.machine.is_timers_first = rng.random() < 0.5
        self.machine.inline_odds = rng.choice((1.0, 1.0, 0.9, 0.0))
        self.machine.sync_us = rng.choice((1, 3, 3, 60)) * MS
        self.machine.disk.is_write_short = rng.random() < 0.1
        self.network.most_us = rng.choice((1, 2, 2, 40)) * MS
        self.network.piece_odds = rng.choice((0.0, 0.05, 0.4))
        self.is_compacted = rng.random() < COMPACTED
        self.mirror = Mirror(self.machine, self.broken.append)
        self.machine.journaled = self.mirror.journaled
        # A mirror has to read a new process's log before a layer stands for some of it.
        self.machine.compacting = self.mirror.check
        self.groups = [f"g{number}" for number in range(rng.choice((1, 1, 2, 2, 4)))]
        self.members = self._cast()
        instances = [(member.group_id, member.instance_id) for member in self.members if member.instance_id is not None]
        mortal = ["s0", *(self.groups[-1:] if len(self.groups) > 1 else [])]
        self.administrator = Administrator(self.stage, self.groups, ["s0", "s1"], mortal, instances)
        self.scripts: list[Script] = []

    def run(self) -> Outcome:
        """Storm, calm, silence, and a last start."""
        with listening(self._logged), real_directory(self.is_compacted) as directory:
            if directory is not None:
                self.machine.use(directory)
            try:
                self._storm()
                self._calm()
                self._silence()
            finally:
                self.machine.scrap()
        return Outcome(self.stage.history, self.mirror, self.broken, self.config)

    def _cast(self) -> list[Member]:
        rng = self.rng
        count = rng.choice((3, 3, 4, 4, 5, 6)) if rng.random() < 0.95 else rng.randint(7, 20)
        has_static = rng.random() < 0.6
        kinds = {group: rng.choice(("consumer", "consumer", "connect")) for group in self.groups}
        # A member that asks only now and then has to hear of a rebalance before it is over.
        timeouts = {group: Timeouts(rng.choice((2000, 3000, 6000)), rng.choice((3000, 4000))) for group in self.groups}
        self.session_ms = max(each.session for each in timeouts.values())
        self.rebalance_ms = max(each.rebalance for each in timeouts.values())
        members = []
        for number in range(count):
            group = rng.choice(self.groups)
            # Now and then two clients claim to be the same one.
            instance = f"i{number if rng.random() < 0.8 else 0}" if has_static and rng.random() < 0.5 else None
            members.append(Member(self.stage, f"m{number}", group, kinds[group], timeouts[group], instance))
        return members

    def _storm(self) -> None:
        rng, world = self.rng, self.world
        self.machine.start()
        self.mirror.watch()
        for member in self.members:
            world.after(world.between(0, 4 * SECOND), member.start)
        world.after(200 * MS, lambda: self.scripts.append(Script(self.administrator.work(rng.choice((300, 1500))))))
        if rng.random() < 0.7:
            impostor = Impostor(self.stage)
            world.after(SECOND, lambda: self.scripts.append(Script(impostor.work(rng.choice((500, 2000))))))
        # Its own numbers: it may be added to a seed that is known.
        own = Random(f"impatient {self.seed}")
        if own.random() < IMPATIENT:
            world.after(SECOND, lambda: self.scripts.append(Script(Impatient(self.stage, own).work(own.choice((100, 800))))))
        self._befall(self._member_troubles(), 1.2)
        self._befall(self._machine_troubles(), rng.choice((0.1, 0.25, 0.5)))
        world.run_for(self.storm_s * SECOND)

    def _befall(self, troubles: list[Callable[[], None]], a_second: float) -> None:
        rng = self.rng
        for _ in range(int(self.storm_s * a_second * (0.5 + rng.random()))):
            self.world.after(rng.randint(0, self.storm_s * SECOND), rng.choice(troubles))

    def _calm(self) -> None:
        """No more faults: those who live come to an agreement."""
        self.stage.history.calm_us = self.world.now_us
        self.stage.tell("calm")
        self.stage.is_calm = True
        self.mirror.every_us *= 5
        self._mend()
        for script in self.scripts:
            script.abandon()
        self.world.run_for((2 * self.session_ms + 2 * self.rebalance_ms + 3000) * MS)
        self._look()

    def _silence(self) -> None:
        """Nobody says anything more: groups become empty, and everybody has been answered."""
        self.stage.history.silent_us = self.world.now_us
        self.stage.tell("silence")
        for member in self.members:
            if member.is_alive:
                member._end("died")
                member._script.abandon()
        self.world.run_for((self.session_ms + 2 * self.rebalance_ms + 2000) * MS)
        self._look()
        self.mirror.check_all()
        if self.is_expiring:
            self._age()
        self.stage.history.end_us = self.world.now_us
        self.machine.stop() if self.rng.random() < 0.5 else self.machine.kill()
        self.world.run_for(5 * SECOND)
        self.machine.start()
        self.world.run_for(2 * SECOND)
        self.mirror.check_all()
        self._look()

    def _age(self) -> None:
        """After a while nobody's offsets are kept any more."""
        self.stage.tell("old")
        self.world.run_for((60 * self.config.live.offsets_retention_minutes + 15) * SECOND)
        self.stage.history.old_us = self.world.now_us
        self._look()
        self.mirror.check_all()

    def _look(self) -> None:
        async def look() -> None:
            await self.administrator.describe()
            await self.administrator.fetch_all()

        script = Script(look())
        self.world.run_for(2 * SECOND)
        if not script.is_over:
            self.broken.append("an administrator was not answered in two quiet seconds")

    def _logged(self, line: dict[str, Any]) -> None:
        is_excused = line["event"] == "shard-load-failed" and self.machine.disk._faults
        if "exception" in line or (line["event"] == "shard-load-failed" and not is_excused):
            self.broken.append(f"logged: {line}")

    # What befalls them.

    def _member_troubles(self) -> list[Callable[[], None]]:
        rng = self.rng

        def somebody(do: Callable[[Member], None]) -> Callable[[], None]:
            return lambda: do(rng.choice(self.members))

        return [
            somebody(lambda member: member.die()),
            somebody(lambda member: member.leave()),
            *[somebody(lambda member: member.start())] * 4,
            *[somebody(lambda member: member.trouble())] * 2,
        ]

    def _machine_troubles(self) -> list[Callable[[], None]]:
        rng, world, machine, network = self.rng, self.world, self.machine, self.network

        def down(end: Callable[[], None]) -> Callable[[], None]:
            def go_down() -> None:
                end()
                world.after(world.between(10 * MS, 8 * SECOND), machine.start)

            return go_down

        def cut_in_a_write() -> None:
            machine.disk.cut_power_after(rng.randint(0, 30))
            world.after(world.between(SECOND, 5 * SECOND), machine.start)

        def fail(operations: tuple[str, ...], code: int) -> Callable[[], None]:
            def begin() -> None:
                self.stage.tell(f"the disk refuses {', '.join(operations)}: {errno.errorcode[code]}")
                for operation in operations:
                    machine.disk.fail(operation, code)
                world.after(world.between(50 * MS, 4 * SECOND), end)

            def end() -> None:
                machine.disk.mend()
                world.after(100 * MS, machine.start)

            return begin

        def apart() -> None:
            self.stage.tell("nobody reaches the server")
            network.is_apart = True
            network.cut_all()
            world.after(world.between(100 * MS, 5 * SECOND), rejoin)

        def rejoin() -> None:
            network.is_apart = False

        def jump() -> None:
            machine.jump(rng.choice((-3_600_000, -5000, 5000, 3_600_000, 30 * 86_400_000)))

        full = ("reserve", "pwrite", "open")
        harmless = [
            lambda: machine.pause(world.between(50 * MS, 900 * MS)),
            lambda: machine.pause(world.between(1200 * MS, 20 * SECOND)),
            apart,
            network.cut_all,
        ]
        if self.is_jumpy:
            # Only a server that was there knows that the clock has jumped.
            return [jump, jump, jump, *harmless]
        return [
            *harmless,
            *([] if self.is_expiring else [jump]),
            down(machine.kill),
            down(machine.lose_power),
            down(machine.lose_power),
            down(machine.stop),
            cut_in_a_write,
            fail(("sync",), errno.EIO),
            fail((rng.choice(full),), errno.ENOSPC),
            fail(full, errno.ENOSPC),
            *([machine.compact] * 8 if self.is_compacted else []),
        ]

    def _mend(self) -> None:
        machine, network = self.machine, self.network
        machine.disk.mend()
        machine.disk.cut_power_after(1 << 60)
        machine.resume()
        network.is_apart = False
        for seconds in range(3):
            self.world.after(seconds * SECOND, machine.start)


@contextlib.contextmanager
def listening(told: Callable[[dict[str, Any]], None]) -> Iterator[None]:
    """What the server logs goes to a function while this lasts, from warnings on."""
    before = structlog.get_config()

    def tell(_logger: object, _method: str, event: Any) -> Any:
        told(dict(event))
        raise structlog.DropEvent

    structlog.configure(
        processors=[structlog.processors.format_exc_info, tell],
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        cache_logger_on_first_use=False,
    )
    try:
        yield
    finally:
        structlog.configure(**before)
