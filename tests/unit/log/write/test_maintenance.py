"""Segments written in bulk, rolled and sealed beside the loop."""

from __future__ import annotations

import errno
from collections.abc import Callable
from queue import SimpleQueue

import pytest

from coordinator_server.log.errors import OutcomeUnknown, Unavailable
from coordinator_server.log.local import LocalLogStore, LogOptions
from coordinator_server.log.shards import Append
from coordinator_server.log.write.journal_writer import Sync
from coordinator_server.log.write.segments import ShardLog
from tests.support.log import DATA, OpenLog, append, batch, segments, shard, values
from tests.support.storage import SimulatedDisk


def test_segments_are_written_in_bulk(log: OpenLog, disk: SimulatedDisk) -> None:
    """The journal has the batches: their segment gets them together, a while later."""
    for offset in range(10):
        log.append(append(0, offset))
    assert segments(disk, 0) == {"00000000000000000000.log": 0}

    log.write_out()

    assert segments(disk, 0) == {"00000000000000000000.log": 10 * len(batch(0))}


def test_many_waiting_bytes_are_written_early(disk: SimulatedDisk) -> None:
    """Memory for what waits is bounded."""
    log = OpenLog(disk, journal_bytes=1 << 20)
    for offset in range(10):
        log.append(append(0, offset, b"x" * 40_000))

    assert segments(disk, 0)["00000000000000000000.log"] > 200_000


def test_a_segment_that_cannot_be_written_now_is_written_later(log: OpenLog, disk: SimulatedDisk) -> None:
    """What is durable in the journal waits for its segment as long as it takes."""
    log.append(append(0, 0, b"kept"))
    disk.fail("pwrite", errno.EIO, "__consumer_offsets-0")
    log.write_out()
    with pytest.raises(Unavailable):
        log.store.read(shard(0), 0)
    disk.mend()

    assert values(log.store.read(shard(0), 0)) == [b"kept"]


def test_simultaneous_writes_are_one_job_of_the_worker(log: OpenLog, disk: SimulatedDisk) -> None:
    """The worker gets one job for all that waits until then, and one more for what comes later."""
    for offset in range(3):
        log.append(append(0, offset))
    assert len(log.worker.later) == 1
    log.write_out()
    log.append(append(0, 3))
    assert len(log.worker.later) == 1


def test_a_write_that_failed_is_tried_again_without_a_reader(log: OpenLog, disk: SimulatedDisk) -> None:
    """For one shard; the others are written the first time."""
    log.append(append(0, 0), append(1, 0))
    disk.fail("pwrite", errno.EIO, "__consumer_offsets-0")
    log.write_out()
    assert [list(segments(disk, each).values()) for each in (0, 1)] == [[0], [len(batch(0))]]
    disk.mend()
    log.write_out()

    assert list(segments(disk, 0).values()) == [len(batch(0))]
    assert log.worker.later == []


def test_seal_starts_new_segments(log: OpenLog, disk: SimulatedDisk) -> None:
    """A sealed segment is whole, and its successor is named for where it ends; sealing again adds nothing."""
    log.append(append(0, 0, count=3), append(1, 0))

    assert log.seal() == {shard(0): 3, shard(1): 1}
    assert log.seal() == {shard(0): 3, shard(1): 1}
    assert segments(disk, 0) == {"00000000000000000000.log": len(batch(0, count=3)), "00000000000000000003.log": 0}


def test_readers_get_what_is_durable_without_a_seal(log: OpenLog, disk: SimulatedDisk) -> None:
    """What waits is written, and neither synced nor sealed: no segment begins, and the disk has nothing to wait for."""
    log.append(append(0, 0, count=3), append(1, 0))
    disk.calls.clear()

    outcome: list[object] = []
    log.store.write_out(outcome.append)
    log.run()

    assert outcome == [{shard(0): 3, shard(1): 1}]
    assert segments(disk, 0) == {"00000000000000000000.log": len(batch(0, count=3))}
    assert {name for name, _ in disk.calls} <= {"pwrite"}


def test_readers_are_refused_after_a_failed_sync(log: OpenLog, disk: SimulatedDisk) -> None:
    log.append(append(0, 0))
    disk.fail("sync", errno.EIO, "journal")
    log.append(append(0, 1))
    outcome: list[object] = []
    log.store.write_out(outcome.append)
    log.run()

    assert [type(each) for each in outcome] == [OutcomeUnknown]


