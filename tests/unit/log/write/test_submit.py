"""What an append promises, and how it fails."""

from __future__ import annotations

import errno

import pytest

from coordinator_server.log.errors import Fenced, OutcomeUnknown, Unavailable
from coordinator_server.log.shards import Append
from coordinator_server.log.write import submit
from coordinator_server.log.write.journal_writer import Sync
from tests.support.log import OpenLog, append, batch, calls_of, shard, values
from tests.support.storage import SimulatedDisk


def test_one_submit_is_one_write_and_one_sync(log: OpenLog, disk: SimulatedDisk) -> None:
    """However many shards take part: syncing them all one by one is what makes durable commits slow."""
    disk.calls.clear()
    outcome = log.submit(*[append(partition, 0) for partition in range(20)])
    log.turn()

    assert outcome == [None]
    changes = [name for name, _ in disk.calls if name in {"pwrite", "sync", "sync_dir"}]
    assert changes == ["pwrite", "sync"]


def test_done_does_not_wait_for_another_turn_when_the_write_is_done_on_the_loop(log: OpenLog) -> None:
    """What is known when submit returns has been told."""
    assert log.submit(append(0, 0)) == [None]


def test_an_empty_submit_is_done(log: OpenLog) -> None:
    """Nothing to make durable is durable."""
    assert log.append() is None


def test_one_write_in_flight(log: OpenLog) -> None:
    """A second submit before the first is done is a mistake of the caller."""
    log = OpenLog(SimulatedDisk(), sync=Sync.THREAD)
    log.submit(append(0, 0))

    with pytest.raises(RuntimeError):
        log.submit(append(0, 1))
    log.store.close()


def test_a_wrong_expected_offset_is_refused_before_anything_is_written(log: OpenLog, disk: SimulatedDisk) -> None:
    """The caller lost track of its shard: going on would tear a hole into the log."""
    log.append(append(0, 0))
    disk.calls.clear()

    with pytest.raises(ValueError, match="at offset 1, not 5"):
        log.submit(append(1, 0), append(0, 5))
    assert calls_of(disk, "pwrite", "") == 0
    assert log.append(append(1, 0), append(0, 1)) is None


def test_bytes_that_are_no_batch_are_refused(log: OpenLog) -> None:
    """Only whole batches that start at the expected offset get in."""
    for data in (b"nonsense", batch(0)[:-1], batch(7), batch(0) + batch(0)):
        with pytest.raises(ValueError, match="batch"):
            log.submit(Append(shard(0), 0, 0, data))
    assert log.store.end_offset(shard(0)) == 0


def test_a_shard_may_come_twice_in_one_submit(log: OpenLog) -> None:
    """The second append goes on where the first ends."""
    assert log.append(append(0, 0), append(0, 1)) is None
    assert log.store.end_offset(shard(0)) == 2


def test_an_older_epoch_is_fenced(log: OpenLog) -> None:
    """Whoever owned the shard before may not write any more. What is written to other shards with it is durable."""
    log.append(append(0, 0, epoch=5))

    [failures] = log.submit(append(1, 0, epoch=5), append(0, 1, epoch=4))
    assert failures is not None
    assert [(each, type(why), str(why)) for each, why in failures.items()] == [
        (shard(0), Fenced, f"{shard(0)} is owned with epoch 5, not 4")
    ]
    assert [log.store.end_offset(shard(each)) for each in (0, 1)] == [1, 1]
    assert log.store.submits.refusal == str(failures[shard(0)])
    assert log.append(append(0, 1, epoch=5), append(1, 1, epoch=6)) is None
    assert log.store.submits.refusal is None


def test_a_shard_that_is_fenced_by_its_second_append_has_neither(log: OpenLog) -> None:
    """Of one shard all is written, or nothing."""
    log.append(append(0, 0, epoch=5))

    [failures] = log.submit(append(0, 1, epoch=5), append(1, 0, epoch=5), append(0, 2, epoch=4), append(0, 3, epoch=5))
    assert failures is not None
    assert list(failures) == [shard(0)]
    assert [log.store.end_offset(shard(each)) for each in (0, 1)] == [1, 1]
    assert log.append(append(0, 1, b"again", epoch=5)) is None
    assert values(log.store.read(shard(0), 0)) == [b"value", b"again"]


def test_shards_that_are_all_fenced_write_nothing(log: OpenLog, disk: SimulatedDisk) -> None:
    """The journal gets no empty frame."""
    log.append(append(0, 0, epoch=5))
    disk.calls.clear()

    assert isinstance(log.append(append(0, 1, epoch=4)), Fenced)
    assert calls_of(disk, "pwrite", "") == 0
    assert log.store.submits.refusal is not None


