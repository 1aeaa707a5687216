"""Shards move between two loops, and a kill or a power loss comes at any moment: nothing acknowledged is lost, and both start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from random import Random

import pytest

from coordinator_server.log.directory import recover_all_loops
from coordinator_server.log.local import LocalLogStore
from coordinator_server.log.repair.check import check as verify
from coordinator_server.log.shards import ShardId
from coordinator_server.log.storage import LOCAL
from tests.support.log import DATA, OpenLog, values
from tests.support.log_writer import SHARDS, value
from tests.support.moving_logs import play
from tests.support.storage import PowerCut, SimulatedDisk
from tests.support.strace import needs_strace, program_killed_at

ROOT = Path(__file__).parents[2]
# By name; how many calls apart the kills of the default run are, in which every call of ``SimulatedDisk`` has its turn, too.
SAMPLED = {"pwrite64": 100, "fdatasync": 100, "fsync": 50, "rename": 6, "ftruncate": 12}
KILLED = {-signal.SIGKILL, 128 + signal.SIGKILL}


def whole(disk: SimulatedDisk, acked: dict[ShardId, int], loops: int, rng: Random) -> None:
    """Recover as a supervisor does, for any owners, and read what all loops have."""
    if not disk.exists(f"{DATA}/meta.properties"):
        OpenLog(disk).store.close()
    owners = {shard: rng.randrange(loops) for shard in SHARDS}
    recover_all_loops(disk, DATA, loops, owners.__getitem__)
    log = OpenLog(disk)
    for shard in SHARDS:
        end = log.store.end_offset(shard)
        assert end >= acked.get(shard, 0), shard
        assert values(log.store.read(shard, 0)) == [value(shard, offset) for offset in range(end)], shard


def cut_at(call: int) -> tuple[SimulatedDisk, dict[ShardId, int], bool]:
    """Play until a call that changes the disk. Return whether it came to that."""
    disk, acked = SimulatedDisk(Random(call)), dict[ShardId, int]()
    disk.make_dir(DATA)
    disk.cut_power_after(call)
    is_cut = True
    with suppress(PowerCut):
        play(disk, DATA, acked.__setitem__)
        is_cut = False
    disk.kill()
    return disk, acked, is_cut


@pytest.mark.parametrize("first", range(8))
def test_a_death_at_any_moment_of_a_move_loses_nothing_acknowledged(first: int, pytestconfig: pytest.Config) -> None:
    """Neither a kill nor a power loss, whoever owns what afterwards; nor does a second one while that is recovered."""
    step = 8 if pytestconfig.getoption("--every-syscall") else 96
    call, is_cut = first * step // 8, True
    while is_cut:
        disk, acked, is_cut = cut_at(call)
        rng = Random(call)
        whole(deepcopy(disk), acked, rng.randint(1, 3), rng)
        whole(disk.power_loss(rng), acked, rng.randint(1, 3), rng)
        call += step


@pytest.mark.crash
@needs_strace
@pytest.mark.parametrize("call", SAMPLED)
def test_a_kill_at_any_system_call_of_a_move_loses_nothing_acknowledged(
    call: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """The log is a prefix that holds all that was said, and it opens, for one loop and for two."""
    step = 1 if pytestconfig.getoption("--every-syscall") else SAMPLED[call]
    kills = 0
    for number, acked in enumerate(killed_runs(call, step, tmp_path)):
        check(tmp_path / str(number), acked)
        kills += 1

    assert kills > 0


def killed_runs(call: str, step: int, tmp_path: Path) -> Iterator[dict[int, int]]:
    """Run the script, killed at every step-th call, until it makes fewer calls than that; the ends it had said by then."""
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    number, when = 0, max(1, step // 2)
    while True:
        program = [sys.executable, "-m", "tests.support.moving_logs", str(tmp_path / str(number))]
        command = [*program_killed_at(call, when), *program]
        run = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, timeout=60, check=False)
        if run.returncode == 0:
            return
        assert run.returncode in KILLED, run.returncode
        yield {int(partition): int(end) for partition, end in (line.split() for line in run.stdout.splitlines())}
        number, when = number + 1, when + step


def check(data_dir: Path, acked: dict[int, int]) -> None:
    if (data_dir / "meta.properties").exists():
        assert verify(str(data_dir)).damage == []
        recover_all_loops(LOCAL, str(data_dir), 2, lambda shard: shard.partition % 2)
    posted: list[Callable[[], None]] = []
    store = LocalLogStore.open(data_dir, post=posted.append)
    try:
        for shard in SHARDS:
            end = store.end_offset(shard)
            assert end >= acked.get(shard.partition, 0)
            assert values(store.read(shard, 0)) == [value(shard, offset) for offset in range(end)]
    finally:
        store.close()
