"""Work that would stop the loop: a child process does it, and what comes of it enters as an ordinary write operation.

A thread would hold the interpreter's lock. The child gets a copy of the argument, and knows nothing else of the shard; the state goes on
changing meanwhile. So the caller has duties:

1. A task is a pure function of its argument: it may run twice, or in a child that dies.
2. The operation that gets the result checks that what it was made for is still so: the key's epoch goes with the argument, or with the operation.
3. What the task returns for the log is encoded there (``machine/block.py``, EncodedRecords), so that the loop neither encodes nor decodes it.
4. Nothing is remembered when the shard is given up. ``on_loaded`` schedules what is still to be done.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from coordinator_server.machine.shard import CoordinatorResult

Q = TypeVar("Q")
R = TypeVar("R")


class Task(NamedTuple, Generic[Q, R]):
    """A function that a child runs. It finds the Task by ``name``, ``package.module:NAME``; both types are ones that msgspec can encode."""

    name: str
    argument: type[Q]
    result: type[R]
    run: Callable[[Q], R]


class Failed(NamedTuple):
    """The task raised an error: our bug, which another try would meet again."""

    why: str


class CoordinatorExecutor(Protocol):
    """Tasks of one shard, by key."""

    def schedule(
        self, key: Hashable, task: Task[Q, R], argument: Q, operation: Callable[[R | Failed], CoordinatorResult[Any]], /
    ) -> None:
        """Have a task run; what was scheduled under this key before is not heard of. ``operation`` runs as a write operation, again if it is not written."""

    def cancel(self, key: Hashable, /) -> None:
        """Hear nothing of the task; nothing happens when there is none."""

    def is_scheduled(self, key: Hashable, /) -> bool: ...
