"""Power losses with names: each the shortest way to a state that a log may be found in, and each loses nothing and starts."""

from __future__ import annotations

from random import Random

import pytest

from tests.support.log import DATA, OpenLog, append, shard, values
from tests.support.storage import SECTOR, PowerCut, SimulatedDisk

IMAGES = 40


def expected(count: int) -> list[bytes]:
    return [b"%05d" % offset * 100 for offset in range(count)]


def fill(log: OpenLog, count: int, *, first: int = 0, partition: int = 0) -> None:
    for offset in range(first, count):
        assert log.append(append(partition, offset, b"%05d" % offset * 100)) is None


def found(log: OpenLog, partition: int = 0) -> list[bytes | None]:
    return values(log.store.read(shard(partition), 0))


@pytest.mark.parametrize("hole", range(1, 8))
def test_a_hole_in_a_segment_before_valid_batches(hole: int) -> None:
    """Sectors of an unsynced bulk write reach the disk in any order; the journal has them all."""
    disk = SimulatedDisk()
    log = OpenLog(disk, journal_bytes=1 << 16)
    log.run()
    fill(log, 10)
    log.write_out()
    path = f"{DATA}/{shard(0)}/{0:020d}.log"
    content = bytearray(disk.content(path))
    content[hole * SECTOR : (hole + 1) * SECTOR] = bytes(SECTOR)
    disk.kill()
    disk.put(path, bytes(content))
    again = OpenLog(disk)

    assert found(again) == expected(10)
    assert disk.content(path).count(bytes(SECTOR)) == 0


def test_a_journal_hole_with_old_bytes_is_recovered() -> None:
    """Not only zeros: whatever a sector was before."""
    for seed in range(IMAGES):
        rng = Random(seed)
        disk = SimulatedDisk()
        log = OpenLog(disk, journal_bytes=1 << 16)
        log.run()
        fill(log, 12)
        log.write_out()
        disk.kill()
        path = f"{DATA}/{shard(0)}/{0:020d}.log"
        content = bytearray(disk.content(path))
        for at in rng.sample(range(0, len(content), SECTOR), rng.randint(1, 4)):
            content[at : at + SECTOR] = rng.randbytes(len(content[at : at + SECTOR]))
        disk.put(path, bytes(content[: rng.randint(0, len(content))] if rng.random() < 0.3 else content))
        try:
            again = OpenLog(disk)
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise

        assert found(again) == expected(12), seed


def test_a_stale_frame_of_the_same_size() -> None:
    """Frame after frame goes where one of the same size was, and the power goes with each: the old one never counts."""
    disk = SimulatedDisk()
    count = 0
    for seed in range(IMAGES):
        log = OpenLog(disk, journal_bytes=4096)
        assert found(log) == expected(count)
        fill(log, count + 3, first=count)
        count += 3
        disk = disk.power_loss(Random(seed))


@pytest.mark.parametrize("is_killed", [False, True], ids=["power loss", "kill"])
def test_between_the_reuse_of_a_journal_file_and_the_sync_of_a_segment(is_killed: bool) -> None:
    """At every call of the turn of the journal: what its next file would be written over is synced, or the file is as it was."""
    calls = 0
    while True:
        disk = SimulatedDisk()
        log = OpenLog(disk, journal_bytes=4096, segment_bytes=3000)
        log.run()
        fill(log, 20)
        count = 20
        outcome: list[object] = []
        disk.cut_power_after(calls)
        try:
            while count < 30:
                outcome.clear()
                log.store.submit([append(0, count, b"%05d" % count * 100)], outcome.append)
                log.run()
                count += outcome == [None]
        except PowerCut:
            count += outcome == [None]
        else:
            break
        calls += 1
        for seed in range(4):
            after = disk if is_killed else disk.power_loss(Random(seed))
            after.kill()
            kept = found(OpenLog(after))

            assert kept[:count] == expected(count), (calls, seed)
            assert len(kept) <= count + 1
    assert calls > 40


def test_a_shard_that_moves_from_loop_to_loop() -> None:
    """Each start another loop writes it; the power goes each time; what an older journal says of it never wins."""
    for seed in range(IMAGES):
        rng = Random(seed)
        disk = SimulatedDisk(rng)
        count = 0
        for _ in range(8):
            log = OpenLog(disk, loop_index=rng.randrange(3), journal_bytes=4096, segment_bytes=rng.choice((1500, 1 << 20)))
            assert found(log) == expected(count), seed
            grown = count + rng.randint(0, 6)
            fill(log, grown, first=count)
            count = grown
            if rng.random() < 0.3:
                log.write_out()
            disk = disk.power_loss(rng)
