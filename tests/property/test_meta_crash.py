"""``meta.properties`` and a start that ends at any call: there is the file of before or the one of after,
and the next start goes on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext as does_not_raise
from itertools import count
from pathlib import Path
from random import Random

import pytest

from coordinator_server.kinds import GROUPS, TRANSACTIONS
from coordinator_server.log.directory import lock_directory
from coordinator_server.log.errors import LogError
from coordinator_server.log.meta import NAME, open_meta, read_meta, write_meta
from coordinator_server.log.repair.check import check
from coordinator_server.log.storage import LocalStorage
from coordinator_server.log.store import Meta
from tests.property.test_log_syscalls import KILLED, ROOT
from tests.support.log import COUNTS, DATA
from tests.support.storage import PowerCut, SimulatedDisk
from tests.support.strace import program_killed_at

PATH = f"{DATA}/{NAME}"
IMAGES = 30
EARLIER = b"version=1\ncluster.id=x\nnode.id=1\noffsets.topic.num.partitions=50\n"
# Another number than the default: what is there afterwards is what the first start was given, or nothing of it.
ASKED = COUNTS | {TRANSACTIONS.topic: 7}

# How a start finds a directory: of an earlier format, or made before the last kind was added.
FOUND: dict[str, Callable[[SimulatedDisk], None]] = {
    "earlier-format": lambda disk: disk.put(PATH, EARLIER),
    "newer-kind": lambda disk: write_meta(disk, DATA, Meta("x", 1, {GROUPS.topic: 50, TRANSACTIONS.topic: 7})),
}


def disk_with(found: str) -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.make_dir(DATA)
    disk.sync_dir("/")
    FOUND[found](disk)
    return disk


def start(disk: SimulatedDisk, partitions: dict[str, int] = ASKED) -> Meta:
    return open_meta(disk, DATA, node_id=1, partitions=partitions)


def stopped(found: str) -> list[SimulatedDisk]:
    """A start that was stopped at every call that changes something, and, the last, one that was not."""
    disks = []
    for calls in count():
        disk = disk_with(found)
        disk.cut_power_after(calls)
        disks.append(disk)
        try:
            start(disk)
        except PowerCut:
            continue
        finally:
            disk.kill()
        assert calls > 4
        return disks
    raise AssertionError("some start is whole")


@pytest.mark.parametrize("found", FOUND)
def test_a_power_loss_at_any_call_leaves_the_file_of_before_or_of_after(found: str) -> None:
    """And the next start makes of either what the first one would have."""
    *_, whole = disks = stopped(found)
    before, after = disk_with(found).content(PATH), whole.content(PATH)
    seen = set()
    for disk in disks:
        for seed in range(IMAGES):
            image = disk.power_loss(Random(seed))

            seen.add(image.content(PATH))
            assert start(image) == read_meta(image, DATA) == Meta("x", 1, ASKED)
    assert seen == {before, after}


@pytest.mark.parametrize("found", FOUND)
def test_what_a_start_goes_on_with_outlives_a_power_loss(found: str) -> None:
    """The one before it was killed, perhaps before the file's name was durable."""
    for disk in stopped(found):
        meta = start(disk)
        for seed in range(IMAGES):
            assert read_meta(disk.power_loss(Random(seed)), DATA) == meta


def test_a_count_is_of_one_configuration_alone() -> None:
    """A start that finds the first one's file is refused when it asks for something else;
    one that finds the old file fixes its own.
    """
    outcomes = set()
    for disk in stopped("earlier-format"):
        for seed in range(IMAGES):
            image = disk.power_loss(Random(seed))
            is_earlier = image.content(PATH) == EARLIER
            told = does_not_raise() if is_earlier else pytest.raises(LogError, match=r"log\.num\.partitions=7, not 9")
            with told:
                start(image, COUNTS | {TRANSACTIONS.topic: 9})
            outcomes.add((is_earlier, read_meta(image, DATA).partition_count(TRANSACTIONS.topic)))

    assert outcomes == {(True, 9), (False, 7)}


# A real process and a real file system.

STORED = ROOT / "tests" / "data" / "log" / "format-1"
CALLS = ("pwrite64", "fdatasync", "fsync", "rename", "unlink")
SCRIPT = """
import sys
from coordinator_server.log.directory import lock_directory
from coordinator_server.log.storage import LocalStorage
from tests.support.log import COUNTS
lock_directory(LocalStorage(), sys.argv[1], node_id=0, partitions=COUNTS).lock.close()
"""


@pytest.mark.crash
def test_an_upgrade_killed_at_any_system_call(tmp_path: Path) -> None:
    """``log verify`` finds no damage in what is left, and the next start finishes it."""
    if shutil.which("strace") is None:
        pytest.skip("no strace on the PATH: it kills the start at chosen system calls")
    kills = dict.fromkeys(CALLS, 0)
    for call in CALLS:
        while is_killed(tmp_path / f"{call}-{kills[call]}", call, kills[call] + 1):
            kills[call] += 1

    assert kills["rename"] == 1
    assert min(kills["pwrite64"], kills["fdatasync"] + kills["fsync"]) >= 1


def is_killed(data_dir: Path, call: str, when: int) -> bool:
    shutil.copytree(STORED, data_dir)
    before = read_meta(LocalStorage(), str(data_dir))
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    command = [*program_killed_at(call, when), sys.executable, "-c", SCRIPT, str(data_dir)]
    code = subprocess.run(command, cwd=ROOT, env=environment, timeout=60, check=False).returncode
    assert code == 0 or code in KILLED, code
    left = read_meta(LocalStorage(), str(data_dir))
    assert left.partitions in (before.partitions, COUNTS)
    assert check(str(data_dir)).damage == []
    again = lock_directory(LocalStorage(), str(data_dir), node_id=0, partitions=COUNTS)
    again.lock.close()
    assert again.meta == read_meta(LocalStorage(), str(data_dir)) == Meta(before.cluster_id, before.node_id, COUNTS)
    return code != 0
