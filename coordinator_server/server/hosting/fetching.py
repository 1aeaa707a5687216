"""Fetch and ListOffsets of internal topics: reads this server's own log in a separate thread, so that the loop never blocks.

    read     records are available: the thread reads them, one job at a time
    parked   fewer bytes than the client wants: wait until enough are durable, or until the maximum wait time
    search   the thread looks for records by their timestamps

A job is one request. A connection has one active job; the next starts when the previous answer has been sent. So a client that
requests much and reads nothing costs the memory of one answer (``fetch.max.bytes``). A parked job is a table entry and a
timer. While no job is parked, commits have no extra cost. All jobs of a connection end with it, also the one that the thread works
on, and all jobs end when the server stops.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import structlog

from coordinator_server.log.errors import LogError
from coordinator_server.log.shards import ShardId
from coordinator_server.log.store import Batches, FetchedLog, ReadRange, TimedOffset
from coordinator_server.machine.shard import CoordinatorResult, CoordinatorTimer
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.wire.connection import Connection
from coordinator_server.worker import Post, Worker
from protocol.error_codes import ErrorCode
from protocol.messages.fetch import FetchResponse, PartitionData
from protocol.messages.list_offsets import ListOffsetsResponse

log = structlog.get_logger(__name__)

T = TypeVar("T")

OnFound = Callable[[list[TimedOffset | ErrorCode | None]], None]

# Interval of the checks whether a client has read its last answer.
RETRY_MS: Final = 50


class Durable(Protocol):
    """The source of notifications that shards have grown."""

    on_durable: Callable[[list[ShardId]], None] | None


class Wanted(NamedTuple):
    """A partition to read: the range, and the response field for the records. ``upto`` returns the current end of the range."""

    data: PartitionData
    shard: ShardId
    fetch_offset: int
    max_bytes: int
    upto: Callable[[], int]


class Job:
    """A Fetch request in progress."""

    __slots__ = ("is_urgent", "max_bytes", "max_wait_ms", "min_bytes", "noted", "reply", "response", "wanted")

    def __init__(  # noqa: PLR0913 - a request's own fields
        self,
        reply: Exchange[FetchResponse],
        response: FetchResponse,
        wanted: list[Wanted],
        max_wait_ms: int,
        min_bytes: int,
        max_bytes: int,
        *,
        is_urgent: bool,
    ) -> None:
        self.reply = reply
        self.response = response
        self.wanted = wanted
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        # Answer with the available records, without waiting for more.
        self.is_urgent = is_urgent
        # The shards' durable bytes at the last check, less the bytes that were available then.
        self.noted = 0


class Search:
    """A ListOffsets request in progress.

    Each question is a shard and a time: the first record at or after it is sought, or, for None, the record with the largest
    timestamp. ``answer`` is called with the results and completes the reply.
    """

    __slots__ = ("answer", "questions", "reply")

    def __init__(
        self, reply: Exchange[ListOffsetsResponse], questions: Sequence[tuple[ShardId, int | None]], answer: OnFound
    ) -> None:
        self.reply = reply
        self.questions = questions
        self.answer = answer


class _GivenUp(Exception):
    """Nobody waits for the answer."""


class _Jobs:
    """The jobs of one connection."""

    __slots__ = ("active", "waiting")

    def __init__(self, active: Job | Search, waiting: deque[Job | Search]) -> None:
        self.active = active
        self.waiting = waiting


class Fetches:
    """All Fetch requests of a loop for internal topics, and its searches for offsets by time."""

    def __init__(
        self,
        store: FetchedLog,
        durable: Durable,
        timer: CoordinatorTimer,
        worker: Worker,
        post: Post,
    ) -> None:
        self._store = store
        self._durable = durable
        self._timer = timer
        self._worker = worker
        self._post = post
        # Connections with an active job, and the jobs that wait for it.
        self._busy: dict[Connection, _Jobs] = {}
        self._parked: dict[ShardId, dict[Job, None]] = {}
        self._is_closed = False

    def end_offset(self, shard: ShardId) -> int:
        """Return the end offset of a shard: all records before it are durable."""
        return self._store.end_offset(shard)

    def serve(self, job: Job | Search) -> None:
        """Answer a request, now or later."""
        connection = job.reply.connection
        jobs = self._busy.get(connection)
        if jobs is not None:
            jobs.waiting.append(job)
            return
        self._busy[connection] = _Jobs(job, deque())
        connection.park(self, partial(self._forget, connection))
        self._start(job)

    def close(self) -> None:
        """Start no more reads, and give up the present one."""
        self._is_closed = True
        self._worker.close()

    # On the loop.

    def _start(self, job: Job | Search) -> None:
        if isinstance(job, Search):
            self._worker.run(partial(self._search, job))
        else:
            self._begin(job)

    def _begin(self, job: Job) -> None:
        job.noted = self._taken(job)
        has_more = any(each.fetch_offset < each.upto() for each in job.wanted)
        if has_more:
            limits = [each.upto() for each in job.wanted]
            self._worker.run(partial(self._read, job, limits))
        elif job.is_urgent:
            self._answer(job)
        else:
            self._park(job)

    def _been_read(self, job: Job, ranges: list[Batches | ErrorCode | None]) -> None:
        if job.reply.connection not in self._busy:
            return
        size = 0
        for each, found in zip(job.wanted, ranges, strict=True):
            if isinstance(found, ErrorCode):
                each.data.error_code = found
                job.is_urgent = True
            elif found is not None:
                each.data.records = found.data
                size += len(found.data)
        if job.is_urgent or size >= min(job.min_bytes, job.max_bytes):
            self._answer(job)
        else:
            # These bytes count towards the minimum. They are read again together with the rest.
            job.noted -= size
            self._park(job)

    def _been_found(self, job: Search, found: list[TimedOffset | ErrorCode | None]) -> None:
        if job.reply.connection in self._busy:
            job.answer(found)
            self._go_on(job.reply)

    def _park(self, job: Job) -> None:
        if self._has_enough(job):
            job.is_urgent = True
            self._begin(job)
            return
        for each in job.wanted:
            self._parked.setdefault(each.shard, {})[job] = None
        self._durable.on_durable = self._grown
        self._timer.schedule(job, job.max_wait_ms, partial(self._waited, job))

    def _grown(self, shards: list[ShardId]) -> None:
        for shard in shards:
            for job in list(self._parked.get(shard, ())):
                if self._has_enough(job):
                    self._timer.cancel(job)
                    self._wake(job)

    def _waited(self, job: Job) -> CoordinatorResult[None]:
        self._wake(job)
        return CoordinatorResult(None)

    def _wake(self, job: Job) -> None:
        self._unpark(job)
        job.is_urgent = True
        self._begin(job)

    def _unpark(self, job: Job) -> None:
        for each in job.wanted:
            jobs = self._parked.get(each.shard)
            if jobs is not None:
                jobs.pop(job, None)
                if not jobs:
                    del self._parked[each.shard]
        if not self._parked:
            self._durable.on_durable = None

    def _forget(self, connection: Connection) -> None:
        """The connection has ended: so do its jobs. What the thread reads for it just now is dropped when it comes."""
        job = self._busy.pop(connection).active
        self._timer.cancel(job)
        self._timer.cancel(job.reply)
        if isinstance(job, Job):
            self._unpark(job)

    def _has_enough(self, job: Job) -> bool:
        return self._taken(job) - job.noted >= min(job.min_bytes, job.max_bytes)

    def _taken(self, job: Job) -> int:
        return sum([self._store.durable_bytes(each.shard) for each in job.wanted])

    def _answer(self, job: Job) -> None:
        for each in job.wanted:
            data = each.data
            if data.error_code:
                continue
            data.high_watermark = self._store.end_offset(each.shard)
            data.last_stable_offset = min(each.upto(), data.high_watermark)
        job.reply.complete(job.response)
        self._go_on(job.reply)

    def _go_on(self, answered: Exchange[Any]) -> CoordinatorResult[None]:
        """Start the connection's next request when the previous answer has been sent."""
        connection = answered.connection
        jobs = self._busy.get(connection)
        if jobs is None:
            pass
        elif connection.holds(answered):
            self._timer.schedule(answered, RETRY_MS, partial(self._go_on, answered))
        elif not jobs.waiting:
            del self._busy[connection]
            connection.unpark(self)
        else:
            jobs.active = jobs.waiting.popleft()
            # Posted, not called: a recursion could be hundreds of requests deep.
            self._post(partial(self._start_active, connection, jobs.active))
        return CoordinatorResult(None)

    def _start_active(self, connection: Connection, job: Job | Search) -> None:
        if connection in self._busy:
            self._start(job)

    # In the thread.

    def _check(self, job: Job | Search) -> None:
        """Raise _GivenUp if the connection has ended or the server stops. Asked often, because a stop waits for the thread."""
        if self._is_closed or job.reply.connection not in self._busy:
            raise _GivenUp

    def _read(self, job: Job, limits: list[int]) -> None:
        with suppress(_GivenUp):
            self._post(partial(self._been_read, job, self._ranges(job, limits)))

    def _ranges(self, job: Job, limits: list[int]) -> list[Batches | ErrorCode | None]:
        left = job.max_bytes
        ranges: list[Batches | ErrorCode | None] = []
        must_have_one = True
        for each, upto in zip(job.wanted, limits, strict=True):
            self._check(job)
            if each.fetch_offset >= upto or left <= 0:
                ranges.append(None)
                continue
            wanted = ReadRange(each.fetch_offset, min(each.max_bytes, left), upto, must_have_one)
            found = _attempt(each.shard, partial(self._store.read_range, each.shard, wanted))
            ranges.append(found)
            if isinstance(found, Batches) and found.data:
                left -= len(found.data)
                must_have_one = False
        return ranges

    def _search(self, job: Search) -> None:
        check = partial(self._check, job)
        found: list[TimedOffset | ErrorCode | None] = []
        with suppress(_GivenUp):
            for shard, ms in job.questions:
                check()
                latest = partial(self._store.latest_time, shard, check)
                found.append(_attempt(shard, latest if ms is None else partial(self._store.offset_for_time, shard, ms, check)))
            self._post(partial(self._been_found, job, found))


def _attempt(shard: ShardId, look: Callable[[], T]) -> T | ErrorCode:
    """Return the result of a read, or the client's error code. Catch every failure, so that the thread survives."""
    try:
        return look()
    except _GivenUp:
        raise
    except LogError as error:
        log.error("log-not-readable", shard=str(shard), why=str(error))
        return ErrorCode.KAFKA_STORAGE_ERROR
    except Exception:
        log.exception("log-not-readable", shard=str(shard))
        return ErrorCode.UNKNOWN_SERVER_ERROR