@pytest.mark.parametrize(
    ("operation", "error"),
    [("reserve", errno.ENOSPC), ("reserve", errno.EDQUOT), ("open", errno.EMFILE), ("make_dir", errno.ENOSPC)],
)
def test_a_full_disk_fails_before_durability(log: OpenLog, disk: SimulatedDisk, operation: str, error: int) -> None:
    """Space for the segment is had before the journal is written; when there is some again, the log goes on.

    A shard that has its space is written.
    """
    disk.fail(operation, error, "__consumer_offsets-1")
    disk.calls.clear()

    assert isinstance(log.append(append(1, 0)), Unavailable)
    assert calls_of(disk, "pwrite", "journal") == 0
    [failures] = log.submit(append(0, 0), append(1, 0))
    assert failures is not None
    assert [(each, type(why)) for each, why in failures.items()] == [(shard(1), Unavailable)]
    disk.mend()
    assert log.append(append(0, 1), append(1, 0)) is None


def test_a_failed_journal_write_is_overwritten_in_place(log: OpenLog, disk: SimulatedDisk) -> None:
    """Nothing of it is ever seen again, and what comes next is found where it would have been."""
    log.append(append(0, 0, b"first"))
    disk.fail("pwrite", errno.ENOSPC, "journal")
    assert isinstance(log.append(append(0, 1, b"never" * 100)), Unavailable)
    disk.mend()
    assert log.append(append(0, 1, b"second")) is None
    disk.kill()

    assert values(OpenLog(disk).store.read(shard(0), 0)) == [b"first", b"second"]


def test_short_writes_are_continued(disk: SimulatedDisk) -> None:
    """The operating system may write less than it was given."""
    disk.is_write_short = True
    log = OpenLog(disk)
    for offset in range(20):
        assert log.append(append(0, offset, b"x" * 500)) is None
    disk.kill()

    assert len(values(OpenLog(disk).store.read(shard(0), 0))) == 20


def test_a_failed_sync_is_final(log: OpenLog, disk: SimulatedDisk) -> None:
    """After fdatasync failed once nobody knows what the file holds: no acknowledgement any more, and no second try."""
    log.append(append(0, 0))
    disk.fail("sync", errno.EIO, "journal")
    assert isinstance(log.append(append(0, 1)), OutcomeUnknown)
    disk.mend()
    disk.calls.clear()

    for _ in range(3):
        assert isinstance(log.append(append(0, 1)), OutcomeUnknown)
    assert isinstance(log.seal(), OutcomeUnknown)
    log.write_out()
    log.store.close()
    assert calls_of(disk, "sync", "") == 0
    assert isinstance(log.store.failure, OutcomeUnknown)
    assert log.store.end_offset(shard(0)) == 1


def test_a_segment_that_cannot_be_synced_is_final_too(log: OpenLog, disk: SimulatedDisk) -> None:
    """The journal that covers it could not be used again."""
    log.append(append(0, 0))
    disk.fail("sync", errno.EIO, "__consumer_offsets-0")

    assert isinstance(log.seal(), OutcomeUnknown)
    assert isinstance(log.append(append(0, 1)), OutcomeUnknown)


def test_a_failure_that_no_submit_waits_for_is_told(log: OpenLog, disk: SimulatedDisk) -> None:
    """An idle server ends at once, not with its next commit."""
    told: list[OutcomeUnknown] = []
    log.store.when_failed(told.append)
    log.append(append(0, 0))
    disk.fail("sync", errno.EIO, "__consumer_offsets-0")
    log.seal()

    assert told == [log.store.failure]


@pytest.mark.interpreted
def test_a_submit_larger_than_any_journal(log: OpenLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a limit, and the refusal names it."""
    monkeypatch.setattr(submit, "MAX_SUBMIT_BYTES", 1000)

    error = log.append(append(0, 0, b"x" * 2000))

    assert isinstance(error, Unavailable)
    assert "1000" in str(error)
    assert log.append(append(0, 0)) is None


def test_without_syncs_the_log_survives_the_process(disk: SimulatedDisk) -> None:
    """``log.flush = os``: nothing is synced for a submit, a kill loses nothing all the same."""
    log = OpenLog(disk, sync=Sync.NEVER)
    log.run()
    disk.calls.clear()
    log.append(append(0, 0, b"kept"))
    assert calls_of(disk, "sync", "") == 0
    disk.kill()

    assert values(OpenLog(disk).store.read(shard(0), 0)) == [b"kept"]


def test_the_thread_writes_too(disk: SimulatedDisk) -> None:
    """Where the sync runs changes nothing else."""
    log = OpenLog(disk, sync=Sync.THREAD)
    outcome = log.submit(append(0, 0, b"kept"))
    while not outcome:
        log.turn()
    disk.kill()

    assert outcome == [None]
    assert values(OpenLog(disk).store.read(shard(0), 0)) == [b"kept"]
