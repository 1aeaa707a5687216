"""One directory for several loops: locked and recovered once, then a part each."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import NoReturn

import pytest

from coordinator_server.log import directory
from coordinator_server.log.directory import await_jobs, lock_directory, recover_all_loops
from coordinator_server.log.errors import LockedLog, LogError, Unavailable, WrongDirectory
from coordinator_server.log.jobs import Holder
from coordinator_server.log.storage import LocalStorage
from tests.support.log import COUNTS, DATA, OpenLog, append, part_of, shard, values
from tests.support.storage import SimulatedDisk


def shares(disk: SimulatedDisk, count: int) -> list[OpenLog]:
    """A start with that many loops."""
    lock_directory(disk, DATA, node_id=0, partitions=COUNTS)
    recover_all_loops(disk, DATA, count, lambda each: each.partition % count)
    return [OpenLog(disk, part_of(loop, count)) for loop in range(count)]


def append_to_all(logs: list[OpenLog], offset: int) -> None:
    for partition in range(6):
        assert logs[partition % len(logs)].append(append(partition, offset, b"%05d" % offset)) is None


def test_shards_move_between_loops_with_all_they_hold() -> None:
    """1 → 3 → 2 → 1 loops, killed each time: every shard has all that was acknowledged, in order."""
    disk = SimulatedDisk()
    for offset, count in enumerate((1, 3, 2, 1)):
        append_to_all(shares(disk, count), offset)
        disk.kill()

    whole = OpenLog(disk).store

    expected = [b"%05d" % offset for offset in range(4)]
    assert {partition: values(whole.read(shard(partition), 0)) for partition in range(6)} == dict.fromkeys(range(6), expected)


def test_one_loop_is_recovered_beside_the_others() -> None:
    """What the others have not written out yet is theirs: nobody touches it, and nobody misses it."""
    disk = SimulatedDisk()
    logs = shares(disk, 2)
    append_to_all(logs, 0)

    logs[1] = OpenLog(disk, part_of(1, 2))
    append_to_all(logs, 1)

    for partition in range(6):
        assert values(logs[partition % 2].store.read(shard(partition), 0)) == [b"00000", b"00001"]
    assert logs[1].store.shards() == [shard(1), shard(3), shard(5)]


def test_a_share_takes_its_own_shards_only() -> None:
    """A batch in the journal of another loop would be lost to the shard's owner: that is our own bug, and refused."""
    log = shares(SimulatedDisk(), 2)[1]

    with pytest.raises(ValueError, match="belongs to another loop"):
        log.submit(append(0, 0))


def test_a_second_recovery_writes_nothing() -> None:
    """A start after a clean stop with the same number of loops finds all as it must be."""
    disk = SimulatedDisk()
    logs = shares(disk, 2)
    append_to_all(logs, 0)
    for log in logs:
        log.store.close()
    disk.kill()
    disk.calls.clear()

    recover_all_loops(disk, DATA, 2, lambda each: each.partition % 2)

    assert not [call for call in disk.calls if call[0] == "pwrite"]


def test_a_refused_directory_is_not_kept_locked(tmp_path: Path) -> None:
    """Who asks again with the right configuration gets it."""
    lock_directory(LocalStorage(), str(tmp_path), node_id=1, partitions=COUNTS).lock.close()

    with pytest.raises(LogError, match=r"made with node\.id=1"):
        lock_directory(LocalStorage(), str(tmp_path), node_id=2, partitions=COUNTS)
    lock_directory(LocalStorage(), str(tmp_path), node_id=1, partitions=COUNTS).lock.close()


def test_a_directory_in_use_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The holder lives: nobody waits for it, and its pid is named."""
    monkeypatch.setattr("time.sleep", pytest.fail)
    taken = lock_directory(LocalStorage(), str(tmp_path), node_id=1, partitions=COUNTS)

    with pytest.raises(LockedLog, match=f"process {os.getpid()}: stop it first, or name a different directory$"):
        lock_directory(LocalStorage(), str(tmp_path), node_id=1, partitions=COUNTS)
    taken.lock.close()


ORPHAN = """
import os, sys, time
from coordinator_server.log.storage import LocalStorage
lock = LocalStorage().lock(sys.argv[1])
if os.fork() == 0:
    os.close(1)
    time.sleep(float(sys.argv[2]))
"""


def orphaned(path: Path, seconds: float) -> None:
    """A lock whose process is gone, and whose child holds it on for a while."""
    subprocess.run([sys.executable, "-c", ORPHAN, str(path / ".lock"), str(seconds)], check=True, stdout=subprocess.PIPE)


def test_the_loops_of_a_dead_supervisor_are_waited_for(tmp_path: Path) -> None:
    """They hold the lock for the moment that it takes them to die."""
    orphaned(tmp_path, 0.2)

    lock_directory(LocalStorage(), str(tmp_path), node_id=1, partitions=COUNTS).lock.close()


def test_the_wait_for_orphans_of_a_directory_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever still has the directory then may write to it."""
    monkeypatch.setattr(directory, "ORPHANS_S", 0.1)
    orphaned(tmp_path, 1.0)

    with pytest.raises(LockedLog, match="which is gone, and by what it had started"):
        lock_directory(LocalStorage(), str(tmp_path), node_id=1, partitions=COUNTS)


BROKERS_META = b"version=1\nbroker.id=1\ncluster.id=x\ndirectory.id=y\n"


