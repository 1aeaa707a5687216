"""Slow work beside an event loop, in one thread that runs jobs one after another."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from itertools import count
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Protocol

Job = Callable[[], None]
Post = Callable[[Callable[[], None]], object]
"""Runs a callable on the caller's loop, from any thread."""


class Worker(Protocol):
    """Runs jobs one at a time."""

    def run(self, job: Job, /, *, delay: float = 0.0) -> None:
        """Run ``job`` after the jobs that were given before it, and not before ``delay`` seconds from now."""

    def close(self) -> None:
        """Drop the jobs that wait, and return when the running one is done."""


class ThreadWorker:
    """Runs jobs in a thread that the first one starts. If a job raises, the thread ends and calls ``on_death``."""

    def __init__(self, on_death: Callable[[], None]) -> None:
        self._jobs: SimpleQueue[tuple[Job | None, float]] = SimpleQueue()
        self._on_death = on_death
        self._thread: Thread | None = None
        self._is_closed = False

    def run(self, job: Job, /, *, delay: float = 0.0) -> None:
        if self._is_closed:
            return
        self._jobs.put((job, time.monotonic() + delay if delay else 0.0))
        if self._thread is None:
            self._thread = Thread(target=self._work, name="log-worker", daemon=True)
            self._thread.start()

    def close(self) -> None:
        self._is_closed = True
        thread, self._thread = self._thread, None
        if thread is not None:
            self._jobs.put((None, 0.0))
            thread.join()

    def _work(self) -> None:
        is_done = False
        try:
            self._take_jobs()
            is_done = True
        finally:
            if not is_done:
                self._on_death()

    def _take_jobs(self) -> None:
        later: list[tuple[float, int, Job]] = []
        order = count()
        while True:
            try:
                job, due = self._jobs.get(timeout=max(later[0][0] - time.monotonic(), 0.0) if later else None)
            except Empty:
                heapq.heappop(later)[2]()
                continue
            if self._is_closed or job is None:
                return
            if due:
                heapq.heappush(later, (due, next(order), job))
            else:
                job()
            # What a job has must not stay until the next one comes.
            del job
