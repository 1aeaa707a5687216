"""A shard read piece by piece: whole batches, bounded, from segments and layers, whatever retention does meanwhile."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordinator_server.log.errors import DamagedLog, Unavailable
from coordinator_server.log.jobs import LayerSummary
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.local import LocalLogStore, LogOptions
from coordinator_server.log.read import range_reader as module
from coordinator_server.log.read.range_reader import FilePosition
from coordinator_server.log.shards import Append
from coordinator_server.log.storage import Storage
from coordinator_server.log.store import Batches, ReadRange
from coordinator_server.log.write.journal_writer import Sync
from coordinator_server.log.write.segments import Segments, ShardLog
from protocol.record_batch import iter_batches
from tests.support.log import ManualWorker, batch, shard

COUNT = 40
FIRST = shard(0)


def one(offset: int) -> bytes:
    """Batches of different sizes, of three records each."""
    return batch(3 * offset, b"x" * (50 + 37 * (offset % 11)), count=3)


class Shard:
    """A log of COUNT batches in several segments, the last of them active."""

    def __init__(self, data_dir: Path) -> None:
        self.directory = data_dir / str(FIRST)
        self.worker = ManualWorker()
        self.store = LocalLogStore.open(
            data_dir,
            post=lambda call: call(),
            options=LogOptions(segment_bytes=4_000, journal_bytes=1 << 20, sync=Sync.INLINE, worker=self.worker),
        )
        for offset in range(COUNT):
            self.store.submit([Append(FIRST, 0, 3 * offset, one(offset))], lambda error: None)
        self.store.logs()[0].write_and_roll()

    def layer(self, batches: int, kept: list[int]) -> None:
        """Publish a layer that stands for the first batches, and has some of them, two to a file."""
        with LayerAttempt(self.directory, 3 * batches, file_bytes=700) as attempt:
            for offset in kept:
                attempt.append(3 * offset, one(offset))
            done = attempt.finish(LayerSummary(len(kept), 0, None, "0" * 32), [])
        assert publish(done, self.directory, 3 * batches)

    def piece(self, from_offset: int, max_bytes: int, upto: int | None = None, *, must_have_one: bool = True) -> Batches:
        end = self.store.end_offset(FIRST) if upto is None else upto
        return self.store.read_range(FIRST, ReadRange(from_offset, max_bytes, end, must_have_one))

    def pieces(self, from_offset: int, max_bytes: int) -> Iterator[Batches]:
        while True:
            found = self.piece(from_offset, max_bytes)
            if not found.data:
                return
            yield found
            from_offset = found.next_offset


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Shard]:
    shard = Shard(tmp_path)
    assert len(shard.store.logs()[0].bases()) > 3
    yield shard
    shard.store.close()


@pytest.mark.parametrize("max_bytes", [1, 700, 2_000, 1 << 20])
@pytest.mark.parametrize("start", [0, 1, 30, 61, 119])
def test_piece_by_piece_everything_is_read_once(log: Shard, max_bytes: int, start: int) -> None:
    """From the batch that holds the offset on; no piece is larger than asked for, unless it is one batch."""
    found = list(log.pieces(start, max_bytes))

    assert b"".join(each.data for each in found) == b"".join(one(offset) for offset in range(start // 3, COUNT))
    for each in found:
        [*batches] = iter_batches(each.data)
        assert len(batches) == 1 or len(each.data) <= max_bytes
        assert batches[-1][1].next_offset == each.next_offset


def test_a_large_first_batch_comes_only_where_it_must(log: Shard) -> None:
    """The first partition of a Fetch goes on whatever its size; the others wait for their turn."""
    assert log.piece(0, 10, must_have_one=False) == Batches(b"", 0)
    assert log.piece(0, 10).data == one(0)


def test_nothing_behind_the_limit_is_read(log: Shard) -> None:
    """A batch that reaches over it stays, though it begins before; not even one that must be."""
    assert log.piece(0, 1 << 20, upto=7).data == one(0) + one(1)
    assert log.piece(6, 1 << 20, upto=7) == Batches(b"", 6)


def test_what_is_durable_can_be_read_at_once(log: Shard) -> None:
    """Though it waits for its segment, and though the reader has been told that this was all."""
    end = log.store.end_offset(FIRST)
    before = log.piece(end, 1 << 20)
    log.store.submit([Append(FIRST, 0, end, one(COUNT))], lambda error: None)

    assert (before, log.piece(end, 1 << 20).data) == (Batches(b"", end), one(COUNT))


@pytest.mark.parametrize("start", [0, 4, 33, 50, 60, 61, 119])
@pytest.mark.parametrize("max_bytes", [1, 2_000])
def test_a_layer_stands_for_what_is_before_its_end(log: Shard, start: int, max_bytes: int) -> None:
    """Its batches, with the holes that compaction left, then the segments behind it."""
    log.layer(20, kept=[1, 2, 3, 7, 9, 10, 15, 16])

    found = b"".join(found.data for found in log.pieces(start, max_bytes))

    kept = [offset for offset in (1, 2, 3, 7, 9, 10, 15, 16, *range(20, COUNT)) if 3 * offset + 2 >= start]
    assert found == b"".join(one(offset) for offset in kept)


def test_a_reader_goes_on_though_its_files_are_gone(log: Shard) -> None:
    """Between two pieces nothing is held: retention may remove what a layer stands for."""
    first = log.piece(0, 2_000)
    log.layer(20, kept=list(range(20)))
    for base in log.store.logs()[0].bases()[:2]:
        log.store.logs()[0].hide(base)
        (log.directory / f"{base:020d}.log").unlink()
    second = log.piece(first.next_offset, 2_000)
    shutil.rmtree(log.directory / f"layer-{60:020d}")
    log.layer(21, kept=list(range(21)))

    rest = b"".join(found.data for found in log.pieces(second.next_offset, 2_000))

    assert first.data + second.data + rest == b"".join(one(offset) for offset in range(COUNT))


def test_a_range_reader_names_the_position_of_damage(log: Shard) -> None:
    """What is no batch is not given to anybody."""
    path = log.directory / f"{0:020d}.log"
    path.write_bytes(one(0) + bytes(path.stat().st_size - len(one(0))))

    with pytest.raises(DamagedLog) as damage:
        list(log.pieces(0, 100))

    assert str(len(one(0))) in str(damage.value)


def test_an_error_of_the_disk_is_no_end_of_the_log(log: Shard, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told; the next read may go well."""

    def broken(path: str, /, *, create: bool = False) -> object:
        raise OSError(errno.EIO, "no")

    with monkeypatch.context() as patch:
        patch.setattr(log.store._storage, "open", broken)
        with pytest.raises(Unavailable, match="cannot read"):
            log.piece(0, 100)

    assert log.piece(0, 100).data == one(0)


