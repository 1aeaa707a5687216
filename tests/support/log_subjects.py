"""Stores with their loops and the accidents that they have, for the rules that every store keeps."""

from __future__ import annotations

import errno
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

from coordinator_server.log.errors import LogError
from coordinator_server.log.memory import MemoryStorage
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.log.store import Failures
from tests.support.log import OpenLog, shard
from tests.support.shared_store import Database, Fate, SharedLog
from tests.support.storage import SimulatedDisk

A, B, C = shard(0), shard(1), shard(2)


class Subject(Protocol):
    """A store and its loop."""

    @property
    def store(self) -> Any: ...

    def run(self) -> None:
        """Let everything happen that is under way."""

    def reopen(self) -> None:
        """End the process as kill -9 does, and start the next one."""


class Fallible(Subject, Protocol):
    """A store that has accidents."""

    def refuse(self, part: ShardId) -> None:
        """Let the next append to a shard be refused."""

    def doubt(self) -> None:
        """Let the answer to the next submit be lost."""


class Local:
    """A log in a directory of a simulated disk."""

    def __init__(self) -> None:
        self.disk = SimulatedDisk()
        self.log = OpenLog(self.disk)

    @property
    def store(self) -> Any:
        return self.log.store

    def run(self) -> None:
        self.log.run()

    def reopen(self) -> None:
        self.disk.mend()
        self.disk.kill()
        self.log = OpenLog(self.disk)

    def refuse(self, part: ShardId) -> None:
        self.disk.fail("reserve", errno.ENOSPC, str(part))

    def doubt(self) -> None:
        self.disk.fail("sync", errno.EIO, "journal")


class Memory:
    """A log whose files end with the process."""

    def __init__(self) -> None:
        self.log = OpenLog(cast("SimulatedDisk", MemoryStorage()))

    @property
    def store(self) -> Any:
        return self.log.store

    def run(self) -> None:
        self.log.run()

    def reopen(self) -> None:
        self.log.store.close()
        self.log = OpenLog(self.log.disk)


class Shared:
    """The log of one of the nodes that share a database."""

    def __init__(self) -> None:
        self.database = Database()
        self.posted: deque[Callable[[], None]] = deque()
        self.store: Any = SharedLog(self.database, self.posted.append)

    def run(self) -> None:
        while self.posted:
            self.posted.popleft()()

    def reopen(self) -> None:
        self.posted.clear()
        self.store = SharedLog(self.database, self.posted.append)

    def refuse(self, part: ShardId) -> None:
        # First all together, then one by one: the second statement is that of the first shard.
        self.database.fates.extend([Fate.IS_REFUSED] * (2 if part == A else 1))

    def doubt(self) -> None:
        self.database.fates.append(Fate.LOSES_ITS_ANSWER)


def submit(subject: Subject, *appends: Append) -> Mapping[ShardId, LogError]:
    """Submit, and wait for the outcomes: the failures by shard."""
    outcome: list[Failures | None] = []
    subject.store.submit(appends, outcome.append)
    subject.run()
    [failures] = outcome
    assert failures is None or failures
    return failures or {}


def resolve(subject: Subject, *appends: Append) -> Mapping[ShardId, LogError]:
    outcome: list[Failures | None] = []
    subject.store.resolve(appends, outcome.append)
    subject.run()
    [failures] = outcome
    return failures or {}


def kinds(failures: Mapping[ShardId, LogError]) -> dict[ShardId, type]:
    return {each: type(failure) for each, failure in failures.items()}