@pytest.mark.parametrize(
    ("files", "why"),
    [
        (["notes.txt"], "has other files (notes.txt)"),
        (["a", "b", "c", "d"], "has other files (a, b, c)"),
        (["__consumer_offsets-3/00000000000000000000.log"], "has __consumer_offsets-3 and no meta.properties"),
        (["orders-0/00000000000000000000.log"], "import --from /data"),
        (["__consumer_offsets-3/00000000000000000000.log", "recovery-point-offset-checkpoint"], "import --from /data"),
    ],
)
def test_a_directory_of_somebody_else_is_not_adopted(files: list[str], why: str) -> None:
    """Nothing is written there."""
    disk = SimulatedDisk()
    for name in files:
        disk.make_dir(f"{DATA}/{name}".rpartition("/")[0])
        disk.put(f"{DATA}/{name}", b"")
    before = disk.files(DATA)

    with pytest.raises(WrongDirectory, match=re.escape(why)):
        lock_directory(disk, DATA, node_id=0, partitions=COUNTS)
    assert disk.files(DATA) == before


@pytest.mark.parametrize(
    "meta", [BROKERS_META, b"version=1\nnode.id=1\ncluster.id=x\n", b"version=0\nbroker.id=1\ncluster.id=x\n"]
)
def test_a_brokers_directory_is_told_by_its_identity(meta: bytes) -> None:
    """Of any version of Kafka."""
    disk = SimulatedDisk()
    disk.make_dir(DATA)
    disk.put(f"{DATA}/meta.properties", meta)

    with pytest.raises(WrongDirectory, match="is a Kafka broker's directory"):
        lock_directory(disk, DATA, node_id=0, partitions=COUNTS)


@pytest.mark.parametrize("name", ["lost+found/x", ".snapshot/x", ".lock", "meta.properties.new"])
def test_what_a_file_system_or_a_killed_start_leaves_is_no_obstacle(name: str) -> None:
    disk = SimulatedDisk()
    disk.make_dir(f"{DATA}/{name}".rpartition("/")[0])
    disk.put(f"{DATA}/{name}", b"")

    lock_directory(disk, DATA, node_id=0, partitions=COUNTS).lock.close()


def test_a_server_waits_for_a_job(tmp_path: Path) -> None:
    """A job that seals has the lock for a moment."""
    taken = lock_directory(LocalStorage(), str(tmp_path), node_id=1, partitions=COUNTS, job="seal").lock
    threading.Timer(0.1, taken.close).start()

    lock_directory(LocalStorage(), str(tmp_path), node_id=1, partitions=COUNTS).lock.close()


def test_a_job_does_not_wait_for_a_locked_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller decides that."""
    monkeypatch.setattr("time.sleep", pytest.fail)
    taken = lock_directory(LocalStorage(), str(tmp_path), node_id=1, partitions=COUNTS, job="seal").lock

    with pytest.raises(LockedLog, match=rf"process {os.getpid()}, a job \(seal\): stop it first"):
        lock_directory(LocalStorage(), str(tmp_path), node_id=1, partitions=COUNTS, job="replay")
    taken.close()


def test_jobs_are_awaited_and_servers_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait has an end, and says once for whom it waits."""
    monkeypatch.setattr(directory, "JOBS_S", 0.1)
    told: list[Holder] = []
    for job in ("seal", ""):
        with contextlib.closing(lock_directory(LocalStorage(), str(tmp_path), node_id=1, partitions=COUNTS, job=job).lock):
            await_jobs(str(tmp_path), told.append)

    assert told == [Holder(os.getpid(), "seal")]


@pytest.mark.parametrize("operation", ["open", "rename"])
def test_a_directory_that_cannot_be_read_is_let_go(operation: str) -> None:
    """The operating system refuses: the next try may go well."""
    disk = SimulatedDisk()
    disk.fail(operation, errno.EIO, "meta.properties")
    with pytest.raises(Unavailable, match=f"cannot open the log in {DATA}"):
        lock_directory(disk, DATA, node_id=0, partitions=COUNTS)
    disk.mend()

    lock_directory(disk, DATA, node_id=0, partitions=COUNTS).lock.close()


def test_a_journal_that_cannot_be_made_is_told() -> None:
    """By the recovery of all loops, and by the start of one."""
    disk = SimulatedDisk()
    lock_directory(disk, DATA, node_id=0, partitions=COUNTS)
    disk.fail("open", errno.EMFILE, "journal")
    with pytest.raises(Unavailable, match=f"cannot recover the log in {DATA}"):
        recover_all_loops(disk, DATA, 2, lambda each: each.partition % 2)
    disk.mend()
    recover_all_loops(disk, DATA, 2, lambda each: each.partition % 2)
    disk.fail("open", errno.EMFILE, "journal")
    with pytest.raises(Unavailable, match=f"cannot open the log in {DATA}"):
        OpenLog(disk, part_of(0, 2))
    disk.mend()

    assert OpenLog(disk, part_of(0, 2)).append(append(0, 0)) is None


def test_a_process_of_another_user_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may not be signalled, and has the directory."""

    def refuse(_pid: int, _signal: int) -> None:
        raise PermissionError

    class Held(SimulatedDisk):
        def lock(self, path: str, job: str = "", /) -> NoReturn:
            raise LockedLog("in use by process 77", 77)

    monkeypatch.setattr(os, "kill", refuse)
    with pytest.raises(LockedLog, match=r"^in use by process 77: stop it first, or name a different directory$"):
        lock_directory(Held(), DATA, node_id=0, partitions=COUNTS)
