"""What waits for a connection that only reads ends with the connection: nothing is kept of it, and nothing is done for it any more."""

from __future__ import annotations

import gc
import weakref
from collections import deque
from collections.abc import Callable

import pytest

from coordinator_server.log.errors import LogError
from coordinator_server.log.read.range_reader import Batches, ReadRange
from coordinator_server.log.read.shard_reader import TimedOffset
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.timers import ShardTimers, TimerQueue
from coordinator_server.server.api_row import serve_row
from coordinator_server.server.apis.records import FETCH_API
from coordinator_server.server.connection import Connection, PendingReply
from coordinator_server.server.fetching import Fetches, Job, Wanted
from protocol.messages.fetch import FetchResponse, PartitionData
from tests.support.clock import ManualClock
from tests.support.turns import ManualLoop

SHARD = ShardId("__consumer_offsets", 0)
FOR_EVER_MS = 2**31 - 1
API = serve_row(FETCH_API, lambda context, request, reply: None)


class Log:
    """A shard whose records are one byte each, and a thread that works when it is told to."""

    def __init__(self) -> None:
        self.end = 0
        self.on_durable: Callable[[list[ShardId]], None] | None = None
        self.work: deque[Callable[[], None]] = deque()
        self.reads = 0

    def end_offset(self, shard: ShardId, /) -> int:
        return self.end

    def durable_bytes(self, shard: ShardId, /) -> int:
        return self.end

    def read_range(self, shard: ShardId, wanted: ReadRange, /) -> Batches:
        self.reads += 1
        raise LogError("not of this test")

    def offset_for_time(self, shard: ShardId, timestamp_ms: int, /) -> TimedOffset | None:
        raise NotImplementedError

    def latest_time(self, shard: ShardId, /) -> TimedOffset | None:
        raise NotImplementedError

    def run(self, work: Callable[[], None], /, *, delay: float = 0) -> None:
        self.work.append(work)

    def close(self) -> None:
        """Nothing runs."""

    def grow(self) -> None:
        self.end += 1
        if self.on_durable is not None:
            self.on_durable([SHARD])


class Asked:
    """Stands for a request, and so for all that is kept of it."""


class Loop:
    def __init__(self) -> None:
        self.log = Log()
        self.posted: deque[Callable[[], None]] = deque()
        self.shared = ManualLoop()
        clock = ManualClock()
        self.timers = ShardTimers(TimerQueue(), clock, lambda timer: None)
        self.fetches = Fetches(self.log, self.log, self.timers, self.log, self.posted.append)

    def connection(self) -> Connection:
        return self.shared.connect(lambda *_: True)[0]

    def fetch(self, connection: Connection) -> weakref.ref[Asked]:
        """One that waits for as long as may be."""
        context = RequestContext("client", "192.0.2.1", 1, 4)
        asked = Asked()
        reply: PendingReply[FetchResponse] = PendingReply(connection, API, context, 1, asked)
        connection.expect(reply)
        wanted = [Wanted(PartitionData(), SHARD, 0, 100, lambda: self.log.end)]
        self.fetches.serve(Job(reply, FetchResponse(), wanted, FOR_EVER_MS, 100, 1000, is_urgent=False))
        return weakref.ref(asked)

    def work(self) -> None:
        """The thread does what it has to, and the loop what that leads to."""
        while self.log.work or self.posted:
            (self.log.work or self.posted).popleft()()


def is_forgotten(*asked: weakref.ref[Asked]) -> bool:
    gc.collect()
    return [each() for each in asked] == [None] * len(asked)


@pytest.fixture
def loop() -> Loop:
    return Loop()


def test_a_parked_fetch_and_those_behind_it(loop: Loop) -> None:
    connection = loop.connection()
    asked = [loop.fetch(connection) for _ in range(3)]
    connection.connection_lost(None)

    assert is_forgotten(*asked)
    assert loop.log.on_durable is None


def test_one_that_is_being_read(loop: Loop) -> None:
    """What the thread reads then is dropped when it comes."""
    loop.log.grow()
    connection = loop.connection()
    asked = [loop.fetch(connection) for _ in range(2)]
    connection.connection_lost(None)
    loop.work()

    assert (is_forgotten(*asked), loop.log.reads) == (True, 1)


def test_others_go_on(loop: Loop) -> None:
    """They are woken as before."""
    lost, kept = loop.connection(), loop.connection()
    loop.fetch(lost)
    asked = loop.fetch(kept)
    lost.connection_lost(None)
    for _ in range(100):
        loop.log.grow()
    loop.work()

    assert (loop.log.reads, is_forgotten(asked)) == (1, True)
