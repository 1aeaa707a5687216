"""Write and sync the journal: the kernel syncs beside the caller's loop, or it happens on the loop or in a thread,
whichever is cheaper.

Where the kernel can sync on its own (``kernel_sync.py``), requests are handled meanwhile, and the next write has their batches.

Elsewhere there are two ways. A sync on the loop (``inline``) stops the loop until the disk is done. In a thread it does not, but
beside a busy loop the thread may wait a whole switch interval of the interpreter (5 ms) after each
system call. ``adaptive`` writes inline while syncs are quick, in the thread while they are slow,
and tries inline again from time to time:

    inline ──the moving average of syncs (each weighs 1/8) passes SLOW_S──► thread, for ``hold`` writes
    thread ──``hold`` writes later──► inline, where a single slow sync is enough to go back; then ``hold`` doubles

The thread does not time its own syncs: beside a busy loop it would measure the interpreter's switch interval, not the disk.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum
from queue import SimpleQueue
from threading import Thread
from typing import Final, Protocol, assert_never

from coordinator_server.log.errors import LogError, OutcomeUnknown, Unavailable
from coordinator_server.log.storage import File, LocalFile, write_all
from coordinator_server.log.write.kernel_sync import KernelSync
from coordinator_server.worker import Post

Written = Callable[[LogError | None], None]

SLOW_S: Final = 0.002
FIRST_HOLD: Final = 64
LONGEST_HOLD: Final = 4096


class Sync(Enum):
    """Where a write is synced; NEVER leaves that to the operating system (``log.flush = os``)."""

    ADAPTIVE = "adaptive"
    INLINE = "inline"
    THREAD = "thread"
    NEVER = "never"


class Watch(Protocol):
    """An event loop: calls back while a descriptor is readable."""

    def add_reader(self, fd: int, callback: Callable[[], None], /) -> object: ...

    def remove_reader(self, fd: int, /) -> object: ...


class Writer(Protocol):
    """Makes one write durable at a time."""

    def write(self, file: File, data: bytes, position: int, done: Written, /) -> None:
        """Write, sync, and call ``done`` on the caller's loop: before this returns, or later through ``post``."""

    def close(self) -> None:
        """Finish the write under way, call its ``done``, and stop."""


def make_writer(sync: Sync, post: Post, watch: Watch | None = None) -> Writer:
    """Return the writer for a way to sync.

    With the caller's loop to watch, ADAPTIVE leaves syncs to the kernel if it takes them.
    """
    match sync:
        case Sync.ADAPTIVE:
            adaptive = AdaptiveWriter(ThreadWriter(post))
            return adaptive if watch is None else _kernel_writer(watch, adaptive)
        case Sync.INLINE:
            return InlineWriter()
        case Sync.THREAD:
            return ThreadWriter(post)
        case Sync.NEVER:
            return InlineWriter(lambda _file: None)
        case _:
            assert_never(sync)


def _kernel_writer(watch: Watch, other: Writer) -> Writer:
    try:
        sync = KernelSync()
    except OSError:
        return other
    return KernelWriter(sync, watch, other)


def write_durably(
    file: File, data: bytes, position: int, sync: Callable[[File], None] = lambda file: file.sync()
) -> LogError | None:
    """Write once and sync once.

    A failed write leaves at most a part of itself, which the next one overwrites; after a failed sync the content is unknown.
    """
    failure = _write(file, data, position)
    if failure is not None:
        return failure
    try:
        sync(file)
    except OSError as error:
        return _unknown(file, error)
    return None


def _write(file: File, data: bytes, position: int) -> Unavailable | None:
    try:
        write_all(file, data, position)
    except OSError as error:
        return Unavailable(f"cannot write {file.path}: {error.strerror}")
    return None


def _unknown(file: File, error: OSError) -> OutcomeUnknown:
    return OutcomeUnknown(f"cannot sync {file.path}: {error.strerror}; what it holds is not known")


