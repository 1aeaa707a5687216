"""The store in memory: what an append promises, and how it fails."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue

import pytest

from coordinator_server.kinds import GROUPS
from coordinator_server.log.errors import DamagedLog, Fenced, LockedLog, LogError, OutcomeUnknown, Unavailable
from coordinator_server.log.local import LocalLogStore, LogOptions
from coordinator_server.log.shards import Append
from coordinator_server.log.write import submit
from coordinator_server.log.write.journal_writer import Sync
from coordinator_server.log.write.segments import ShardLog
from tests.support.log import DATA, OpenLog, append, batch, shard, values
from tests.support.storage import SimulatedDisk

JOURNAL = f"{DATA}/journal/loop-0"


@pytest.fixture
def disk() -> SimulatedDisk:
    return SimulatedDisk()


@pytest.fixture
def log(disk: SimulatedDisk) -> OpenLog:
    opened = OpenLog(disk)
    opened.run()
    return opened


def segments(disk: SimulatedDisk, partition: int) -> dict[str, int]:
    return {path[-24:]: len(disk.content(path)) for path in disk.files(f"{DATA}/{shard(partition)}") if path.endswith(".log")}


def calls_of(disk: SimulatedDisk, operation: str, part: str) -> int:
    return sum(1 for name, path in disk.calls if name == operation and part in path)


def test_batches_are_read_back_in_order(log: OpenLog) -> None:
    """What was appended to a shard is what it holds, batch by batch."""
    for offset in range(5):
        assert log.append(append(3, offset, b"%d" % offset)) is None

    assert values(log.store.read(shard(3), 0)) == [b"0", b"1", b"2", b"3", b"4"]
    assert log.store.end_offset(shard(3)) == 5


def test_a_shard_that_never_was_is_empty(log: OpenLog) -> None:
    """Offsets start at 0, and reading nothing is no error."""
    assert log.store.end_offset(shard(9)) == 0
    assert list(log.store.read(shard(9), 0)) == []
    assert log.store.shards() == []


def test_read_starts_with_the_batch_that_holds_the_offset(log: OpenLog) -> None:
    """A batch is never cut, not at its front either."""
    log.append(append(0, 0, b"a", count=3))
    log.append(append(0, 3, b"b", count=3))

    assert [data[:8] for data in log.store.read(shard(0), 4)] == [(3).to_bytes(8, "big")]
    assert list(log.store.read(shard(0), 6)) == []


def test_several_batches_in_one_append_are_read_one_by_one(log: OpenLog) -> None:
    """An append may hold many batches; a reader gets each as its own bytes."""
    log.append(Append(shard(0), 0, 0, batch(0) + batch(1)))

    assert list(log.store.read(shard(0), 0)) == [batch(0), batch(1)]


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
    """Whoever owned the shard before may not write any more, and takes nothing else along."""
    log.append(append(0, 0, epoch=5))

    assert isinstance(log.append(append(1, 0, epoch=5), append(0, 1, epoch=4)), Fenced)
    assert [log.store.end_offset(shard(each)) for each in (0, 1)] == [1, 0]
    assert log.append(append(0, 1, epoch=5), append(1, 0, epoch=6)) is None


@pytest.mark.parametrize(
    ("operation", "error"),
    [("reserve", errno.ENOSPC), ("reserve", errno.EDQUOT), ("open", errno.EMFILE), ("make_dir", errno.ENOSPC)],
)
def test_a_full_disk_fails_before_durability(log: OpenLog, disk: SimulatedDisk, operation: str, error: int) -> None:
    """Space for the segment is had before the journal is written; when there is some again, the log goes on."""
    disk.fail(operation, error, "__consumer_offsets-1")
    disk.calls.clear()

    assert isinstance(log.append(append(0, 0), append(1, 0)), Unavailable)
    assert calls_of(disk, "pwrite", "journal") == 0
    disk.mend()
    assert log.append(append(0, 0), append(1, 0)) is None


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


def test_segments_are_written_in_bulk(log: OpenLog, disk: SimulatedDisk) -> None:
    """The journal has the batches: their segment gets them together, a while later."""
    for offset in range(10):
        log.append(append(0, offset))
    assert segments(disk, 0) == {"00000000000000000000.log": 0}

    log.write_out()

    assert segments(disk, 0) == {"00000000000000000000.log": 10 * len(batch(0))}


def test_much_that_waits_is_written_early(disk: SimulatedDisk) -> None:
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


def test_a_submit_larger_than_the_journal(log: OpenLog, disk: SimulatedDisk) -> None:
    """The journal grows for it."""
    assert log.append(append(0, 0, b"x" * 100_000)) is None
    assert log.append(append(0, 1, b"small")) is None
    disk.kill()

    assert [len(value or b"") for value in values(OpenLog(disk).store.read(shard(0), 0))] == [100_000, 5]


def test_a_submit_larger_than_any_journal(log: OpenLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a limit, and the refusal names it."""
    monkeypatch.setattr(submit, "MAX_SUBMIT_BYTES", 1000)

    error = log.append(append(0, 0, b"x" * 2000))

    assert isinstance(error, Unavailable)
    assert "1000" in str(error)
    assert log.append(append(0, 0)) is None


