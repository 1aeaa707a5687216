"""Tasks: long computations that run in a child process instead of blocking the loop.

A thread would hold the interpreter's lock. The child gets a copy of the argument and nothing else of the shard. The
result enters the shard as an ordinary write operation; the state may have changed in the meantime. The caller's duties:

1. Make the task a pure function of its argument. It may run twice, or in a child that dies.
2. In the operation that gets the result, check that the result still applies: pass the key's epoch with the argument or
   with the operation.
3. Encode in the task what it returns for the log (``machine/block.py``, EncodedRecords), so that the loop neither encodes
   nor decodes it.
4. In ``on_loaded``, schedule the tasks that are still needed: unloading a shard discards its tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from coordinator_server.machine.shard import CoordinatorResult

Q = TypeVar("Q")
R = TypeVar("R")


class Task(NamedTuple, Generic[Q, R]):
    """A function that a child process runs.

    The child imports the Task by ``name`` (``package.module:NAME``). msgspec must be able to encode both types.
    """

    name: str
    argument: type[Q]
    result: type[R]
    run: Callable[[Q], R]


class Failed(NamedTuple):
    """The outcome of a task that raised an error. It is our bug, so the task is not retried."""

    why: str


class CoordinatorExecutor(Protocol):
    """The tasks of one shard, by key."""

    def schedule(
        self, key: Hashable, task: Task[Q, R], argument: Q, operation: Callable[[R | Failed], CoordinatorResult[Any]], /
    ) -> None:
        """Schedule a task; the outcome of an earlier task with the same key is discarded.

        ``operation`` gets the outcome and runs as a write operation. It is repeated if its records are not written.
        """

    def cancel(self, key: Hashable, /) -> None:
        """Discard the outcome of the task. Do nothing if the key has no task."""

    def is_scheduled(self, key: Hashable, /) -> bool: ...
