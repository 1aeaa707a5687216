"""Where the journal is written and synced: on the caller's loop, in a thread, or wherever it costs less at the moment.

On the loop (``inline``) nothing is handed over, but the loop stands still for as long as the disk takes. In a thread the loop goes
on, but the thread may wait a whole switch interval of the interpreter (5 ms) after each system call until a busy loop lets it run.
``adaptive`` writes inline while that is quick, in the thread while it is not, and tries again from time to time:

    inline ──syncs take more than SLOW_S, on a moving average that weighs one as an eighth──► thread, for ``hold`` writes
    thread ──``hold`` writes later──► inline, where now a single slow one is enough to go back; then ``hold`` doubles

How long the thread's own syncs take says little: beside a busy loop it sees the interpreter's switch interval, not the disk.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum
from queue import SimpleQueue
from threading import Thread
from typing import Final, Protocol, assert_never

from coordinator_server.log.errors import LogError, OutcomeUnknown, Unavailable
from coordinator_server.log.storage import File, write_all

Done = Callable[[LogError | None], None]
Post = Callable[[Callable[[], None]], object]

SLOW_S: Final = 0.002
FIRST_HOLD: Final = 64
LONGEST_HOLD: Final = 4096


class Sync(Enum):
    """Where a write becomes durable; NEVER leaves that to the operating system (``log.flush = os``)."""

    ADAPTIVE = "adaptive"
    INLINE = "inline"
    THREAD = "thread"
    NEVER = "never"


class Writer(Protocol):
    """Makes one write durable at a time."""

    def write(self, file: File, data: bytes, position: int, done: Done, /) -> None:
        """Write, sync, and call ``done`` on the caller's loop: before this returns, or later through ``post``."""

    def close(self) -> None:
        """Settle what is under way, and stop."""


def make_writer(sync: Sync, post: Post) -> Writer:
    match sync:
        case Sync.ADAPTIVE:
            return AdaptiveWriter(ThreadWriter(post))
        case Sync.INLINE:
            return InlineWriter()
        case Sync.THREAD:
            return ThreadWriter(post)
        case Sync.NEVER:
            return InlineWriter(lambda _file: None)
        case _:
            assert_never(sync)


def write_durably(
    file: File, data: bytes, position: int, sync: Callable[[File], None] = lambda file: file.sync()
) -> LogError | None:
    """One write and one sync. A write that failed left at most a part of itself, to be overwritten; a sync that failed left nobody knows what."""
    try:
        write_all(file, data, position)
    except OSError as error:
        return Unavailable(f"cannot write {file.path}: {error.strerror}")
    try:
        sync(file)
    except OSError as error:
        return OutcomeUnknown(f"cannot sync {file.path}: {error.strerror}; what it holds is not known")
    return None


class InlineWriter:
    """On the caller's loop."""

    def __init__(self, sync: Callable[[File], None] = lambda file: file.sync()) -> None:
        self._sync = sync

    def write(self, file: File, data: bytes, position: int, done: Done, /) -> None:
        done(write_durably(file, data, position, self._sync))

    def close(self) -> None:
        """Nothing is ever under way."""


class ThreadWriter:
    """In a thread of its own, started with the first write."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._writes: SimpleQueue[tuple[File, bytes, int] | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._done: Done | None = None
        self._outcome: LogError | None = None

    def write(self, file: File, data: bytes, position: int, done: Done, /) -> None:
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
        # Posted by the thread, and called by close, which may come first.
        done, self._done = self._done, None
        if done is not None:
            done(self._outcome)


class AdaptiveWriter:
    """Inline while the disk is fast, else in the thread."""

    def __init__(self, thread: Writer, clock: Callable[[], float] = time.perf_counter) -> None:
        self.is_inline = True
        self._thread = thread
        self._clock = clock
        self._average = 0.0
        self._hold = FIRST_HOLD
        self._writes = 0  # since the last move

    def write(self, file: File, data: bytes, position: int, done: Done, /) -> None:
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
