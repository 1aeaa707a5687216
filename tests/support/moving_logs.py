"""Two loops that write one directory, and shards that move between them, the same at every run:
``python -m tests.support.moving_logs DATA_DIR``.

It says every durable append as ``partition end``. Shards move, come back, and move again, while the journals turn, segments roll,
a move is given up, and a loop is started anew beside the other one.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Sequence
from random import Random

from coordinator_server.log.directory import recover_all_loops, recover_dead_loop
from coordinator_server.log.errors import LogError
from coordinator_server.log.local import LocalLogStore, LogOptions
from coordinator_server.log.owners import MovedShards, read_owners, write_owners
from coordinator_server.log.shards import LoopShards, ShardEnd, ShardId
from coordinator_server.log.storage import LocalStorage, Storage
from coordinator_server.log.store import Failures
from coordinator_server.log.write.journal_writer import Sync
from tests.support.log import ManualWorker
from tests.support.log_writer import SHARDS, append_values

LOOPS = 2
# What happens, one after the other: shards that move, by partition, or what ``play`` does by that name.
STEPS: Sequence[int | str] = (
    *(0, "write", 0, "write", "seal", 0, 2, "write", "restart", 2, "give_up", "write"),
    *(0, "restart", "die", "write"),
)


class MovingLogs:
    """A directory of two loops. ``acked`` is told of each durable append."""

    def __init__(self, storage: Storage, data_dir: str, acked: Callable[[ShardId, int], None]) -> None:
        self.storage = storage
        self.data_dir = data_dir
        self.acked = acked
        self.version = 1
        self.owners = {shard: shard.partition % LOOPS for shard in SHARDS}
        self.workers = [ManualWorker() for _ in range(LOOPS)]
        self.posted: deque[Callable[[], None]] = deque()
        if not storage.exists(f"{data_dir}/meta.properties"):
            LocalLogStore.open(data_dir, post=self.posted.append, options=self.options(0)).close()
        recover_all_loops(storage, data_dir, LOOPS, self.owners.__getitem__)
        self.stores = [self.open(loop) for loop in range(LOOPS)]

    def options(self, loop: int) -> LogOptions:
        return LogOptions(
            segment_bytes=3000,
            journal_bytes=8192,
            reserve_bytes=2048,
            sync=Sync.INLINE,
            storage=self.storage,
            worker=self.workers[loop],
        )

    def open(self, loop: int) -> LocalLogStore:
        """Open the log of a loop beside the other one, as its next process does."""
        self.workers[loop] = ManualWorker()
        part = LoopShards(loop, lambda shard: self.owners[shard] == loop)
        return LocalLogStore.open_part(self.data_dir, part, post=self.posted.append, options=self.options(loop))

    def run(self) -> None:
        """Let the loops and their workers run until all are idle."""
        while self.posted or any(worker.jobs for worker in self.workers):
            for _ in range(len(self.posted)):
                self.posted.popleft()()
            for worker in self.workers:
                worker.step()

    def append(self, shard: ShardId, count: int) -> None:
        store, outcome = self.stores[self.owners[shard]], list[Failures | None]()
        store.submit([append_values(store, shard, count)], outcome.append)
        self.run()
        assert outcome == [None]
        self.acked(shard, store.end_offset(shard))

    def move(self, shard: ShardId) -> None:
        """Move a shard to the other loop."""
        source, target = self.owners[shard], 1 - self.owners[shard]
        ends = self.release(source, shard)
        assert self.take(target, ends) is None
        self.own(shard, target)
        self.stores[source].forget([shard], lambda: None)
        self.run()

    def release(self, loop: int, shard: ShardId) -> Sequence[ShardEnd]:
        released: list[Sequence[ShardEnd] | LogError] = []
        self.stores[loop].release([shard], released.append)
        self.run()
        [ends] = released
        assert not isinstance(ends, LogError)
        return ends

    def take(self, loop: int, ends: Sequence[ShardEnd]) -> LogError | None:
        taken: list[LogError | None] = []
        self.stores[loop].take(ends, taken.append)
        self.run()
        return taken[0]

    def own(self, shard: ShardId, loop: int) -> None:
        """Write down that a loop owns a shard."""
        self.version += 1
        known = read_owners(self.data_dir, self.storage)
        owners = {**(known.owners if known is not None else {}), str(shard): (loop, self.version)}
        write_owners(self.data_dir, MovedShards(self.version, LOOPS, owners), self.storage)
        self.owners[shard] = loop

    def give_up(self, shard: ShardId) -> None:
        """The next owner has taken a shard, and dies before that is written down: the former one goes on."""
        source, target = self.owners[shard], 1 - self.owners[shard]
        ends = self.release(source, shard)
        assert self.take(target, ends) is None
        self.stores[target] = self.open(target)
        assert self.take(source, ends) is None
        self.run()

    def take_from_dead(self, loop: int) -> None:
        """A loop dies, and the other one takes what it has."""
        gone = [shard for shard in SHARDS if self.owners[shard] == loop]
        self.workers[loop] = ManualWorker()
        ends = recover_dead_loop(self.storage, self.data_dir, LoopShards(loop, gone.__contains__))
        assert self.take(1 - loop, ends) is None
        for shard in gone:
            self.own(shard, 1 - loop)
        self.stores[loop] = self.open(loop)


def play(storage: Storage, data_dir: str, acked: Callable[[ShardId, int], None]) -> None:
    """Run the script."""
    rng, logs = Random(7), MovingLogs(storage, data_dir, acked)
    for step in STEPS:
        for shard in SHARDS[:4]:
            logs.append(shard, rng.randint(1, 4))
        match step:
            case int():
                logs.move(SHARDS[step])
            case "seal":
                for store in logs.stores:
                    store.seal(lambda _ends: None)
                logs.run()
            case "restart":
                loop = logs.owners[SHARDS[2]]
                logs.stores[loop] = logs.open(loop)
            case "give_up":
                logs.give_up(SHARDS[2])
            case "die":
                logs.take_from_dead(1)
            case _:
                for worker in logs.workers:
                    worker.pass_time()
                logs.run()
    for shard in SHARDS[:4]:
        logs.append(shard, 2)


def _say(shard: ShardId, end: int) -> None:
    os.write(1, f"{shard.partition} {end}\n".encode())


if __name__ == "__main__":
    play(LocalStorage(), sys.argv[1], _say)
