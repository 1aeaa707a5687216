"""Heads of journal files: how far they say that shards are durable, and files whose head is damaged."""

from __future__ import annotations

import pytest

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.repair.journal_reader import newest_ends, read_heads, read_journal
from coordinator_server.log.shards import ShardEnd
from coordinator_server.log.write.frames import SECTOR, Head, aligned, encode_frame, encode_head
from tests.support.log import shard
from tests.support.storage import SimulatedDisk

JOURNAL = "/journal"
FIRST, SECOND = (f"{JOURNAL}/{number:020d}.journal" for number in (1, 2))


def head_of(generation: int, *ends: ShardEnd) -> Head:
    return Head(generation, generation, 0, 7, ends)


def file_of(generation: int, frames: int = 0) -> bytes:
    """A journal file: a head and empty frames, a sector each."""
    head, seed = encode_head(head_of(generation))
    parts = [head, *(encode_frame(generation, number, seed, ()) for number in range(frames))]
    return b"".join(part.ljust(SECTOR, b"\0") for part in parts)


def test_the_furthest_end_of_a_shard_counts() -> None:
    """By its offset, whichever head states it; of equal ones the later segment, which a roll has begun."""
    early, late = ShardEnd(shard(0), 0, 900, 7), ShardEnd(shard(0), 0, 950, 9)
    rolled, other = ShardEnd(shard(0), 9, 0, 9), ShardEnd(shard(1), 0, 10, 1)

    for ends in ((early, late, other), (late, other, early)):
        assert newest_ends([head_of(each, end) for each, end in enumerate(ends)]) == {shard(0): late, shard(1): other}
    assert newest_ends([head_of(1, rolled, other), head_of(2, late)]) == {shard(0): rolled, shard(1): other}
    assert newest_ends([]) == {}


def test_a_file_without_a_head_is_refused_if_its_frames_are_the_newest() -> None:
    """What is in them was durable. One that was torn while it was made ready has older frames only."""
    disk = SimulatedDisk()
    disk.put(FIRST, file_of(5, 2))
    disk.put(SECOND, bytes(SECTOR) + file_of(4, 2)[SECTOR:])
    found = read_journal(disk, JOURNAL)
    assert (found.sequence, found.others) == (2, [SECOND])

    disk.put(SECOND, bytes(SECTOR) + file_of(6, 2)[SECTOR:])
    with pytest.raises(DamagedLog, match="the head of this journal file is damaged") as caught:
        read_journal(disk, JOURNAL)
    assert (caught.value.path, caught.value.position) == (SECOND, 0)


def test_a_journal_without_any_head() -> None:
    """It is empty if no frame is in it, and damaged if there is one."""
    disk = SimulatedDisk()
    disk.put(FIRST, bytes(4 * SECTOR))
    disk.put(SECOND, b"")
    assert (read_journal(disk, JOURNAL).generation, read_journal(disk, JOURNAL).others) == (2, [FIRST, SECOND])

    disk.put(FIRST, bytes(SECTOR) + file_of(0, 1)[SECTOR:])
    with pytest.raises(DamagedLog, match="the head"):
        read_journal(disk, JOURNAL)


def test_a_file_that_is_shorter_than_its_head_says() -> None:
    """A copy that was cut has lost frames, maybe."""
    disk = SimulatedDisk()
    head, _ = encode_head(Head(1, 1, 0, 7, (), capacity=4 * SECTOR))
    disk.put(FIRST, head.ljust(4 * SECTOR, b"\0"))
    assert read_journal(disk, JOURNAL).generation == 1
    disk.put(FIRST, head.ljust(4 * SECTOR - 1, b"\0"))

    with pytest.raises(DamagedLog, match="2048 bytes long, its head says") as caught:
        read_journal(disk, JOURNAL)
    assert (caught.value.path, caught.value.position) == (FIRST, 4 * SECTOR - 1)


def test_the_file_that_the_newest_head_rests_on_is_needed() -> None:
    """Its frames are the first to be replayed."""
    disk = SimulatedDisk()
    head, _ = encode_head(Head(5, 4, 0, 7, ()))
    disk.put(SECOND, head.ljust(SECTOR, b"\0"))
    with pytest.raises(DamagedLog, match="generation 4, on which this one rests, is missing"):
        read_journal(disk, JOURNAL)


def test_a_frame_that_is_missing_between_two_files() -> None:
    """What was written and synced before the next file was begun is there, or durable frames are lost."""
    disk = SimulatedDisk()
    for is_synced in (False, True):
        disk.put(FIRST, b"".join(_file(Head(4, 4, 0, 7, (), is_synced), range(2))))
        disk.put(SECOND, b"".join(_file(Head(5, 4, 0, 8, (), is_synced), range(3, 4))))
        if not is_synced:
            assert read_journal(disk, JOURNAL).entries == []
            continue
        with pytest.raises(DamagedLog, match="frame 2 is missing: the next one found is 3") as caught:
            read_journal(disk, JOURNAL)
        assert (caught.value.path, caught.value.position) == (FIRST, 3 * SECTOR)


def _file(head: Head, sequences: range) -> list[bytes]:
    raw, seed = encode_head(head)
    frames = [encode_frame(head.generation, each, seed, ()) for each in sequences]
    return [part.ljust(SECTOR, b"\0") for part in (raw, *frames)]


def test_a_head_of_many_shards_is_read_whole() -> None:
    """It is longer than what is read of a file at first."""
    disk = SimulatedDisk()
    ends = tuple(ShardEnd(shard(each), 0, each, each) for each in range(2000))
    head, _ = encode_head(head_of(1, *ends))
    assert len(head) > 1 << 16
    disk.put(FIRST, head.ljust(aligned(len(head)), b"\0"))

    assert [found.ends for found in read_heads(disk, JOURNAL)] == [ends]
