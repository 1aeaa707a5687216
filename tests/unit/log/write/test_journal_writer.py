"""Where the journal is written."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from random import Random

import pytest

from coordinator_server.log.errors import LogError, OutcomeUnknown, Unavailable
from coordinator_server.log.storage import LOCAL, File
from coordinator_server.log.write import kernel_sync
from coordinator_server.log.write.journal_writer import (
    FIRST_HOLD,
    AdaptiveWriter,
    InlineWriter,
    KernelWriter,
    Sync,
    ThreadWriter,
    Writer,
    Written,
    make_writer,
)
from coordinator_server.log.write.kernel_sync import KernelSync
from coordinator_server.worker import Post
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

    def write(self, file: File, data: bytes, position: int, done: Written, /) -> None:
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


class Loop:
    """Calls back when the test says."""

    def __init__(self) -> None:
        self.readers: dict[int, Callable[[], None]] = {}

    def add_reader(self, fd: int, callback: Callable[[], None], /) -> None:
        self.readers[fd] = callback

    def remove_reader(self, fd: int, /) -> None:
        del self.readers[fd]

    def turn(self) -> None:
        [callback] = self.readers.values()
        callback()


@pytest.fixture
def on_disk(tmp_path: Path) -> Iterator[File]:
    file = LOCAL.open(str(tmp_path / "journal"), create=True)
    yield file
    file.close()


def test_the_kernel_syncs_beside_the_loop(on_disk: File) -> None:
    """What is written is done when the loop hears of the sync, not before, write after write."""
    outcomes: list[LogError | None] = []
    loop, other, sync = Loop(), OtherThread(), KernelSync()
    writer = KernelWriter(sync, loop, other)
    for number in range(1, 4):
        writer.write(on_disk, b"data", 4 * number, outcomes.append)
        sync.wait()
        assert len(outcomes) == number - 1
        loop.turn()
        assert outcomes == number * [None]
    writer.close()

    assert (on_disk.pread(100, 4), loop.readers, other.writes) == (b"datadatadata", {}, 0)


def test_close_waits_for_the_kernel(on_disk: File) -> None:
    """It leaves no descriptor open."""
    outcomes: list[LogError | None] = []
    before = set(Path("/proc/self/fd").iterdir())
    writer = KernelWriter(KernelSync(), Loop(), InlineWriter())
    writer.write(on_disk, b"data", 0, outcomes.append)
    writer.close()

    assert outcomes == [None]
    assert set(Path("/proc/self/fd").iterdir()) == before


def test_a_loop_that_runs_hears_of_the_sync(on_disk: File) -> None:
    """The server's own writer, where it runs."""

    async def write() -> list[LogError | None]:
        writer = make_writer(Sync.ADAPTIVE, lambda _call: None, asyncio.get_running_loop())
        assert isinstance(writer, KernelWriter)
        synced: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        outcomes: list[LogError | None] = []

        def done(error: LogError | None) -> None:
            outcomes.append(error)
            synced.set_result(None)

        writer.write(on_disk, b"data", 0, done)
        assert outcomes == []
        await asyncio.wait_for(synced, 30)
        writer.close()
        return outcomes

    assert asyncio.run(write()) == [None]


class FailedSync(KernelSync):
    """The kernel could not write to the disk."""

    def finish(self) -> OSError | None:
        assert super().finish() is None
        return OSError(errno.EIO, os.strerror(errno.EIO))


def test_of_a_sync_that_the_kernel_could_not_make_nobody_knows(on_disk: File) -> None:
    outcomes: list[LogError | None] = []
    loop, sync = Loop(), FailedSync()
    writer = KernelWriter(sync, loop, InlineWriter())
    writer.write(on_disk, b"data", 0, outcomes.append)
    sync.wait()
    loop.turn()
    writer.close()

    assert [type(outcome) for outcome in outcomes] == [OutcomeUnknown]
    assert "Input/output error" in str(outcomes[0])


def test_a_write_that_fails_is_not_synced(on_disk: File) -> None:
    outcomes: list[LogError | None] = []
    writer = KernelWriter(KernelSync(), Loop(), InlineWriter())
    on_disk.close()
    writer.write(on_disk, b"data", 0, outcomes.append)
    writer.close()

    assert [type(outcome) for outcome in outcomes] == [Unavailable]


class RefusedSync(KernelSync):
    def start(self, fd: int) -> None:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def test_what_the_kernel_refuses_is_written_in_another_way(on_disk: File, file: File) -> None:
    """From then on. So is a file that is not the operating system's."""
    outcomes: list[LogError | None] = []
    other = OtherThread()
    for sync, target in ((RefusedSync(), on_disk), (KernelSync(), file)):
        writer = KernelWriter(sync, Loop(), other)
        for _ in range(3):
            writer.write(target, b"data", 0, outcomes.append)
        writer.close()

    assert (other.writes, outcomes) == (6, 6 * [None])


def test_the_kernel_refuses_before_it_begins() -> None:
    """Files that cannot be synced, and descriptors that are none."""
    sync = KernelSync()
    ends = os.pipe()
    for fd in (*ends, 99_999):
        with pytest.raises(OSError, match=f"{os.strerror(errno.EINVAL)}|{os.strerror(errno.EBADF)}"):
            sync.start(fd)
    sync.close()
    for fd in ends:
        os.close(fd)


def test_a_machine_whose_calls_are_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server takes the writer that needs no such calls."""
    monkeypatch.setattr(kernel_sync, "_CALLS", {})

    assert isinstance(make_writer(Sync.ADAPTIVE, lambda _call: None, Loop()), AdaptiveWriter)
