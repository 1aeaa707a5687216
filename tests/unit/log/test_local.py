"""The store: what is read back, opening and closing."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue

import pytest

from coordinator_server.kinds import GROUPS
from coordinator_server.log.errors import DamagedLog, LockedLog, LogError, Unavailable
from coordinator_server.log.local import LocalLogStore, LogOptions
from coordinator_server.log.shards import Append
from coordinator_server.log.write.journal_writer import Sync
from tests.support.log import DATA, OpenLog, append, batch, calls_of, shard, values
from tests.support.storage import SimulatedDisk


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


def test_reading_across_segments_from_the_middle(disk: SimulatedDisk) -> None:
    """Segments before the offset are not read."""
    log = OpenLog(disk, segment_bytes=1000)
    for offset in range(10):
        log.append(append(0, offset, b"%d" % offset * 300))
    log.write_out()
    disk.calls.clear()

    assert [value[:1] for value in values(log.store.read(shard(0), 7)) if value] == [b"7", b"8", b"9"]
    assert calls_of(disk, "pread", "00000000000000000000.log") == 0


def test_a_read_of_the_log_ends_where_it_was_durable_at_its_start(log: OpenLog) -> None:
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


def test_a_closed_log_has_no_open_files(disk: SimulatedDisk) -> None:
    """Those of the journal, of segments, and of reads."""
    log = OpenLog(disk, segment_bytes=2000, journal_bytes=4096)
    for offset in range(20):
        assert log.append(append(0, offset, b"x" * 300)) is None
        assert log.append(append(1, offset, b"x" * 300)) is None
    assert len(values(log.store.read(shard(0), 3))) == 17
    assert disk.open_files
    log.store.close()

    assert disk.open_files == set()


def test_a_directory_that_cannot_be_recovered_now_is_let_go(disk: SimulatedDisk) -> None:
    """The next try may go well."""
    OpenLog(disk).store.close()
    disk.fail("open", errno.EMFILE, "journal")
    with pytest.raises(Unavailable, match=f"cannot open the log in {DATA}"):
        OpenLog(disk)
    disk.mend()

    assert OpenLog(disk).append(append(0, 0)) is None
