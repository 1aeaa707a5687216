"""What waits for a connection that only reads ends with the connection: nothing is kept of it,
and nothing is done for it any more.
"""

from __future__ import annotations

import gc
import weakref
from collections import deque
from collections.abc import Callable
from typing import cast

import pytest

from coordinator_server.log.errors import LogError
from coordinator_server.log.shards import ShardId
from coordinator_server.log.store import Batches, ReadRange, TimedOffset
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.timers import ShardTimers, TimerQueue
from coordinator_server.server.apis.records import FETCH_API, LIST_OFFSETS_API
from coordinator_server.server.exchange.api_row import serve_row
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.hosting.fetching import Fetches, Job, Search, Wanted
from coordinator_server.server.wire.connection import Connection
from protocol.error_codes import ErrorCode
from protocol.messages.fetch import FetchResponse, PartitionData
from protocol.messages.list_offsets import ListOffsetsResponse
from tests.support.clock import ManualClock
from tests.support.turns import ManualLoop

SHARD = ShardId("__consumer_offsets", 0)
FOR_EVER_MS = 2**31 - 1
LATEST_MS = 99
API = serve_row(FETCH_API, lambda context, request, reply: None)
LIST_OFFSETS = serve_row(LIST_OFFSETS_API, lambda context, request, reply: None)


class Log:
    """A shard whose records are one byte each, and a thread that works when it is told to."""

    def __init__(self) -> None:
        self.end = 0
        self.on_durable: Callable[[list[ShardId]], None] | None = None
        self.work: deque[Callable[[], None]] = deque()
        self.reads = 0
        self.searches: list[int] = []
        self.batches = 0
        self.while_reading: Callable[[], None] = lambda: None
        # What a read finds, if it succeeds.
        self.found: Batches | None = None

    def end_offset(self, shard: ShardId, /) -> int:
        return self.end

    def durable_bytes(self, shard: ShardId, /) -> int:
        return self.end

    def read_range(self, shard: ShardId, wanted: ReadRange, /) -> Batches:
        self.reads += 1
        self.while_reading()
        if self.found is not None:
            return self.found
        raise LogError("not of this test")

    def offset_for_time(self, shard: ShardId, timestamp_ms: int, check: Callable[[], None], /) -> TimedOffset | None:
        """A search through three batches."""
        self.searches.append(timestamp_ms)
        for _ in range(3):
            check()
            self.batches += 1
            self.while_reading()
        return TimedOffset(timestamp_ms, timestamp_ms)

    def latest_time(self, shard: ShardId, check: Callable[[], None], /) -> TimedOffset | None:
        return self.offset_for_time(shard, LATEST_MS, check)

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
        reply: Exchange[FetchResponse] = Exchange(connection, API, context, 1, asked)
        connection.expect(reply)
        wanted = [Wanted(PartitionData(), SHARD, 0, 100, lambda: self.log.end)]
        self.fetches.serve(Job(reply, FetchResponse(), wanted, FOR_EVER_MS, 100, 1000, is_urgent=False))
        return weakref.ref(asked)

    def fetch_many(self, connection: Connection, fetch_offsets: list[int], max_bytes: int) -> FetchResponse:
        """One of several partitions, of which each has what the log has."""
        context = RequestContext("client", "192.0.2.1", 1, 4)
        reply: Exchange[FetchResponse] = Exchange(connection, API, context, 1, Asked())
        connection.expect(reply)
        response = FetchResponse()
        wanted = [Wanted(PartitionData(), SHARD, offset, 100, lambda: self.log.end) for offset in fetch_offsets]
        self.fetches.serve(Job(reply, response, wanted, 0, 0, max_bytes, is_urgent=False))
        self.work()
        return response

    def search(self, connection: Connection, times: list[int | None]) -> list[list[TimedOffset | ErrorCode | None]]:
        """A ListOffsets that needs the thread. Return the list that its answer will be in."""
        context = RequestContext("client", "192.0.2.1", 2, 4)
        reply: Exchange[ListOffsetsResponse] = Exchange(connection, LIST_OFFSETS, context, 1, Asked())
        connection.expect(reply)
        answers: list[list[TimedOffset | ErrorCode | None]] = []

        def answer(found: list[TimedOffset | ErrorCode | None]) -> None:
            answers.append(found)
            reply.complete(ListOffsetsResponse())

        self.fetches.serve(Search(reply, [(SHARD, ms) for ms in times], answer))
        return answers

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


def test_a_fetch_that_is_being_read_ends_with_its_connection(loop: Loop) -> None:
    """What the thread reads then is dropped when it comes."""
    loop.log.grow()
    connection = loop.connection()
    asked = [loop.fetch(connection) for _ in range(2)]
    loop.log.while_reading = lambda: connection.connection_lost(None)
    loop.work()

    assert (is_forgotten(*asked), loop.log.reads) == (True, 1)


