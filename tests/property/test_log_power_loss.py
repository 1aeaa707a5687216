"""Whatever the moment the power goes, every acknowledged batch is there afterwards, in order, nothing else is, and the log starts.

``LOG_IMAGES`` says how many disks to lose power on (default 500); the seed in the test's name is all there is to a failure.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import pairwise
from random import Random

import pytest

from coordinator_server.log.errors import LogError, OutcomeUnknown, Unavailable
from coordinator_server.log.file_names import segment_path
from coordinator_server.log.layers.retention import remove_segment
from coordinator_server.log.shards import Append, LoopShards, ShardId
from coordinator_server.log.store import Failures
from coordinator_server.log.write.journal_writer import Sync
from tests.support.log import DATA, OpenLog, batch, shard
from tests.support.storage import PowerCut, SimulatedDisk

IMAGES = int(os.environ.get("LOG_IMAGES", "500"))
PER_TEST = 250


class History:
    """What the log owes: batches acknowledged, and the one submit whose outcome nobody knows."""

    def __init__(self) -> None:
        self.acked: dict[ShardId, list[bytes]] = {}
        self.ends: dict[ShardId, int] = {}
        self.in_flight: list[Append] = []
        self.sealed: dict[str, bytes] = {}
        self.may_forget = False
        self.was_full = False  # then shards without room may be left out of a frame
        self.begins: dict[ShardId, int] = {}  # after what retention removed
        self.gone: dict[ShardId, list[bytes]] = {}

    def end(self, each: ShardId) -> int:
        return self.ends.get(each, 0)

    def settle(self, failures: Failures | None) -> None:
        for each in self.in_flight:
            if failures is None or each.shard not in failures:
                self.acked.setdefault(each.shard, []).append(each.data)
                self.ends[each.shard] = int.from_bytes(each.data[:8], "big") + int.from_bytes(each.data[23:27], "big") + 1
        assert not any(isinstance(error, OutcomeUnknown) for error in (failures or {}).values())
        self.in_flight = []

    def found(self, log: OpenLog) -> dict[ShardId, list[bytes]]:
        """What is there of each shard, after what retention removed."""
        return {
            each: self.gone.get(each, []) + list(log.store.read(each, self.begins.get(each, 0)))
            for each in {*log.store.shards(), *self.acked}
        }

    def check(self, log: OpenLog) -> None:
        """The log holds what it owes; of the submit in flight all or nothing."""
        found = self.found(log)
        if self.may_forget:
            self.forget(found, log)
        has = {each.shard: len(found.get(each.shard, ())) > len(self.acked.get(each.shard, ())) for each in self.in_flight}
        assert self.was_full or len(set(has.values())) <= 1
        self.was_full = False
        self.settle({shard: Unavailable("it did not get there") for shard, is_there in has.items() if not is_there})
        assert {each: batches for each, batches in found.items() if batches} == self.acked
        assert {each: log.store.end_offset(each) for each in self.acked} == self.ends
        for path, content in self.sealed.items():
            assert log.disk.content(path) == content

    def forget(self, found: dict[ShardId, list[bytes]], log: OpenLog) -> None:
        """Without syncs a power loss leaves a prefix of each shard."""
        for each in self.in_flight:
            self.acked.setdefault(each.shard, []).append(each.data)
        for owner, batches in found.items():
            assert batches == self.acked.get(owner, [])[: len(batches)]
        self.in_flight = []
        self.acked = {each: batches for each, batches in found.items() if batches}
        self.ends = {each: log.store.end_offset(each) for each in self.acked}
        self.may_forget = False
        self.was_full = False  # then shards without room may be left out of a frame


class Life:
    """One run of the program, from open to whatever ends it."""

    def __init__(self, rng: Random, disk: SimulatedDisk, history: History, sync: Sync, loop: LoopShards | None = None) -> None:
        self.rng = rng
        self.history = history
        self.now_ms = 0
        self.partitions = [partition for partition in range(5) if loop is None or loop.owns(shard(partition))]
        disk.mend()
        sizes = {"journal_bytes": rng.choice((2048, 4096, 16384)), "segment_bytes": rng.choice((1000, 5000, 1 << 20))}
        sizes["roll_ms"] = rng.choice((5, 1000))
        if loop is None:
            # Shards move: with every start another loop may write all of them.
            sizes["loop_index"] = rng.choice((0, 0, 1))
        self.log = OpenLog(disk, loop, sync=sync, **sizes)
        history.check(self.log)
        often = {self.submit: 24, self.work: 12, self.turn: 12, self.pass_time: 4, self.seal: 2, self.read: 2}
        self.steps = {**often, self.fill_disk: 1, self.make_room: 2, self.remove_oldest: 2}

    def some_steps(self, most: int) -> None:
        names, weights = list(self.steps), list(self.steps.values())
        for step in self.rng.choices(names, weights, k=self.rng.randint(0, most)):
            step()

    def run(self) -> None:
        self.some_steps(60)
        ending = self.rng.random()
        if ending < 0.5:
            self.log.disk.mend()
            self.log.run()
            self.log.store.close()
            self.log.turn()
        self.log.disk.kill()

    def submit(self) -> None:
        if self.history.in_flight:
            self.log.run()
        if self.history.in_flight:
            return
        rng = self.rng
        size = rng.choice((10, 300, 1000, 5000)) if rng.random() < 0.95 else 20000
        for partition in rng.sample(self.partitions, rng.randint(1, min(4, len(self.partitions)))):
            offset = self.history.end(shard(partition))
            self.now_ms += rng.choice((0, 0, 1, 3))
            data = batch(offset, rng.randbytes(rng.randint(1, size)), rng.randint(1, 3), self.now_ms)
            self.history.in_flight.append(Append(shard(partition), 0, offset, data))
        self.log.store.submit(self.history.in_flight, self.history.settle)

    def fill_disk(self) -> None:
        self.history.was_full = True
        operation = self.rng.choice(("reserve", "pwrite", "open", "rename", "truncate", "remove"))
        self.log.disk.fail(operation, self.rng.choice((errno.ENOSPC, errno.EDQUOT, errno.EMFILE)))

    def make_room(self) -> None:
        self.log.disk.mend()

    def work(self) -> None:
        self.log.worker.step()

    def turn(self) -> None:
        self.log.turn()

    def pass_time(self) -> None:
        self.log.worker.pass_time()

    def seal(self) -> None:
        self.log.store.seal(self.sealed)

    def sealed(self, ends: Mapping[ShardId, int] | LogError) -> None:
        for each in ends if isinstance(ends, dict) else ():
            names = [path for path in self.log.disk.files(f"{DATA}/{each}") if path.endswith(".log")]
            self.history.sealed.update({path: self.log.disk.content(path) for path in names[:-1]})

    def read(self) -> None:
        self.log.disk.mend()
        for each, batches in self.history.acked.items():
            gone = self.history.gone.get(each, [])
            found = gone + list(self.log.store.read(each, self.history.begins.get(each, 0)))
            assert found[: len(batches)] == batches

    def remove_oldest(self) -> None:
        """What retention does with segments that a layer stands for."""
        history = self.history
        log = self.rng.choice(self.log.store.logs() or [None])
        bases = log.bases() if log is not None else []
        for base, end in pairwise(bases[: self.rng.randint(1, 4)]):
            assert log is not None
            if base >= self.log.store.first_needed_segment(log.shard):
                break
            history.begins[log.shard] = end
            history.gone[log.shard] = [data for data in history.acked[log.shard] if int.from_bytes(data[:8], "big") < end]
            history.sealed.pop(segment_path(log.directory, base), None)
            with suppress(OSError):
                assert remove_segment(self.log.disk, log, base)


def lose_power(seed: int, sync: Sync = Sync.INLINE, make_disk: Callable[[Random], SimulatedDisk] = SimulatedDisk) -> None:
    rng = Random(seed)
    disk = make_disk(rng)
    disk.is_write_short = rng.random() < 0.2
    history = History()
    for _ in range(rng.randint(1, 5)):
        disk.cut_power_after(rng.choice((20, 100, 400)) * rng.randint(1, 10) // 10)
        try:
            Life(rng, disk, history, sync).run()
        except PowerCut:
            disk.kill()
        if rng.random() < 0.6:
            disk = disk.power_loss(rng)
            history.may_forget = sync is Sync.NEVER
    disk.mend()
    disk.kill()
    first = OpenLog(disk)
    history.check(first)
    content = {path: disk.content(path) for path in disk.files(DATA) if path.endswith(".log")}
    disk.kill()
    again = OpenLog(disk)
    history.check(again)
    assert {path: disk.content(path) for path in disk.files(DATA) if path.endswith(".log")} == content


@pytest.mark.parametrize("first", range(0, IMAGES, PER_TEST))
def test_acknowledged_batches_survive_a_power_loss(first: int) -> None:
    """Acked means durable; a crash leaves a legal log, and recovering it twice changes nothing."""
    for seed in range(first, first + PER_TEST):
        try:
            lose_power(seed)
        except BaseException as error:
            error.add_note(f"lose_power({seed})")
            raise


def test_without_syncs_a_power_loss_leaves_a_prefix() -> None:
    """``log.flush = os``: the last moments may be gone, what is there is in order, sealed segments are whole,
    and the log starts.
    """
    for seed in range(IMAGES // 5):
        try:
            lose_power(seed, Sync.NEVER)
        except BaseException as error:
            error.add_note(f"lose_power({seed}, Sync.NEVER)")
            raise
