"""Whole batches, and what is none; and when a shard asks for its worker."""

from __future__ import annotations

import pytest

from coordinator_server.log.write.segments import RESERVE_BYTES, Limits, Segments, ShardLog, end_of_batches
from protocol.batch_builder import empty_batch
from protocol.record_batch import HEADER_SIZE
from tests.support.log import DATA, batch, calls_of, shard
from tests.support.storage import SimulatedDisk


def test_the_end_of_whole_batches() -> None:
    """The last may be an empty one, which is a header and nothing else."""
    assert len(empty_batch(7, 3)) == HEADER_SIZE

    assert end_of_batches(b"", 5) == 5
    assert end_of_batches(batch(5, count=2), 5) == 7
    assert end_of_batches(batch(5, count=2) + empty_batch(7, 3), 5) == 10


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (batch(5) + empty_batch(6, 3)[:-1], "60 bytes are no batch"),
        (batch(5)[:-1], "not a whole batch at offset 5"),
        (batch(6), "not a whole batch at offset 5, but one of .* at offset 6"),
        (batch(5) + batch(7), "not a whole batch at offset 6"),
        (bytes(HEADER_SIZE), "not a whole batch at offset 5"),
    ],
)
def test_bytes_that_are_not_whole_batches_are_refused(data: bytes, why: str) -> None:
    """Part of a header, part of a batch, a wrong offset."""
    with pytest.raises(ValueError, match=why):
        end_of_batches(data, 5)


class Writer:
    """A shard that takes batches of a size, a claim before each."""

    def __init__(self) -> None:
        self.disk = SimulatedDisk()
        self.log = ShardLog(self.disk, f"{DATA}/{shard(0)}", shard(0), Segments([], 0, 0), Limits(1 << 30))
        self.path = f"{DATA}/{shard(0)}/{0:020d}.log"

    def accept(self, size: int) -> bool:
        data = batch(self.log.end, b"x" * (size - len(batch(self.log.end, b"x" * 10_000)) + 10_000))
        assert len(data) == size
        self.log.claim(size)
        return self.log.accept(data, self.log.end + 1)

    def tended(self) -> tuple[int, int]:
        """Let the worker tend to it: how often it wrote, and how often it reserved room."""
        self.disk.calls.clear()
        self.log.tend()
        return calls_of(self.disk, "pwrite", ".log"), calls_of(self.disk, "reserve", ".log")


def test_room_is_reserved_before_there_is_none() -> None:
    """The worker is asked once, when half of the room is left, and writes nothing yet."""
    writer = Writer()
    writer.disk.has_fallocate = False
    assert not writer.accept(120_000)
    assert writer.accept(20_000)
    assert not writer.accept(20_000)

    assert writer.tended() == (0, 1)
    assert len(writer.disk.content(writer.path)) == 2 * RESERVE_BYTES
    assert not writer.accept(20_000)


def test_many_waiting_bytes_are_written_to_the_segment() -> None:
    """Although there is room for more."""
    writer = Writer()
    for size in (120_000, 20_000):
        writer.accept(size)
    writer.tended()
    assert not writer.accept(120_000)
    assert writer.accept(20_000)

    assert writer.tended() == (1, 0)
    assert not writer.log.is_waiting
    assert not writer.accept(20_000)


def test_room_is_given_back_at_the_end() -> None:
    """Also where it is zeros: the segment ends where its last batch does."""
    writer = Writer()
    writer.disk.has_fallocate = False
    writer.accept(20_000)
    writer.log.close()

    assert len(writer.disk.content(writer.path)) == 20_000
    assert not writer.disk.open_files
