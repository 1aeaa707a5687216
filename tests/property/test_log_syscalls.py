"""A process killed at the N-th system call that changes a file, for every such call: what it acknowledged is there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coordinator_server.log.local import LocalLogStore
from coordinator_server.log.repair.check import check as verify
from tests.support.log import values
from tests.support.log_writer import SHARDS, value
from tests.support.strace import needs_strace, program_killed_at

ROOT = Path(__file__).parents[2]

# By name; how many calls apart the kills of the default run are.
SAMPLED = {
    "write": 60,  # also of what it says, between a sync and the next operation
    "pwrite64": 60,
    "fdatasync": 60,
    "fsync": 60,
    "rename": 4,
    "ftruncate": 25,
    "unlink": 15,
    "rmdir": 2,
    "fallocate": 40,
    "mkdir": 10,
}

# What strace's own exit code is when the program dies of a signal.
KILLED = {-signal.SIGKILL, 128 + signal.SIGKILL}


@pytest.mark.crash
@needs_strace
@pytest.mark.parametrize("call", SAMPLED)
def test_a_kill_at_any_system_call_loses_nothing_acknowledged(call: str, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """The log is a prefix that holds all that was said, in order and whole; and it opens."""
    step = 1 if pytestconfig.getoption("--every-syscall") else SAMPLED[call]
    kills = 0
    for number, acked in enumerate(killed_runs(call, step, tmp_path)):
        check(tmp_path / str(number), acked)
        kills += 1

    assert kills > 0


def killed_runs(call: str, step: int, tmp_path: Path) -> Iterator[dict[int, int]]:
    """Run the script, killed at call 1, 1 + step, …, until it makes fewer calls than that; the ends it had said by then."""
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    number, when = 0, 1
    while True:
        program = [sys.executable, "-m", "tests.support.log_script", str(tmp_path / str(number))]
        command = [*program_killed_at(call, when), *program]
        run = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, timeout=60, check=False)
        if run.returncode == 0:
            return
        assert run.returncode in KILLED, run.returncode
        acked: dict[int, int] = {}
        for line in run.stdout.splitlines():
            partition, end = line.split()
            acked[int(partition)] = int(end)
        yield acked
        number, when = number + 1, when + step


def check(data_dir: Path, acked: dict[int, int]) -> None:
    # Nothing that a kill leaves is damage to ``log verify``.
    if (data_dir / "meta.properties").exists():
        assert verify(str(data_dir)).damage == []
    posted: list[Callable[[], None]] = []
    store = LocalLogStore.open(data_dir, post=posted.append)
    try:
        for shard in SHARDS:
            end = store.end_offset(shard)
            assert end >= acked.get(shard.partition, 0)
            assert values(store.read(shard, 0)) == [value(shard, offset) for offset in range(end)]
    finally:
        store.close()
