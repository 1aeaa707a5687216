"""A LocalLogStore driven by hand: its loop and its worker run when a test says so, in one thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from coordinator_server.config import Config
from coordinator_server.kinds import partition_counts
from coordinator_server.log.errors import LogError
from coordinator_server.log.local import LocalLogStore, LogOptions
from coordinator_server.log.shards import Append, LoopShards, ShardId
from coordinator_server.log.store import Failures
from coordinator_server.log.write.journal_writer import Sync
from protocol.batch_builder import BatchBuilder
from protocol.record_batch import iter_batches, iter_records
from tests.support.storage import SimulatedDisk

DATA = "/data"
# What a server with the defaults asks for.
COUNTS = partition_counts(Config().log)


class ManualWorker:
    """Jobs that run when ``step`` is called; those with a delay when ``pass_time`` was."""

    def __init__(self) -> None:
        self.jobs: deque[Callable[[], None]] = deque()
        self.later: list[Callable[[], None]] = []

    def run(self, job: Callable[[], None], /, *, delay: float = 0.0) -> None:
        (self.later if delay else self.jobs).append(job)

    def step(self) -> bool:
        if self.jobs:
            self.jobs.popleft()()
        return bool(self.jobs)

    def pass_time(self) -> None:
        self.jobs.extend(self.later)
        self.later.clear()

    def close(self) -> None:
        self.jobs.clear()
        self.later.clear()


class OpenLog:
    """A store on a simulated disk: the whole log, or one loop's part of it."""

    def __init__(self, disk: SimulatedDisk, part: LoopShards | None = None, **settings: Any) -> None:
        self.disk = disk
        self.worker = ManualWorker()
        data_dir = settings.pop("data_dir", DATA)
        self.posted: deque[Callable[[], None]] = deque()
        chosen = {each: settings.pop(each) for each in LogOptions._fields if each in settings}
        options = LogOptions(sync=Sync.INLINE, journal_bytes=16384, segment_bytes=1 << 20, storage=disk, worker=self.worker)
        given = {"post": self.posted.append, "options": options._replace(**chosen), **settings}
        if part is None:
            self.store = LocalLogStore.open(data_dir, **given)
        else:
            self.store = LocalLogStore.open_part(data_dir, part, **given)

    def submit(self, *appends: Append) -> list[Failures | None]:
        """Submit; the list gets the outcome when there is one."""
        outcome: list[Failures | None] = []
        self.store.submit(appends, outcome.append)
        return outcome

    def append(self, *appends: Append) -> LogError | None:
        """Submit, and let loop and worker run until it is done. The same becomes of all shards."""
        outcome = self.submit(*appends)
        self.run()
        [failures] = outcome
        if failures is None:
            return None
        assert failures.keys() == {each.shard for each in appends}
        [failure] = set(failures.values())
        return failure

    def seal(self) -> Mapping[ShardId, int] | LogError:
        outcome: list[Mapping[ShardId, int] | LogError] = []
        self.store.seal(outcome.append)
        self.run()
        return outcome[0]

    def run(self) -> None:
        """Let loop and worker run until both are idle."""
        while self.posted or self.worker.jobs:
            self.turn()
            self.worker.step()

    def turn(self) -> None:
        """One turn of the loop."""
        for _ in range(len(self.posted)):
            self.posted.popleft()()

    def write_out(self) -> None:
        """The moment when what waits is written to the segments."""
        self.worker.pass_time()
        self.run()


def part_of(loop: int, loops: int) -> LoopShards:
    """Shards spread over the loops by their number."""
    return LoopShards(loop, lambda each: each.partition % loops == loop)


def shard(partition: int) -> ShardId:
    return ShardId("__consumer_offsets", partition)


def batch(offset: int, value: bytes = b"value", count: int = 1, at_ms: int = 1_700_000_000_000) -> bytes:
    builder = BatchBuilder(offset, at_ms)
    for _ in range(count):
        builder.append(b"key", value)
    return builder.finish()


def append(partition: int, offset: int, value: bytes = b"value", *, count: int = 1, epoch: int = 0) -> Append:
    return Append(shard(partition), epoch, offset, batch(offset, value, count))


def values(batches: Iterable[bytes]) -> list[bytes | None]:
    """The values of all records, in order."""
    found = []
    for data in batches:
        for position, header in iter_batches(data):
            found += [record.value for record in iter_records(data, position, header)]
    return found


def segments(disk: SimulatedDisk, partition: int) -> dict[str, int]:
    return {path[-24:]: len(disk.content(path)) for path in disk.files(f"{DATA}/{shard(partition)}") if path.endswith(".log")}


def calls_of(disk: SimulatedDisk, operation: str, part: str) -> int:
    return sum(1 for name, path in disk.calls if name == operation and part in path)
