"""A real process on a real file system, killed at random moments while it appends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random, randrange

import pytest

from coordinator_server.log.local import LocalLogStore
from tests.support.log import values
from tests.support.log_writer import SHARDS, value

ROOT = Path(__file__).parents[2]


def killed_run(data_dir: Path, seed: int, lines: int) -> dict[int, int]:
    """Run the writer until it has said so many lines; what it said, to the last byte before it died."""
    command = [sys.executable, "-m", "tests.support.log_writer", str(data_dir), str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(lines)]
        os.kill(process.pid, signal.SIGKILL)
        said += process.stdout.read().splitlines()
        assert process.wait(30) == -signal.SIGKILL
    acked: dict[int, int] = {}
    for line in said:
        if line.strip() and line.strip() != b"opened":
            partition, end = line.split()
            acked[int(partition)] = max(int(end), acked.get(int(partition), 0))
    return acked


@pytest.mark.crash
def test_a_killed_process_keeps_what_it_acknowledged(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """Round after round on one directory: everything acknowledged is there, whole and in order."""
    rounds = max(pytestconfig.getoption("--crash-rounds") // 4, 1)
    given = pytestconfig.getoption("--seed")
    seed = randrange(2**32) if given is None else given
    print(f"--seed {seed}")  # noqa: T201 - pytest shows it when the test fails
    rng = Random(seed)
    acked = dict.fromkeys(range(len(SHARDS)), 0)
    posted: list[Callable[[], None]] = []
    for _ in range(rounds):
        acked |= killed_run(tmp_path, rng.randrange(10**9), rng.choice((0, 1, 2, 50, 500, 3000)))
        store = LocalLogStore.open(tmp_path, post=posted.append)
        for shard in SHARDS:
            end = store.end_offset(shard)
            assert end >= acked[shard.partition]
            assert values(store.read(shard, 0)) == [value(shard, offset) for offset in range(end)]
            acked[shard.partition] = end
        store.close()
