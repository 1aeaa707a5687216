"""The log of one node in a database that nodes share: ``LogStore``.

    opened    ``acquire`` has the newest layer of a shard that this node owns, and what comes after it (loads.py). From then on the
              loop reads the shard from these
    owned     submits and resolutions, one statement each, over one session
    left      ``forget``, or another owner's epoch was found: whatever is read of it comes from the database

Everything runs on the caller's loop but for reads of what is not in memory, for which ``Reader`` has a thread. A statement is a
task; a request is not. While the database is away, submits wait for it.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, TypeVar

from coordinator_server.kinds import CATALOG
from coordinator_server.log.errors import Diverged, Fenced, LogError, OutcomeUnknown, Unavailable
from coordinator_server.log.memory import MemoryStorage
from coordinator_server.log.postgresql.address import Address
from coordinator_server.log.postgresql.appends import Appends, Pending
from coordinator_server.log.postgresql.checks import check_clock, check_connection, check_rights
from coordinator_server.log.postgresql.inspection import inspect
from coordinator_server.log.postgresql.layers import LayerCopies
from coordinator_server.log.postgresql.loads import Loads
from coordinator_server.log.postgresql.objects import Objects, Unanswered, below
from coordinator_server.log.postgresql.reads import Reads
from coordinator_server.log.postgresql.retention import StoreRetention
from coordinator_server.log.postgresql.rows import SHARD_ROW, Row
from coordinator_server.log.postgresql.schema import Shared, open_tables
from coordinator_server.log.postgresql.session import ANSWER_S, OnConnect, Session
from coordinator_server.log.postgresql.tails import Tail
from coordinator_server.log.shards import Append, Ownership, ShardEnd, ShardId
from coordinator_server.log.statement_counts import StatementCounts
from coordinator_server.log.store import (
    Done,
    History,
    Meta,
    OnReleased,
    OnSealed,
    OnTaken,
    Retention,
    RetentionRule,
)
from coordinator_server.log.store_paths import StoreName
from coordinator_server.log.store_state import StoreState
from coordinator_server.log.submit_counts import SubmitCounts
from protocol.record_batch import iter_batches

T = TypeVar("T")

CATALOG_SHARD: Final = ShardId(CATALOG.topic, 0)
_CLOSED: Final = Unavailable("the log is closed")
_RETRY_S: Final = 0.2
_KEEP_LAYERS_IN: Final = "UPDATE meta SET objects = $1 WHERE objects <> $1 RETURNING objects"
_TOPICS: Final = "SELECT DISTINCT topic FROM shard WHERE next_offset > 0"


async def open_postgresql_log(
    address: Address,
    *,
    node_id: int,
    partitions: Mapping[str, int],
    cluster_id: str | None = None,
    answer_s: float = ANSWER_S,
    copies: LayerCopies | None = None,
) -> PostgresqlLog:
    """Return the log in a database, for the running loop. Tables are made if there are none.

    ``partitions`` by topic are those of the configuration. A statement without an answer for ``answer_s`` is in doubt. Copies of
    layers are in memory if no other place is given.

    Raises LogError (exit code 1) if the database cannot be used, and WrongDirectory (exit code 2) if it is another one than the
    command line or the properties mean.
    """
    found: list[Shared] = []

    async def on_first(connection: Any) -> None:
        await check_connection(connection, needs_standby=address.needs_standby)
        await check_clock(connection)
        found.append(await open_tables(connection, node_id=node_id, partitions=partitions, cluster_id=cluster_id))
        await check_rights(connection)

    first = Session(address, f"coordinator-server node {node_id} start", on_first)
    try:
        topics = await first.read(_TOPICS, waits=False)
    finally:
        first.close()
    copies = copies or LayerCopies(MemoryStorage(), "/")
    log = PostgresqlLog(address, found[-1], {topic for (topic,) in topics}, copies, answer_s=answer_s)
    await log.connect()
    return log


class PostgresqlLog:
    """LogStore over the tables. ``topics`` have records at the start."""

    def __init__(
        self, address: Address, shared: Shared, topics: set[str], copies: LayerCopies, *, answer_s: float = ANSWER_S
    ) -> None:
        self.address = address
        self.meta: Meta = shared.meta
        self.submits = SubmitCounts()
        self.statements: dict[str, StatementCounts] = {}
        self.failure: OutcomeUnknown | None = None
        self._shared = shared
        self._topics = topics
        self._answer_s = answer_s
        self._loop = asyncio.get_running_loop()
        name = f"coordinator-server node {shared.meta.node_id}"
        self._writing = self.session(f"{name} writes", self._prepare)
        self._loading = self.session(f"{name} loads")
        self._tails: dict[ShardId, Tail] = {}
        self._loads = Loads(self._loading, self.session(f"{name} prepares"), shared.sids, copies)
        self._reads = reads = Reads(self._tails, shared.sids, partial(self.session, f"{name} reads"), copies)
        # LoadingLog and FetchedLog.
        self.read, self.checkpoint, self.compacted_to = reads.read, reads.checkpoint, reads.compacted_to
        self.end_offset, self.end_time, self.durable_bytes = reads.end_offset, reads.end_time, reads.durable_bytes
        self.read_range, self.offset_for_time, self.latest_time = reads.read_range, reads.offset_for_time, reads.latest_time
        self._appends = Appends(self._writing)
        self._opening: dict[ShardId, Ownership] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_busy = self._is_closed = False

    def session(self, name: str, then: OnConnect | None = None) -> Session:
        """Return a session with the same database, whose connections are checked, and then given to ``then``.

        Its statements are counted in ``statements``, by the last word of its name.
        """

        async def on_connect(connection: Any) -> None:
            await check_connection(connection, needs_standby=self.address.needs_standby)
            cluster_id = await connection.fetchval("SELECT cluster_id FROM meta")
            if cluster_id != self.meta.cluster_id:
                raise LogError(f"the database has the cluster {cluster_id}, not {self.meta.cluster_id}")
            if then is not None:
                await then(connection)

        counts = self.statements.setdefault(name.rpartition(" ")[2], StatementCounts())
        return Session(self.address, name, on_connect, answer_s=self._answer_s, counts=counts)

    async def inspect(self) -> StoreState:
        """Ask the database about itself, over a connection of its own. Raises LogError."""
        session = self.session(f"coordinator-server node {self.meta.node_id} inspects")
        try:
            return await inspect(session, self.address)
        finally:
            session.close()

    async def keep_layers_in(self, url: str) -> None:
        """Let the files of new layers go below a URL of an object store, or to the database if it is empty.

        Raises ConfigError, and LogError if they cannot be written there. A store that does not answer is no reason not to start.
        """
        if url:
            with suppress(Unanswered):
                await asyncio.to_thread(Objects(url).check, secrets.token_hex(8))
        await self._writing.write(_KEEP_LAYERS_IN, below(url, self.meta.cluster_id), waits=False)

    async def connect(self) -> None:
        """Open the connection that writes. Raises LogError."""
        await self._writing.read("SELECT 1", waits=False)

    # Ownership.

    @property
    def sids(self) -> Mapping[ShardId, int]:
        """The number of each shard in the tables."""
        return self._shared.sids

    @property
    def refusal(self) -> str | None:
        """Why the database cannot be written at the moment; None while there is a connection."""
        return self._writing.refusal

    def acquire(self, owned: Ownership, done: OnTaken, /) -> None:
        """Read a shard that this node owns since that epoch, however long the database is away; then ``read`` and its siblings
        answer at once. Call it before the runtime loads the shard.

        ``done`` is called on the loop. It gets Fenced if the shard has another epoch, DamagedLog if rows are missing or damaged,
        and Unavailable if ``forget`` came first.
        """
        self._opening[owned.shard] = owned
        self._start(self._open(owned), done)

    def prepare(self, shards: Sequence[ShardId], done: Callable[[], None], /) -> None:
        """Read shards while others own them, so that ``acquire`` has little left to read. ``done`` is called on the loop."""
        self._start(self._loads.prepare(shards), lambda _: done())

    def forget(self, shards: Sequence[ShardId], done: Callable[[], None], /) -> None:
        """Leave shards to other owners: nothing of them stays in memory. ``done`` is called at once."""
        for shard in shards:
            self._opening.pop(shard, None)
            self._tails.pop(shard, None)
        done()

    def release(self, shards: Sequence[ShardId], done: OnReleased, /) -> None:
        """Say how far shards are durable: the database has all of them."""
        ends = [ShardEnd(shard, 0, 0, self._tails[shard].end) for shard in shards if shard in self._tails]
        self._loop.call_soon(done, [end for end in ends if end.offset])

    def take(self, ends: Sequence[ShardEnd], done: OnTaken, /) -> None:
        """Open shards that end where another loop of this node has released them, at the epochs that they have."""
        self._start(self._take(ends), done)

    # AppendingLog.

    def submit(self, appends: Sequence[Append], done: Done, /) -> None:
        """Write the batches with one statement."""
        if self._is_busy:
            raise RuntimeError("submit comes after the done of the one before")
        if self._is_closed:
            self._loop.call_soon(done, {append.shard: _CLOSED for append in appends})
            return
        self._is_busy = True
        self._start(self._submit(self._pending(appends), time.monotonic()), partial(self._submitted, done))

    def resolve(self, appends: Sequence[Append], done: Done, /) -> None:
        """Find out what became of appends in doubt, by a write. It waits for the database."""
        self._start(self._resolve(self._pending(appends)), lambda failures: done(failures or None))

    # The rest of LogStore.

    def seal(self, done: OnSealed, /) -> None:
        """Say how far opened shards are durable: rows never change."""
        self.write_out(done)

    def write_out(self, done: OnSealed, /) -> None:
        """Say how far opened shards are durable: everybody reads the same rows."""
        ends = {shard: tail.end for shard, tail in self._tails.items() if tail.end}
        self._loop.call_soon(done, _CLOSED if self._is_closed else ends)

    def retention(self, history: History, rule: RetentionRule, /) -> Retention:
        """Return the job that removes history: that of the node that owns the catalog, for all nodes."""
        return StoreRetention(StoreName(*self.address), lambda: CATALOG_SHARD in self._tails, history, rule)

    def topics(self) -> set[str]:
        """Return the topics that have records, as of the start, and those that this node has written since."""
        return set(self._topics)

    def login_key(self) -> bytes:
        """Return the secret that logins use: one for all nodes."""
        return self._shared.login_key

    def when_failed(self, _on_failure: Callable[[OutcomeUnknown], None], /) -> None:
        """Nothing fails that no submit waits for."""

    def close(self) -> None:
        """Take no more submits, and end the connections."""
        self._is_closed = True
        self._appends.close()
        self._writing.close()
        self._loads.close()
        self._reads.close()

    async def settled(self) -> None:
        """Return when nothing is under way."""
        while self._tasks:
            await asyncio.wait(list(self._tasks))
            await asyncio.sleep(0)

    # Internal.

    async def _prepare(self, connection: Any) -> None:
        await self._appends.prepare(connection)

    def _start(self, work: Coroutine[Any, Any, T], done: Callable[[T], None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)

        def finished(task: asyncio.Task[T]) -> None:
            self._tasks.discard(task)
            if not task.cancelled():
                done(task.result())

        task.add_done_callback(finished)

    def _pending(self, appends: Iterable[Append]) -> list[Pending]:
        pending = []
        for shard, epoch, at, data in appends:
            end, end_ms = at, -1
            for _, header in iter_batches(data):
                if header.base_offset != end:
                    raise ValueError(f"not a batch at offset {end}")
                end, end_ms = header.next_offset, header.max_timestamp
            tail = self._tails.get(shard)
            resolution = tail.resolutions if tail is not None and tail.epoch == epoch else 0
            pending.append(Pending(shard, self.sids[shard], epoch, resolution, Row(at, end, data), end_ms))
        pending.sort(key=lambda each: each.sid)
        return pending

    async def _submit(self, rows: list[Pending], began: float) -> dict[ShardId, LogError]:
        for each in rows:
            self.submits.count_batch(len(each.row.data))
        failures = await self._appends.submit(rows)
        self._note(rows, failures)
        refused = next((each for each in failures.values() if isinstance(each, Unavailable)), None)
        if refused is not None:
            self.submits.count_refusal(str(refused), time.monotonic())
        elif not failures:
            self.submits.count_submit(time.monotonic() - began)
        return failures

    def _submitted(self, done: Done, failures: dict[ShardId, LogError]) -> None:
        self._is_busy = False
        done(failures or None)

    async def _resolve(self, rows: list[Pending]) -> dict[ShardId, LogError]:
        failures = await self._appends.resolve(rows)
        for each in rows:
            if not isinstance(failures.get(each.shard), Fenced | Diverged | OutcomeUnknown):
                self._tail(each).resolutions = each.resolution + 1
        self._note(rows, failures)
        return failures

    def _note(self, rows: Iterable[Pending], failures: Mapping[ShardId, LogError]) -> None:
        for each in rows:
            failure = failures.get(each.shard)
            if failure is None:
                self._topics.add(each.shard.topic)
                self._tail(each).append(each.row, each.end_ms)
            elif isinstance(failure, Fenced):
                self.forget([each.shard], lambda: None)

    def _tail(self, row: Pending) -> Tail:
        tail = self._tails.get(row.shard)
        if tail is None or tail.epoch != row.epoch:
            tail = self._tails[row.shard] = Tail(row.shard, row.row.base_offset, row.epoch)
        return tail

    async def _open(self, owned: Ownership) -> LogError | None:
        while self._opening.get(owned.shard) is owned and not self._is_closed:
            try:
                tail = await self._loads.tail(owned)
            except (Unavailable, OutcomeUnknown):
                await asyncio.sleep(_RETRY_S)
            except LogError as error:
                return error
            else:
                if self._opening.get(owned.shard) is owned:
                    del self._opening[owned.shard]
                    self._tails[owned.shard] = tail
                    return None
        return _CLOSED if self._is_closed else Unavailable(f"{owned} is not wanted any more")

    async def _take(self, ends: Sequence[ShardEnd]) -> LogError | None:
        for end in ends:
            try:
                [(epoch, *_, offset)] = await self._loading.read(SHARD_ROW, self.sids[end.shard])
            except LogError as error:
                return error
            if offset != end.offset:
                return Diverged(f"{end.shard} ends at {offset}, and was released at {end.offset}")
            owned = Ownership(end.shard, epoch)
            self._opening[end.shard] = owned
            refused = await self._open(owned)
            if refused is not None:
                return refused
        return None
