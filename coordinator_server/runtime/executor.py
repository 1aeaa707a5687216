"""Runs the tasks of a loop's shards one at a time in a child process, started when the first task is scheduled.

No task is lost when a child dies or cannot be started: a new child runs the task again. Each task has its own back-off, so
that a task that kills its child rarely delays the others. Starting a child has a back-off too, reset when a child has
completed a task.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, Final, Protocol, TypeVar

import msgspec
import structlog

from coordinator_server.machine.executor import Failed, Task
from coordinator_server.machine.shard import Clock, CoordinatorResult
from coordinator_server.runtime.flush import Soon
from coordinator_server.runtime.outbox import RunOwn
from coordinator_server.runtime.timers import ShardTimers, Timer, TimerQueue
from protocol.error_codes import ErrorCode

log = structlog.get_logger(__name__)

Q = TypeVar("Q")
R = TypeVar("R")

LEAST_BACKOFF_MS: Final = 50
MOST_BACKOFF_MS: Final = 10_000
# Delay before a result is offered again whose records were not written.
RETRY_MS: Final = 1000

_NOTHING: Final[CoordinatorResult[None]] = CoordinatorResult(None)
_START: Final = "start"  # the timer key of the back-off for starting a child


class Done(msgspec.Struct, frozen=True):
    """The outcome of a task: an encoded result, or the reason for its failure."""

    result: bytes | None = None
    why: str = ""


class Child(Protocol):
    """A process that runs one task at a time."""

    def run(self, task: str, argument: bytes, /) -> None:
        """Start the task of this name. Later ``done`` or ``lost`` is called."""

    def kill(self) -> None:
        """Kill the process. No callback follows."""


StartChild = Callable[[Callable[[Done], None], Callable[[], None]], Child]
"""Starts a child. ``done`` is called with the outcome of each task, ``lost`` when the process has ended.

Raises OSError if no process can be started.
"""


class _Job:
    """A scheduled task. Its ``executor`` is None once it has been cancelled."""

    __slots__ = ("argument", "backoff_ms", "executor", "key", "operation", "task")

    def __init__(
        self,
        executor: ShardExecutor,
        key: Hashable,
        task: Task[Any, Any],
        argument: bytes,
        operation: Callable[[Any], CoordinatorResult[Any]],
    ) -> None:
        self.executor: ShardExecutor | None = executor
        self.key = key
        self.task = task
        self.argument = argument
        self.operation = operation
        self.backoff_ms = 0


class ExecutorQueue:
    """The queue of all tasks of a loop."""

    def __init__(self, start: StartChild, soon: Soon, timers: TimerQueue, clock: Clock) -> None:
        self._start = start
        self._soon = soon
        self._delays = ShardTimers(timers, clock, _fire)
        self._jobs: deque[_Job] = deque()
        self._running: _Job | None = None
        self._child: Child | None = None
        self._backoff_ms = 0
        self._is_closed = False

    def add(self, job: _Job) -> None:
        """Append a task. It never starts within this call, because the caller may be inside an operation."""
        self._jobs.append(job)
        self._soon(self._next)

    def close(self) -> None:
        """Kill the child and start no other. Idempotent."""
        self._is_closed = True
        self._delays.cancel_all()
        child, self._child = self._child, None
        if child is not None:
            child.kill()

    def _next(self) -> None:
        jobs = self._jobs
        while jobs and jobs[0].executor is None:
            jobs.popleft()
        if self._running is not None or not jobs or self._is_closed:
            return
        if self._child is None:
            if self._delays.is_scheduled(_START):
                return
            try:
                self._child = self._start(self._done, self._lost)
            except OSError as error:
                self._back_off(str(error))
                return
        self._running = job = jobs.popleft()
        self._child.run(job.task.name, job.argument)

    def _done(self, done: Done) -> None:
        if self._backoff_ms:
            self._backoff_ms = 0
            log.info("tasks-go-on")
        job, self._running = self._running, None
        self._soon(self._next)
        if job is None or job.executor is None:
            return
        if done.result is None:
            log.error("task-failed", task=job.task.name, why=done.why)
            outcome: Any = Failed(done.why)
        else:
            outcome = msgspec.msgpack.decode(done.result, type=job.task.result)
        self._finish(job, outcome)

    def _lost(self) -> None:
        self._child = None
        job, self._running = self._running, None
        if self._is_closed:
            return
        if job is not None:
            job.backoff_ms = _longer(job.backoff_ms)
            self._delays.schedule(job, job.backoff_ms, partial(self._again, job))
        self._back_off("its process ended", None if job is None else job.task.name)

    def _back_off(self, why: str, task: str | None = None) -> None:
        """Wait before the next child is started. Log once until a child has completed a task."""
        if not self._backoff_ms:
            log.error("child-lost", task=task, why=why, action="tasks are run again, by another one")
        self._backoff_ms = _longer(self._backoff_ms)
        self._delays.schedule(_START, self._backoff_ms, self._started_again)

    def _started_again(self) -> CoordinatorResult[None]:
        self._next()
        return _NOTHING

    def _again(self, job: _Job) -> CoordinatorResult[None]:
        self.add(job)
        return _NOTHING

    def _finish(self, job: _Job, outcome: Any) -> CoordinatorResult[None]:
        if job.executor is not None:
            job.executor.run(job.task.name, partial(job.operation, outcome), partial(self._concluded, job, outcome))
        return _NOTHING

    def _concluded(self, job: _Job, outcome: Any, error: ErrorCode | None) -> None:
        """Remove the job if its result has been written; otherwise offer the result again later, unless cancelled by then."""
        if error is None:
            if job.executor is not None:
                job.executor.cancel(job.key)
        elif job.executor is not None:
            self._delays.schedule(job, RETRY_MS, partial(self._finish, job, outcome))


class ShardExecutor:
    """The CoordinatorExecutor of one shard. ``run`` runs the operations that get the results."""

    __slots__ = ("_jobs", "_queue", "run")

    def __init__(self, queue: ExecutorQueue, run: RunOwn) -> None:
        self._queue = queue
        self._jobs: dict[Hashable, _Job] = {}
        self.run = run

    def schedule(
        self, key: Hashable, task: Task[Q, R], argument: Q, operation: Callable[[R | Failed], CoordinatorResult[Any]], /
    ) -> None:
        """Schedule a task; it replaces the task that ``key`` had."""
        self.cancel(key)
        job = self._jobs[key] = _Job(self, key, task, msgspec.msgpack.encode(argument), operation)
        self._queue.add(job)

    def cancel(self, key: Hashable, /) -> None:
        """Discard the outcome of the task of ``key``, if any."""
        job = self._jobs.pop(key, None)
        if job is not None:
            job.executor = None

    def is_scheduled(self, key: Hashable, /) -> bool:
        """Return whether ``key`` has a task whose result has not been written yet."""
        return key in self._jobs

    def close(self) -> None:
        """Cancel all tasks of the shard."""
        for key in list(self._jobs):
            self.cancel(key)


def _longer(backoff_ms: int) -> int:
    return min(max(2 * backoff_ms, LEAST_BACKOFF_MS), MOST_BACKOFF_MS)


def _fire(timer: Timer) -> None:
    timer.operation()