def test_journal_files_are_used_in_turn(log: OpenLog, disk: SimulatedDisk) -> None:
    """However much is written, the journal stays as large as it is."""
    for offset in range(300):
        assert log.append(append(0, offset, b"x" * 1000)) is None

    assert sum(len(disk.content(path)) for path in disk.files(JOURNAL)) <= 3 * 16384
    assert len(values(log.store.read(shard(0), 0))) == 300


def test_a_journal_without_its_next_file_waits_for_it(log: OpenLog) -> None:
    """A full journal file is not written over before its shards are synced: the submit waits."""
    offset = 0
    outcome = log.submit(append(0, offset))
    while True:
        log.turn()
        if not outcome:
            break
        offset += 1
        outcome = log.submit(append(0, offset, b"x" * 1000))
    log.run()

    assert outcome == [None]
    assert log.store.end_offset(shard(0)) == offset + 1


def test_no_room_for_the_journals_next_file(disk: SimulatedDisk) -> None:
    """That is a full disk like any other: refused for now, and good again without a restart."""
    disk.fail("open", errno.ENOSPC, "journal/loop-0/00000000000000000002")
    log = OpenLog(disk)
    offset = 0
    while (error := log.append(append(0, offset, b"x" * 1000))) is None:
        offset += 1
    assert isinstance(error, Unavailable)
    disk.mend()

    assert log.append(append(0, offset)) is None


def test_a_spare_that_fails_leaves_the_submit_in_flight_alone(disk: SimulatedDisk) -> None:
    """Only a submit that waits for the spare shares its fate."""
    log = OpenLog(disk)
    disk.fail("open", errno.EMFILE, "journal")
    outcome = log.submit(append(0, 0))
    log.run()

    assert outcome == [None]


def test_seal_starts_new_segments(log: OpenLog, disk: SimulatedDisk) -> None:
    """A sealed segment is whole, and its successor is named for where it ends; sealing again adds nothing."""
    log.append(append(0, 0, count=3), append(1, 0))

    assert log.seal() == {shard(0): 3, shard(1): 1}
    assert log.seal() == {shard(0): 3, shard(1): 1}
    assert segments(disk, 0) == {"00000000000000000000.log": len(batch(0, count=3)), "00000000000000000003.log": 0}


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


def test_reading_across_segments_from_the_middle(disk: SimulatedDisk) -> None:
    """Segments before the offset are not read."""
    log = OpenLog(disk, segment_bytes=1000)
    for offset in range(10):
        log.append(append(0, offset, b"%d" % offset * 300))
    log.write_out()
    disk.calls.clear()

    assert [value[:1] for value in values(log.store.read(shard(0), 7)) if value] == [b"7", b"8", b"9"]
    assert calls_of(disk, "pread", "00000000000000000000.log") == 0


def test_a_reader_keeps_its_end(log: OpenLog) -> None:
    """A read gives what was durable when it was asked for."""
    log.append(append(0, 0))
    reader = log.store.read(shard(0), 0)
    log.append(append(0, 1))
    log.seal()

    assert len(values(reader)) == 1


def test_damage_is_found_when_it_is_read(log: OpenLog, disk: SimulatedDisk) -> None:
    """Never a wrong batch: the error names the file and the position of the damaged one."""
    for offset in range(3):
        log.append(append(0, offset))
    log.seal()
    path = f"{DATA}/{shard(0)}/{0:020d}.log"
    size = len(batch(0))
    disk.put(path, disk.content(path)[: size + 70] + b"\xff" + disk.content(path)[size + 71 :])

    with pytest.raises(DamagedLog) as caught:
        list(log.store.read(shard(0), 0))
    assert (caught.value.path, caught.value.position) == (path, size)


def test_a_missing_end_of_a_sealed_segment_is_damage(log: OpenLog, disk: SimulatedDisk) -> None:
    """Also where whole batches are gone."""
    for offset in range(3):
        log.append(append(0, offset))
    log.seal()
    log.append(append(0, 3))
    path = f"{DATA}/{shard(0)}/{0:020d}.log"
    disk.put(path, disk.content(path)[: 2 * len(batch(0))])

    with pytest.raises(DamagedLog, match="offsets 2 to 3 are missing"):
        list(log.store.read(shard(0), 0))