@pytest.mark.parametrize("kept", [1, 60, 100])
@pytest.mark.parametrize("max_bytes", [1, 5_000])
def test_a_file_that_ends_inside_a_batch_is_damaged(log: Shard, kept: int, max_bytes: int) -> None:
    """In its header or behind it."""
    path = log.directory / f"{0:020d}.log"
    assert log.piece(0, len(one(0))).data == one(0)
    path.write_bytes(one(0) + one(1)[:kept])

    with pytest.raises(DamagedLog, match="the file ends inside a batch") as damage:
        log.piece(3, max_bytes)
    assert (damage.value.path, damage.value.position) == (str(path), len(one(0)))


def test_files_that_are_always_gone_end_a_read(log: Shard, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader tries a few times, because retention may be faster; it does not try for ever."""
    tries = []

    def gone(path: str, /, *, create: bool = False) -> object:
        tries.append(path)
        raise FileNotFoundError(path)

    monkeypatch.setattr(log.store._storage, "open", gone)
    with pytest.raises(Unavailable, match="go faster than they can be read"):
        log.piece(0, 100)

    assert len(tries) == 5


def test_segments_before_the_range_are_not_read(log: Shard) -> None:
    """Damage there is for those who need it."""
    first, second, third, *_ = log.store.logs()[0].bases()
    for base in (first, second):
        (log.directory / f"{base:020d}.log").write_bytes(b"?")

    assert log.piece(third, 1).data == one(third // 3)


def test_what_is_before_every_segment_is_passed_over(log: Shard) -> None:
    """Nothing has those offsets any more: a range begins with the first that there is."""
    first, second, *_ = log.store.logs()[0].bases()
    log.store.logs()[0].hide(first)

    assert log.piece(0, 1).data == one(second // 3)


def test_the_number_of_cached_read_positions_is_limited(log: Shard, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that comes back is not searched for; the one that has not come for the longest time is."""
    monkeypatch.setattr(module, "CACHED_POSITIONS", 2)
    searched: list[int] = []
    positions = module._positions

    def search(storage: Storage, shard_log: ShardLog, segments: Segments, from_offset: int) -> Iterator[FilePosition]:
        searched.append(from_offset)
        yield from positions(storage, shard_log, segments, from_offset)

    monkeypatch.setattr(module, "_positions", search)
    for offset in (0, 30, 66, 33, 69, 3):
        log.piece(offset, 1)

    assert searched == [0, 30, 66, 3]
