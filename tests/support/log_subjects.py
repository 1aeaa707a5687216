"""Stores with their loops and the accidents that they have, for the rules that every store keeps."""

from __future__ import annotations

import asyncio
import errno
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, cast

from coordinator_server.log.errors import LogError
from coordinator_server.log.memory import MemoryStorage
from coordinator_server.log.postgresql.address import Address
from coordinator_server.log.postgresql.log import PostgresqlLog, open_postgresql_log
from coordinator_server.log.postgresql.session import ANSWER_S
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.log.store import Done, Failures
from tests.support.log import OpenLog, shard
from tests.support.postgresql import COUNTS, PostgresqlServer, Proxy
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


class Postgresql:
    """The log of one node in a real PostgreSQL, behind a proxy. Epochs are taken where a test gives them."""

    def __init__(
        self, server: PostgresqlServer, database: str = "", *, needs_standby: bool = False, answer_s: float = ANSWER_S
    ) -> None:
        self.server = server
        self.database = database or server.database()
        self.proxy = Proxy(server.socket_path)
        self._needs_standby = needs_standby
        self._answer_s = answer_s
        self.loop = asyncio.new_event_loop()
        self.store: Any = self.node()

    def node(self, node_id: int = 0) -> PostgresqlLog:
        """Open the log once more, as another node does."""
        address = Address(self.proxy.url(self.database), needs_standby=self._needs_standby)
        opening = open_postgresql_log(address, node_id=node_id, partitions=COUNTS, answer_s=self._answer_s)
        log = self.loop.run_until_complete(opening)
        return cast("PostgresqlLog", _Taking(self, log))

    def run(self) -> None:
        self.loop.run_until_complete(self.store.settled())
        self.loop.run_until_complete(asyncio.sleep(0))

    def reopen(self) -> None:
        self.store.close()
        self.store = self.node()

    def refuse(self, part: ShardId) -> None:
        # As the operator's own rule might: of this shard no large rows.
        self.sql(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$BEGIN RAISE EXCEPTION 'a row is too large' USING ERRCODE = '54000'; END$$"
        )
        self.sql(
            "CREATE TRIGGER refuse BEFORE INSERT ON log FOR EACH ROW "
            f"WHEN (new.sid = {self.store.sids[part]} AND length(new.data) > 100000) EXECUTE FUNCTION refuse()"
        )

    def doubt(self) -> None:
        self.proxy.loses_answer = True

    def sql(self, statement: str, *arguments: Any) -> list[Any]:
        """Run a statement beside the log."""
        return self.server.sql(statement, *arguments, database=self.database)

    def take(self, part: ShardId, epoch: int) -> None:
        """Let the shard have an epoch, as a take does, unless it has a newer one."""
        self.sql("UPDATE shard SET epoch = $2, resolution = 0 WHERE sid = $1 AND epoch < $2", self.store.sids[part], epoch)

    def close(self) -> None:
        self.store.close()
        self.run()
        self.proxy.close()
        self.loop.close()


class _Taking:
    """A store that takes each new epoch that it is given first."""

    def __init__(self, subject: Postgresql, store: PostgresqlLog) -> None:
        self._subject = subject
        self._store = store
        self._epochs: dict[ShardId, int] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def submit(self, appends: Sequence[Append], done: Done, /) -> None:
        for append in appends:
            if append.epoch > self._epochs.get(append.shard, 0):
                self._epochs[append.shard] = append.epoch
                self._subject.take(append.shard, append.epoch)
        self._store.submit(appends, done)


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
