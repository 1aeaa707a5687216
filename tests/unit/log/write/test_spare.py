"""The journal's files, used in turn, and submits that wait for the next one."""

from __future__ import annotations

import errno

from coordinator_server.log.errors import Unavailable
from tests.support.log import DATA, OpenLog, append, shard, values
from tests.support.storage import SimulatedDisk

JOURNAL = f"{DATA}/journal/loop-0"


def test_a_submit_larger_than_the_journal(log: OpenLog, disk: SimulatedDisk) -> None:
    """The journal grows for it."""
    assert log.append(append(0, 0, b"x" * 100_000)) is None
    assert log.append(append(0, 1, b"small")) is None
    disk.kill()

    assert [len(value or b"") for value in values(OpenLog(disk).store.read(shard(0), 0))] == [100_000, 5]


def test_the_spare_that_was_too_small_is_not_left(log: OpenLog, disk: SimulatedDisk) -> None:
    """A file that nothing refers to would stay for ever, with its descriptor."""
    for offset in range(0, 20, 2):
        log.append(append(0, offset, b"x" * 100_000))
        log.append(append(0, offset + 1, b"x" * (100_000 + 20_000 * offset)))
    log.store.close()

    assert len(disk.files(JOURNAL)) <= 3
    assert not disk.open_files


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


def test_a_disk_that_turns_out_to_be_full_when_a_new_file_is_synced(disk: SimulatedDisk) -> None:
    """The next file has nothing yet, so that is no failed sync of the log: refused for now, and good again without a restart."""
    disk.fail("sync", errno.ENOSPC, "journal/loop-0/00000000000000000002")
    log = OpenLog(disk)
    offset = 0
    while (error := log.append(append(0, offset, b"x" * 1000))) is None:
        offset += 1
    assert isinstance(error, Unavailable)
    assert log.store.failure is None
    disk.mend()

    assert log.append(append(0, offset)) is None


def test_a_spare_that_fails_leaves_the_submit_in_flight_alone(disk: SimulatedDisk) -> None:
    """Only a submit that waits for the spare shares its fate."""
    log = OpenLog(disk)
    disk.fail("open", errno.EMFILE, "journal")
    outcome = log.submit(append(0, 0))
    log.run()

    assert outcome == [None]


def test_close_answers_a_submit_that_waits_for_the_journal(disk: SimulatedDisk) -> None:
    """Nothing is ever left without an answer."""
    log = OpenLog(disk)
    outcome = log.submit(append(0, 0, b"x" * 30_000))
    assert outcome == []
    log.store.close()

    [failures] = outcome
    assert failures is not None
    assert [type(why) for why in failures.values()] == [Unavailable]


def test_the_first_file_is_small(disk: SimulatedDisk) -> None:
    """So that the first start is quick; the others are as large as the configuration says."""
    log = OpenLog(disk, journal_bytes=3 << 20)
    assert [len(disk.content(path)) for path in disk.files(JOURNAL)] == [1 << 20]
    log.run()

    assert [len(disk.content(path)) for path in disk.files(JOURNAL)] == [1 << 20, 3 << 20]
