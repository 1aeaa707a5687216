"""Where the journal is written."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from itertools import count
from random import Random

import pytest

from coordinator_server.log.errors import LogError, OutcomeUnknown, Unavailable
from coordinator_server.log.storage import File
from coordinator_server.log.write.journal_writer import FIRST_HOLD, AdaptiveWriter, Done, InlineWriter, Post, ThreadWriter, Writer
from tests.support.storage import SimulatedDisk


@pytest.fixture
def disk() -> SimulatedDisk:
    return SimulatedDisk()


@pytest.fixture
def file(disk: SimulatedDisk) -> File:
    return disk.open("/journal", create=True)


@pytest.mark.parametrize(
    ("operation", "kind"), [("pwrite", Unavailable), ("sync", OutcomeUnknown)], ids=["before durability", "after the write"]
)
def test_what_a_failure_means(disk: SimulatedDisk, file: File, operation: str, kind: type[LogError]) -> None:
    """A write that fails did not happen; of a sync that fails nobody knows."""
    outcomes: list[LogError | None] = []
    disk.fail(operation, errno.EIO)
    InlineWriter().write(file, b"data", 0, outcomes.append)

    assert [type(outcome) for outcome in outcomes] == [kind]


@pytest.mark.parametrize("make", [lambda _post: InlineWriter(), ThreadWriter, lambda post: AdaptiveWriter(ThreadWriter(post))])
def test_what_is_done_is_durable(disk: SimulatedDisk, file: File, make: Callable[[Post], Writer]) -> None:
    """Whoever writes it."""
    outcomes: list[LogError | None] = []
    disk.sync_dir("/")
    writer = make(lambda _call: None)
    writer.write(file, b"data", 0, outcomes.append)
    writer.close()

    assert outcomes == [None]
    assert {disk.power_loss(Random(seed)).content("/journal") for seed in range(20)} == {b"data"}


def test_a_thread_that_a_disk_keeps_does_not_keep_the_process(disk: SimulatedDisk, file: File) -> None:
    """It has a name, for those who look at the process."""
    writer = ThreadWriter(lambda _call: None)
    before = set(threading.enumerate())
    writer.write(file, b"data", 0, lambda _outcome: None)
    [thread] = set(threading.enumerate()) - before
    writer.close()

    assert (thread.name, thread.daemon, thread.is_alive()) == ("log-writer", True, False)


def test_a_writer_that_is_closed_has_no_thread(disk: SimulatedDisk, file: File) -> None:
    """Whichever of its two ways it went last."""
    before = set(threading.enumerate())
    writer = AdaptiveWriter(ThreadWriter(lambda _call: None), count().__next__)
    for _ in range(2):
        writer.write(file, b"data", 0, lambda _outcome: None)
    assert len(set(threading.enumerate()) - before) == 1
    writer.close()

    assert set(threading.enumerate()) == before


def test_a_thread_settles_on_the_callers_loop(disk: SimulatedDisk, file: File) -> None:
    """The thread writes, and posts; whoever runs what was posted hears the outcome."""
    outcomes: list[int] = []
    posted: list[Callable[[], None]] = []
    is_posted = threading.Event()

    def post(job: Callable[[], None]) -> None:
        posted.append(job)
        is_posted.set()

    writer = ThreadWriter(post)
    writer.write(file, b"data", 0, lambda _error: outcomes.append(threading.get_ident()))
    assert is_posted.wait(10)
    assert outcomes == []
    posted.pop()()
    writer.close()

    assert disk.content("/journal") == b"data"
    assert outcomes == [threading.get_ident()]


def test_close_settles_what_is_under_way(file: File) -> None:
    """Once, whether the posted call runs later or never."""
    outcomes: list[LogError | None] = []
    posted: list[Callable[[], None]] = []
    writer = ThreadWriter(posted.append)
    writer.write(file, b"data", 0, outcomes.append)
    writer.close()
    assert outcomes == [None]
    for job in posted:
        job()

    assert outcomes == [None]


class Clock:
    """Each sync takes as long as the test says."""

    def __init__(self, disk: SimulatedDisk) -> None:
        self.now = 0.0
        self.sync_s = 0.0001
        self._disk = disk
        self._syncs = 0

    def __call__(self) -> float:
        syncs = sum(1 for name, _ in self._disk.calls if name == "sync")
        self.now += (syncs - self._syncs) * self.sync_s
        self._syncs = syncs
        return self.now


class OtherThread:
    """Counts what it is given."""

    def __init__(self) -> None:
        self.writes = 0

    def write(self, file: File, data: bytes, position: int, done: Done, /) -> None:
        self.writes += 1
        done(None)

    def close(self) -> None:
        """Nothing is under way."""


class Adaptive:
    def __init__(self, disk: SimulatedDisk, file: File) -> None:
        self.clock = Clock(disk)
        self.thread = OtherThread()
        self.writer = AdaptiveWriter(self.thread, self.clock)
        self.file = file

    def write(self, count: int, sync_s: float) -> int:
        """How many of ``count`` writes went to the thread."""
        before = self.thread.writes
        self.clock.sync_s = sync_s
        for _ in range(count):
            self.writer.write(self.file, b"data", 0, lambda _error: None)
        return self.thread.writes - before


@pytest.fixture
def adaptive(disk: SimulatedDisk, file: File) -> Adaptive:
    return Adaptive(disk, file)


def test_a_fast_disk_is_written_on_the_loop(adaptive: Adaptive) -> None:
    """Nothing is handed over; one slow sync in a while does not matter."""
    assert adaptive.write(1000, 0.0001) == 0
    assert adaptive.write(1, 0.010) == 0
    assert adaptive.write(1000, 0.0001) == 0


def test_a_slow_disk_is_written_in_the_thread(adaptive: Adaptive) -> None:
    """A single sync of 50 ms is enough to leave the loop alone, and tries are rare."""
    adaptive.write(100, 0.0001)
    on_loop = 2000 - adaptive.write(2000, 0.050)

    assert 1 <= on_loop <= 8


def test_a_disk_that_is_fast_again_is_written_on_the_loop(adaptive: Adaptive) -> None:
    """After a while in the thread."""
    adaptive.write(2, 0.050)

    assert 0 < adaptive.write(10 * FIRST_HOLD, 0.0001) <= 2 * FIRST_HOLD
    assert adaptive.write(100, 0.0001) == 0