def test_a_fetch_that_waits_for_the_thread_is_dropped_with_its_connection(loop: Loop) -> None:
    """It is not read any more."""
    loop.log.grow()
    connection = loop.connection()
    asked = loop.fetch(connection)
    connection.connection_lost(None)
    loop.work()

    assert (is_forgotten(asked), loop.log.reads) == (True, 0)


def test_other_waiting_fetches_are_still_woken(loop: Loop) -> None:
    """They are woken as before."""
    lost, kept = loop.connection(), loop.connection()
    loop.fetch(lost)
    asked = loop.fetch(kept)
    lost.connection_lost(None)
    for _ in range(100):
        loop.log.grow()
    loop.work()

    assert (loop.log.reads, is_forgotten(asked)) == (1, True)


def test_a_search_answers_in_the_order_of_its_questions(loop: Loop) -> None:
    answers = loop.search(loop.connection(), [5, None, 3])
    loop.work()

    assert answers == [[TimedOffset(ms, ms) for ms in (5, LATEST_MS, 3)]]


def test_one_search_of_a_connection_at_a_time(loop: Loop) -> None:
    """The next begins when the last one is answered, so what waits for the thread is bounded by the number of connections."""
    connection, other = loop.connection(), loop.connection()
    answers = [loop.search(connection, [each]) for each in range(3)]
    loop.search(other, [7])

    assert len(loop.log.work) == 2
    loop.work()
    assert [len(each) for each in answers] == [1, 1, 1]
    assert loop.log.searches == [0, 7, 1, 2]


def test_a_search_ends_with_its_connection(loop: Loop) -> None:
    """In the middle of a question, and those behind it do not begin."""
    connection = loop.connection()
    answers = [loop.search(connection, [each, each + 1]) for each in range(2)]
    loop.log.while_reading = lambda: connection.connection_lost(None)
    loop.work()

    assert (loop.log.searches, loop.log.batches, answers) == ([0], 1, [[], []])


def test_a_search_ends_with_the_server(loop: Loop) -> None:
    """A stop waits for the thread, so the thread gives up at once."""
    answers = loop.search(loop.connection(), list(range(1000)))
    loop.log.while_reading = loop.fetches.close
    loop.work()

    assert (loop.log.searches, loop.log.batches, answers) == ([0], 1, [])


@pytest.mark.parametrize(("max_bytes", "reads"), [(1, 1), (99, 1), (100, 1), (101, 2), (200, 2), (1000, 3)])
def test_partitions_are_read_until_the_response_is_full(loop: Loop, max_bytes: int, reads: int) -> None:
    """One with records is always read. Those without new records are not."""
    loop.log.end = 5
    loop.log.found = Batches(b"x" * 100, 5)

    loop.fetch_many(loop.connection(), [0, 5, 1, 2], max_bytes)

    assert loop.log.reads == reads


def test_a_parked_fetch_answers_with_the_high_watermark_of_its_answer(loop: Loop) -> None:
    """Records became durable while it waited."""
    connection = loop.connection()
    context = RequestContext("client", "192.0.2.1", 1, 4)
    reply: Exchange[FetchResponse] = Exchange(connection, API, context, 1, Asked())
    connection.expect(reply)
    data = PartitionData()
    wanted = [Wanted(data, SHARD, 0, 100, lambda: loop.log.end)]
    loop.fetches.serve(Job(reply, FetchResponse(), wanted, FOR_EVER_MS, 100, 1000, is_urgent=False))
    loop.log.found = Batches(b"", 0)
    for _ in range(100):
        loop.log.grow()
    loop.work()

    assert (data.high_watermark, data.last_stable_offset, data.error_code) == (loop.log.end, loop.log.end, 0)


def test_a_fetch_that_has_waited_is_answered_with_what_there_is() -> None:
    """Less than it wanted. It is not parked again."""
    loop, queue, clock = Loop(), TimerQueue(), ManualClock()
    timers = ShardTimers(queue, clock, lambda timer: cast(None, timer.operation()))
    loop.fetches = Fetches(loop.log, loop.log, timers, loop.log, loop.posted.append)
    loop.log.found = Batches(b"x", 1)
    connection = loop.connection()
    reply: Exchange[FetchResponse] = Exchange(connection, API, RequestContext("client", "192.0.2.1", 1, 4), 1, Asked())
    connection.expect(reply)
    data = PartitionData()
    loop.fetches.serve(
        Job(reply, FetchResponse(), [Wanted(data, SHARD, 0, 100, lambda: loop.log.end)], 500, 100, 1000, is_urgent=False)
    )
    loop.log.grow()
    loop.work()
    assert connection.unanswered

    clock.advance(500)
    queue.run(clock.now_ms())
    loop.work()

    assert (data.records, data.high_watermark) == (b"x", loop.log.end)
    assert not connection.unanswered
