"""Shards that one loop's log releases and another one takes: what is refused, and what goes on then."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from coordinator_server.log.directory import recover_all_loops
from coordinator_server.log.errors import DamagedLog, LogError, Unavailable
from coordinator_server.log.shards import LoopShards, ShardEnd, ShardId
from tests.support.log import DATA, OpenLog, append, shard, values
from tests.support.storage import SimulatedDisk
from tests.unit.log.layers.test_retention import Shard

A, B = shard(0), shard(1)


class Loops:
    """Two loops that write one directory. Loop 0 has A, loop 1 has B; the owner of A is whoever a test says."""

    def __init__(self) -> None:
        self.disk = SimulatedDisk()
        self.disk.make_dir(DATA)
        OpenLog(self.disk).store.close()
        self.owners = {A: 0, B: 1}
        recover_all_loops(self.disk, DATA, 2, self.owners.__getitem__)
        self.logs = [OpenLog(self.disk, LoopShards(loop, partial(self.owns, loop))) for loop in range(2)]
        for log in self.logs:
            log.run()

    def owns(self, loop: int, each: ShardId) -> bool:
        return self.owners[each] == loop

    def release(self, loop: int, *shards: ShardId) -> Sequence[ShardEnd] | LogError:
        outcome: list[Sequence[ShardEnd] | LogError] = []
        self.logs[loop].store.release(shards, outcome.append)
        self.logs[loop].run()
        return outcome[0]

    def take(self, loop: int, ends: Sequence[ShardEnd] | LogError) -> LogError | None:
        assert not isinstance(ends, LogError)
        outcome: list[LogError | None] = []
        self.logs[loop].store.take(ends, outcome.append)
        self.logs[loop].run()
        return outcome[0]

    def forget(self, loop: int, *shards: ShardId) -> None:
        closed: list[bool] = []
        self.logs[loop].store.forget(shards, lambda: closed.append(True))
        assert closed == []
        self.logs[loop].run()
        assert closed == [True]


@pytest.fixture
def loops() -> Loops:
    return Loops()


def test_the_next_owner_goes_on_where_the_former_one_ended(loops: Loops) -> None:
    """It reads all, and appends at the end."""
    assert loops.logs[0].append(append(0, 0, b"a", count=3)) is None
    ends = loops.release(0, A)
    assert loops.take(1, ends) is None
    loops.owners[A] = 1
    loops.forget(0, A)

    assert loops.logs[1].append(append(0, 3, b"b")) is None
    assert values(loops.logs[1].store.read(A, 0)) == [b"a"] * 3 + [b"b"]
    assert (loops.logs[0].store.shards(), loops.logs[0].store.end_offset(A)) == ([], 0)


def test_a_released_shard_takes_no_batches(loops: Loops) -> None:
    """Whatever the view says still."""
    assert loops.logs[0].append(append(0, 0)) is None
    loops.release(0, A)

    with pytest.raises(ValueError, match="another loop's journal"):
        loops.logs[0].submit(append(0, 1))


def test_a_shard_without_records_has_no_end(loops: Loops) -> None:
    """The next owner makes its directory."""
    assert loops.release(0, A) == []
    assert loops.take(1, []) is None
    loops.owners[A] = 1

    assert loops.logs[1].append(append(0, 0)) is None


def test_a_shard_that_cannot_be_released_goes_on(loops: Loops) -> None:
    """On a full disk its last batches may not fit into its segment; the journal has them."""
    log = loops.logs[0]
    assert log.append(append(0, 0)) is None
    loops.disk.fail("pwrite", errno.ENOSPC, str(A))
    assert isinstance(loops.release(0, A), Unavailable)
    loops.disk.mend()

    assert log.append(append(0, 1)) is None
    ends = loops.release(0, A)
    assert not isinstance(ends, LogError)
    assert [(end.shard, end.offset) for end in ends] == [(A, 2)]


def test_what_is_shorter_than_its_end_is_not_taken(loops: Loops) -> None:
    """The shards of the loop that should take it go on."""
    assert loops.logs[0].append(append(0, 0)) is None
    ends = loops.release(0, A)
    assert not isinstance(ends, LogError)
    [end] = ends

    assert isinstance(loops.take(1, [end._replace(size=end.size + 1)]), DamagedLog)
    assert loops.logs[1].append(append(1, 0)) is None
    assert loops.logs[1].store.shards() == [B]


def test_a_journal_without_room_takes_nothing(loops: Loops) -> None:
    """The former owner takes its shard back."""
    assert loops.logs[0].append(append(0, 0)) is None
    ends = loops.release(0, A)
    loops.disk.fail("pwrite", errno.ENOSPC, "journal/loop-1")
    assert isinstance(loops.take(1, ends), Unavailable)
    loops.forget(1, A)
    loops.disk.mend()

    assert loops.take(0, ends) is None
    assert loops.logs[0].append(append(0, 1)) is None
    assert loops.logs[1].store.shards() == []


def test_retention_removes_nothing_of_a_shard_that_is_released_meanwhile(tmp_path: Path) -> None:
    """It has begun with it: another loop has listed its files since."""
    aged = Shard(tmp_path)
    aged.restart()
    aged.layer(2)
    aged.layer(4)
    [log] = aged.store.logs()

    def released() -> int:
        log.close()
        return 1000

    assert aged.check(now_ms=released) == []
    assert aged.segments() == list(range(7))
    assert [path.name for path in sorted(aged.path.glob("layer-*"))] == [f"layer-{2:020d}", f"layer-{4:020d}"]
    aged.store.close()


def test_what_is_forgotten_is_closed(loops: Loops) -> None:
    """Its retention removes nothing any more: the former owner has taken it back."""
    assert loops.logs[0].append(append(0, 0)) is None
    ends = loops.release(0, A)
    assert loops.take(1, ends) is None
    [log] = [each for each in loops.logs[1].store.logs() if each.shard == A]
    assert not log.is_released
    loops.forget(1, A)

    assert log.is_released


def test_a_log_that_is_closed_refuses_what_waits(loops: Loops) -> None:
    """And what comes later."""
    outcomes: list[object] = []
    log = loops.logs[0]
    log.store.release([A], outcomes.append)
    log.store.take([], outcomes.append)
    log.store.close()
    log.store.take([], outcomes.append)
    log.turn()

    assert [type(each) for each in outcomes] == [Unavailable] * 3