def test_seal_while_a_submit_is_in_flight(disk: SimulatedDisk) -> None:
    """Sealing takes what is durable; what becomes durable meanwhile goes to the next segment."""
    log = OpenLog(disk)
    log.append(append(0, 0))
    outcome: list[object] = []
    log.store.seal(outcome.append)
    log.submit(append(0, 1))
    log.run()
    log.write_out()

    assert outcome == [{shard(0): 2}]
    assert values(log.store.read(shard(0), 0)) == [b"value", b"value"]


@pytest.mark.parametrize("operation", ["open", "reserve", "truncate"])
def test_a_seal_that_fails_changes_nothing(log: OpenLog, disk: SimulatedDisk, operation: str) -> None:
    """The old segment goes on, and nothing looks like a segment in the middle of it; not even when the clean-up fails too."""
    log.append(append(0, 0))
    disk.fail(operation, errno.ENOSPC, "__consumer_offsets-0")
    disk.fail("remove", errno.ENOSPC)

    assert isinstance(log.seal(), Unavailable)
    disk.mend()
    assert log.append(append(0, 1)) is None
    assert log.seal() == {shard(0): 2}
    assert list(segments(disk, 0)) == ["00000000000000000000.log", "00000000000000000002.log"]
    assert len(values(log.store.read(shard(0), 0))) == 2


def test_a_segment_is_durable_before_its_successor_has_a_name(log: OpenLog, disk: SimulatedDisk) -> None:
    """A segment that starts at an offset says that everything before it is there."""
    log.append(append(0, 0))
    disk.calls.clear()
    log.seal()
    calls = [call for call in disk.calls if call[0] in {"sync", "open"}]

    first, second = (f"{DATA}/{shard(0)}/{base:020d}.log" for base in (0, 1))
    assert calls.index(("sync", first)) < calls.index(("open", second))


def test_segments_roll_by_size(disk: SimulatedDisk) -> None:
    """No segment grows over its limit, unless a single append does."""
    log = OpenLog(disk, segment_bytes=1000)
    for offset in range(10):
        log.append(append(0, offset, b"x" * 300))
    log.write_out()

    sizes = list(segments(disk, 0).values())
    assert len(sizes) == 5
    assert all(size <= 1000 for size in sizes)
    assert len(values(log.store.read(shard(0), 0))) == 10


def test_segments_roll_by_age(disk: SimulatedDisk) -> None:
    """A segment begins with the first batch that is more than log.roll.ms newer than what its predecessor begins with."""
    log = OpenLog(disk, roll_ms=1000)
    for offset, ms in enumerate((0, 600, 1000, 1001, 500, 2001, 2002)):
        log.append(Append(shard(0), 0, offset, batch(offset, at_ms=ms)))
    log.write_out()

    assert [name[:20].lstrip("0") for name in segments(disk, 0)] == ["", "3", "6"]
    assert len(values(log.store.read(shard(0), 0))) == 7


def test_the_age_of_a_segment_survives_a_restart(disk: SimulatedDisk) -> None:
    """It is the timestamp of its first batch that counts, not when the file was opened."""
    log = OpenLog(disk, roll_ms=1000)
    log.append(Append(shard(0), 0, 0, batch(0, at_ms=5000)))
    log.store.close()
    log = OpenLog(disk, roll_ms=1000)
    for offset, ms in ((1, 6000), (2, 6001)):
        log.append(Append(shard(0), 0, offset, batch(offset, at_ms=ms)))
    log.write_out()

    assert [name[:20].lstrip("0") for name in segments(disk, 0)] == ["", "2"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_worker_that_dies_takes_the_log_with_it(disk: SimulatedDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own bug, and nobody may wait for a thread that is gone: who waits is answered, and who comes is refused."""

    def fail(_log: ShardLog) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(ShardLog, "seal", fail)
    posted: SimpleQueue[Callable[[], None]] = SimpleQueue()
    store = LocalLogStore.open(DATA, post=posted.put, options=LogOptions(storage=disk, sync=Sync.INLINE))
    outcomes: list[object] = []
    store.submit([append(0, 0)], outcomes.append)
    store.seal(outcomes.append)
    while len(outcomes) < 2:
        posted.get(timeout=10)()
    store.submit([append(0, 1)], lambda failures: outcomes.extend((failures or {}).values()))
    store.close()

    assert [type(outcome) for outcome in outcomes] == [type(None), OutcomeUnknown, OutcomeUnknown]