class InlineWriter:
    """Writes on the caller's loop."""

    def __init__(self, sync: Callable[[File], None] = lambda file: file.sync()) -> None:
        self._sync = sync

    def write(self, file: File, data: bytes, position: int, done: Written, /) -> None:
        done(write_durably(file, data, position, self._sync))

    def close(self) -> None:
        """No write is ever under way."""


class ThreadWriter:
    """Writes in a thread of its own, which the first write starts."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._writes: SimpleQueue[tuple[File, bytes, int] | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._done: Written | None = None
        self._outcome: LogError | None = None

    def write(self, file: File, data: bytes, position: int, done: Written, /) -> None:
        self._done = done
        # The outcome of a thread that died is not known.
        self._outcome = OutcomeUnknown(f"the writer of {file.path} stopped")
        if self._thread is None:
            self._thread = Thread(target=self._work, name="log-writer", daemon=True)
            self._thread.start()
        self._writes.put((file, data, position))

    def close(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            self._writes.put(None)
            thread.join()
            self._report()

    def _work(self) -> None:
        while write := self._writes.get():
            try:
                self._outcome = write_durably(*write)
            finally:
                self._post(self._report)

    def _report(self) -> None:
        # Both the thread (by post) and close call this; close may be first.
        done, self._done = self._done, None
        if done is not None:
            done(self._outcome)


class AdaptiveWriter:
    """Writes inline while the disk is fast, else in the thread."""

    def __init__(self, thread: Writer, clock: Callable[[], float] = time.perf_counter) -> None:
        self.is_inline = True
        self._thread = thread
        self._clock = clock
        self._average = 0.0
        self._hold = FIRST_HOLD
        self._writes = 0  # since the last change of place

    def write(self, file: File, data: bytes, position: int, done: Written, /) -> None:
        self._writes += 1
        if self.is_inline:
            start = self._clock()
            error = write_durably(file, data, position)
            self._average += (self._clock() - start - self._average) / 8
            if self._average > SLOW_S:
                self._leave_loop()
            done(error)
        else:
            if self._writes >= self._hold:
                self._try_loop()
            self._thread.write(file, data, position, done)

    def close(self) -> None:
        self._thread.close()

    def _leave_loop(self) -> None:
        self._hold = FIRST_HOLD if self._writes > self._hold else min(2 * self._hold, LONGEST_HOLD)
        self.is_inline = False
        self._writes = 0

    def _try_loop(self) -> None:
        self.is_inline = True
        self._writes = 0
        self._average = SLOW_S


class KernelWriter:
    """Writes on the loop and has the kernel sync.

    After the kernel has refused a sync, or for a file that is none, ``other`` writes.
    """

    def __init__(self, sync: KernelSync, watch: Watch, other: Writer) -> None:
        self._sync = sync
        self._watch = watch
        self._other = other
        self._is_refused = False
        # The write that is being synced.
        self._file: File | None = None
        self._done: Written
        watch.add_reader(sync.fd, self._take_outcome)

    def write(self, file: File, data: bytes, position: int, done: Written, /) -> None:
        if self._is_refused or not isinstance(file, LocalFile):
            self._other.write(file, data, position, done)
            return
        failure = _write(file, data, position)
        if failure is not None:
            done(failure)
            return
        try:
            self._sync.start(file.fileno())
        except OSError:
            # Nothing has begun. What was written is written once more.
            self._is_refused = True
            self._other.write(file, data, position, done)
        else:
            self._file, self._done = file, done

    def close(self) -> None:
        self._watch.remove_reader(self._sync.fd)
        if self._file is not None:
            self._sync.wait()
            self._take_outcome()
        self._sync.close()
        self._other.close()

    def _take_outcome(self) -> None:
        error = self._sync.finish()
        file, self._file = self._file, None
        assert file is not None
        self._done(None if error is None else _unknown(file, error))