def test_close_puts_everything_into_segments(log: OpenLog, disk: SimulatedDisk) -> None:
    """The next start has nothing to do: it writes no segment."""
    log.append(append(0, 0, b"kept"))
    log.store.close()
    log.store.close()
    disk.calls.clear()
    again = OpenLog(disk)

    assert calls_of(disk, "pwrite", ".log") == 0
    assert values(again.store.read(shard(0), 0)) == [b"kept"]


def test_a_closed_log_answers(log: OpenLog) -> None:
    """Late callers are refused, not left waiting; reading what is durable still works."""
    log.append(append(0, 0))
    sealed: list[object] = []
    log.store.seal(sealed.append)
    log.store.close()

    assert len(sealed) == 1
    assert isinstance(sealed[0], Unavailable)
    assert isinstance(log.append(append(0, 1)), Unavailable)
    assert len(values(log.store.read(shard(0), 0))) == 1


def test_close_answers_a_submit_that_waits_for_the_journal(disk: SimulatedDisk) -> None:
    """Nothing is ever left without an answer."""
    log = OpenLog(disk)
    outcome = log.submit(append(0, 0, b"x" * 30_000))
    assert outcome == []
    log.store.close()

    assert len(outcome) == 1
    assert isinstance(outcome[0], Unavailable)


def test_close_settles_the_write_in_flight(disk: SimulatedDisk) -> None:
    """Its outcome is known when close returns, and told."""
    log = OpenLog(disk, sync=Sync.THREAD)
    outcome = log.submit(append(0, 0, b"kept"))
    log.store.close()
    log.turn()

    assert outcome == [None]
    assert values(OpenLog(disk).store.read(shard(0), 0)) == [b"kept"]


def test_a_close_that_fails_lets_go_all_the_same(log: OpenLog, disk: SimulatedDisk) -> None:
    """The journal has everything: the error is told, the next start puts it right."""
    log.append(append(0, 0, b"kept"))
    disk.fail("pwrite", errno.EIO, "__consumer_offsets-0")
    with pytest.raises(LogError):
        log.store.close()
    disk.mend()

    assert values(OpenLog(disk).store.read(shard(0), 0)) == [b"kept"]


def test_a_second_process_is_refused(log: OpenLog, disk: SimulatedDisk) -> None:
    """The error names the process that has the directory."""
    with pytest.raises(LockedLog, match="1234"):
        OpenLog(disk)


def test_a_start_that_is_refused_lets_the_directory_go(disk: SimulatedDisk) -> None:
    """The next try, with the right settings, succeeds."""
    OpenLog(disk, partitions={GROUPS.topic: 50}).store.close()
    with pytest.raises(LogError, match=r"offsets\.topic\.num\.partitions=50, not 10"):
        OpenLog(disk, partitions={GROUPS.topic: 10})

    assert OpenLog(disk, partitions={GROUPS.topic: 50}).store.meta.partition_count(GROUPS.topic) == 50


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
    store.submit([append(0, 1)], outcomes.append)
    store.close()

    assert [type(outcome) for outcome in outcomes] == [type(None), OutcomeUnknown, OutcomeUnknown]


def test_readers_in_other_threads(tmp_path: Path) -> None:
    """Whatever the loop and the worker do meanwhile, a reader gets a whole prefix of the log."""
    posted: SimpleQueue[Callable[[], None]] = SimpleQueue()
    store = LocalLogStore.open(
        tmp_path, post=posted.put, options=LogOptions(segment_bytes=20_000, journal_bytes=50_000, sync=Sync.NEVER)
    )
    lengths: list[list[int]] = [[], []]
    is_over = threading.Event()

    def read(found: list[int]) -> None:
        while not is_over.is_set():
            records = values(store.read(shard(0), 0))
            assert records == [b"%d" % offset * 100 for offset in range(len(records))]
            found.append(len(records))

    readers = [threading.Thread(target=read, args=(found,)) for found in lengths]
    for reader in readers:
        reader.start()
    for offset in range(600):
        outcomes: list[object] = []
        store.submit([append(0, offset, b"%d" % offset * 100)], outcomes.append)
        if offset % 100 == 50:
            store.seal(lambda _ends: None)
        while not outcomes:
            posted.get(timeout=10)()
        assert outcomes == [None]
    is_over.set()
    for reader in readers:
        reader.join()
    store.close()

    assert all(found and found == sorted(found) for found in lengths)
