"""Silences as a server measures them, from the timers of its shards, in memory: lines that are whole, or lost."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

from coordinator_server.kinds import GROUPS
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.runtime.timers import ShardTimers, Timer, TimerQueue
from coordinator_server.server.hosting.silence_files import Cover, Measured, SilenceFiles, Silent
from coordinator_server.server.hosting.silences import Silences
from coordinator_server.worker import Job
from tests.support.clock import ManualClock
from tests.support.group import ManualTimer

SHARD: Final = ShardId(GROUPS.topic, 7)
KEEP_DAYS: Final = 30


def line(*covers: tuple[int, int, bool], silences: Sequence[tuple[str, int, int]] = (), least_ms: int = 1000) -> Measured:
    """A line about one shard: since and until when, whether it is over; who was silent since and until when."""
    found = [Cover(since_ms, until_ms, (SHARD.partition,), is_over) for since_ms, until_ms, is_over in covers]
    silent = [Silent("g", member_id, since_ms, until_ms) for member_id, since_ms, until_ms in silences]
    return Measured(max([cover.until_ms for cover in found], default=0), least_ms, found, silent)


class AtOnce:
    """A worker that does jobs when it gets them."""

    def run(self, job: Job, /, *, delay: float = 0.0) -> None:
        job()

    def close(self) -> None: ...


def fire(timer: Timer) -> None:
    timer.operation()


class Lines(SilenceFiles):
    """Keeps the lines. While ``fails``, it loses them."""

    def __init__(self) -> None:
        self.keep_days = KEEP_DAYS
        self.lines: list[Measured] = []
        self.fails = False

    def write(self, measured: Measured) -> None:
        if self.fails:
            raise OSError(28, "No space left on device")
        self.lines.append(measured)


class MeasuringTimer(ManualTimer):
    """The timers of a test's shard, beside the server's own, which do nothing but measure."""

    def __init__(self, clock: ManualClock, least_ms: int) -> None:
        super().__init__(clock)
        self.clock = clock
        self.queue = TimerQueue()
        self.files = Lines()
        self.silences = Silences(self.files, least_ms, clock, ShardTimers(self.queue, clock, fire), AtOnce())
        self.timers = ShardTimers(self.queue, clock, lambda timer: None, self.silences.of(SHARD))

    def schedule(
        self, key: Hashable, delay_ms: int, operation: Callable[[], CoordinatorResult[Any]], /, retry_ms: int = 0
    ) -> None:
        super().schedule(key, delay_ms, operation, retry_ms)
        self.timers.schedule(key, delay_ms, operation)

    def cancel(self, key: Hashable, /) -> None:
        super().cancel(key)
        self.timers.cancel(key)

    def heard(self, key: Hashable, /) -> None:
        self.timers.heard(key)

    def pop_due(self, deadline_ms: int) -> tuple[int, Callable[[], CoordinatorResult[Any]]] | None:
        self.queue.run(self.clock.now_ms())
        return super().pop_due(deadline_ms)

    def stop(self) -> list[Measured]:
        """The shard is given up, and the server stops; all lines."""
        self.timers.cancel_all()
        self.silences.close()
        return self.files.lines
