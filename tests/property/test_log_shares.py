"""Several loops write one directory, die one by one or all at once with the power, and come back in another number:
nothing is lost.

``LOG_IMAGES`` as for test_log_power_loss.py; the seed is all there is to a failure.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from random import Random

import pytest

from coordinator_server.log.directory import recover_all_loops
from coordinator_server.log.shards import ShardId
from coordinator_server.log.write.journal_writer import Sync
from tests.property.test_log_power_loss import IMAGES, History, Life
from tests.support.log import DATA, OpenLog, part_of
from tests.support.storage import PowerCut, SimulatedDisk

PER_TEST = 125


class Loops:
    """One run of a server with ``count`` loops; ``whole`` is what all of them together owe."""

    def __init__(self, rng: Random, disk: SimulatedDisk, count: int, whole: History) -> None:
        self.rng = rng
        self.disk = disk
        self.count = count
        disk.mend()
        disk.make_dir(DATA)
        if not disk.exists(f"{DATA}/meta.properties"):
            OpenLog(disk).store.close()
        recover_all_loops(disk, DATA, count, self.loop_of)
        self.histories = [self.part_of(whole, loop) for loop in range(count)]
        self.lives = [self.start(loop) for loop in range(count)]

    def loop_of(self, each: ShardId) -> int:
        return each.partition % self.count

    def part_of(self, whole: History, loop: int) -> History:
        part = History()
        part.acked = {each: list(batches) for each, batches in whole.acked.items() if self.loop_of(each) == loop}
        part.ends = {each: end for each, end in whole.ends.items() if self.loop_of(each) == loop}
        part.in_flight = [each for each in whole.in_flight if self.loop_of(each.shard) == loop]
        part.sealed = {path: data for path, data in whole.sealed.items() if self.loop_of(shard_of(path)) == loop}
        part.begins = {each: begin for each, begin in whole.begins.items() if self.loop_of(each) == loop}
        part.gone = {each: batches for each, batches in whole.gone.items() if self.loop_of(each) == loop}
        return part

    def start(self, loop: int) -> Life:
        return Life(self.rng, self.disk, self.histories[loop], Sync.INLINE, part_of(loop, self.count))

    def run(self) -> None:
        for _ in range(self.rng.randint(0, 12)):
            loop = self.rng.randrange(self.count)
            if self.rng.random() < 0.15:
                # A loop is killed, and starts again beside the others.
                self.lives[loop] = self.start(loop)
            else:
                self.lives[loop].some_steps(10)
        if self.rng.random() < 0.4:
            for life in self.lives:
                self.disk.mend()
                life.log.run()
                life.log.store.close()
                life.log.turn()


def shard_of(path: str) -> ShardId:
    """Whose segment that is."""
    topic, _, partition = path.split("/")[-2].rpartition("-")
    return ShardId(topic, int(partition))


def owed_by(loops: Loops) -> History:
    """What all loops owe, in one history; each loop's submit in flight is settled by itself when it is looked for."""
    united = History()
    for part in loops.histories:
        united.acked |= part.acked
        united.ends |= part.ends
        united.sealed |= part.sealed
        united.begins |= part.begins
        united.gone |= part.gone
    return united


def lose_power(seed: int, make_disk: Callable[[Random], SimulatedDisk] = SimulatedDisk) -> None:
    rng = Random(seed)
    disk = make_disk(rng)
    disk.is_write_short = rng.random() < 0.2
    history, loops = History(), None
    unsettled: list[History] = []
    before = deepcopy((history, unsettled))
    for _ in range(rng.randint(1, 5)):
        count = rng.randint(1, 3)
        disk.cut_power_after(rng.choice((20, 100, 400)) * rng.randint(1, 10) // 10)
        with suppress(PowerCut):
            loops = None
            loops = Loops(rng, disk, count, history)
            loops.run()
        disk.kill()
        if rng.random() < 0.6:
            disk = disk.power_loss(rng)
        if loops is not None:
            before = owed_by(loops), [each for each in loops.histories if each.in_flight]
        # A submit in flight that was seen and not recovered may still go with the next power loss: nobody was told of it.
        history, unsettled = deepcopy(before)
        disk.mend()
        # On a copy: the next start is to find what the death left, not what looking at it mended.
        resolve(deepcopy(disk), history, unsettled)
    first = OpenLog(disk)
    history.check(first)


def resolve(disk: SimulatedDisk, history: History, unsettled: list[History]) -> None:
    """Each loop's submit in flight came to be as a whole or not at all."""
    log = OpenLog(disk)
    found = history.found(log)
    for part in unsettled:
        has = {len(found.get(each.shard, ())) > len(history.acked.get(each.shard, ())) for each in part.in_flight}
        assert has in ({True}, {False})
        if has == {True}:
            part.settle(None)
            history.acked |= part.acked
            history.ends |= part.ends
    unsettled.clear()
    history.check(log)


@pytest.mark.parametrize("first", range(0, IMAGES // 4, PER_TEST))
def test_acknowledged_batches_survive_in_any_number_of_loops(first: int) -> None:
    """One loop's death, the power's, and another number of loops at the next start:
    all that was acknowledged is there, in order.
    """
    for seed in range(first, first + PER_TEST):
        try:
            lose_power(seed)
        except BaseException as error:
            error.add_note(f"lose_power({seed})")
            raise
