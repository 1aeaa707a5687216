"""A simulated store that several nodes share, as a database with a standby would be: nodes send statements, and any may go wrong.

    Database    the rows, the epoch and the end of each shard, and what of it the standby has
    Fate        what becomes of one statement on its way there and back
    SharedLog   the log of one node (AppendingLog, LoadingLog, FetchedLog, and what of MaintainedLog it can do)

An append is accepted only at the epoch and the end that its shard has. An epoch is that of the owner, and a number that each
resolution raises: so a statement that arrives after its outcome was resolved writes nothing. A statement is durable when the
standby has it and the answer came without a warning; anything else is unknown, but for errors that say that nothing was written.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, TypeVar

from coordinator_server.log.errors import Diverged, Fenced, LogError, OutcomeUnknown, Unavailable
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.log.store import Batches, Check, Checkpoint, Done, OnSealed, ReadRange, TimedOffset
from protocol.record_batch import iter_batches, iter_records, read_header
from tests.support.shared_layers import LayerRows

T = TypeVar("T")

Epoch = tuple[int, int]
NEVER: Epoch = (-1, 0)
MAX_ROW_BYTES = 100_000


class Fate(Enum):
    """What becomes of a statement."""

    RUNS = "it runs, the standby has it, and the answer arrives"
    IS_LOST = "the connection is lost before it runs"
    LOSES_ITS_ANSWER = "it runs, and the connection is lost before the answer"
    RUNS_TWICE = "it runs, is sent again, and the second answer arrives"
    IS_LATE = "the connection is lost, and it runs after the next statement"
    IS_REFUSED = "the database ends it: a deadlock, say"
    IS_NOT_REPLICATED = "it runs, and a warning says that the standby has not got it"


class Row(NamedTuple):
    """An append as a statement has it."""

    shard: ShardId
    epoch: Epoch
    at: int
    end: int
    data: bytes


class Shard:
    """A shard of the database. What is before ``start`` was removed (``shared_layers.py``): nobody but a test may look at it."""

    def __init__(self) -> None:
        self.epoch = NEVER
        self.end = self.start = 0
        self.batches: list[bytes] = []

    def copy(self) -> Shard:
        copied = Shard()
        copied.epoch, copied.end, copied.start, copied.batches = self.epoch, self.end, self.start, self.batches[:]
        return copied


class Database:
    """All rows. ``fates`` are those of the next statements; without one a statement runs.

    ``membership`` are the rows of nodes and owners (``shared_members.py``), ``layers`` those of layers: copied as a whole.
    """

    def __init__(self) -> None:
        self.shards: dict[ShardId, Shard] = {}
        self.membership: Any = None
        self.layers = LayerRows({})
        self.loaded_from_layers = 0
        self.fates: deque[Fate] = deque()
        self.statements = 0
        self._standby: dict[ShardId, Shard] = {}
        self._membership_there: Any = None
        self._layers_there = self.layers.copy()
        # What the standby has not got.
        self._changed: dict[ShardId, None] = {}
        # After so many further statements what is late runs.
        self.lateness = 1
        self._late: list[tuple[int, Callable[[], object]]] = []

    def shard(self, shard: ShardId) -> Shard:
        """A shard that is to be changed."""
        self._changed[shard] = None
        return self.shards.setdefault(shard, Shard())

    def replicate(self) -> None:
        """The standby has everything."""
        if self._changed:
            self._standby |= {shard: self.shards[shard].copy() for shard in self._changed}
            self._changed = {}
        self._membership_there = self.membership and self.membership.copy()
        if self.layers.term:
            self._layers_there = self.layers.copy()

    def fail_over(self) -> None:
        """The standby is the database now: what it has not got is lost."""
        self.shards = {shard: there.copy() for shard, there in self._standby.items()}
        self._changed = {}
        self.membership = self._membership_there and self._membership_there.copy()
        self.layers = self._layers_there.copy()

    def arrive(self) -> None:
        """Run what was under way for so long."""
        late, self._late = self._late, []
        for _, statement in late:
            statement()

    def run(self, statement: Callable[[], T]) -> T:
        """Run a statement by its fate. Return what it says. Raises Unavailable and OutcomeUnknown."""
        self.statements += 1
        if not self.fates and not self._late:
            found = statement()
            self.replicate()
            return found
        fate = self.fates.popleft() if self.fates else Fate.RUNS
        late = [each for due, each in self._late if due <= self.statements]
        self._late = [each for each in self._late if each[0] > self.statements]
        try:
            return self._run(statement, fate)
        finally:
            for each in late:
                each()

    def _run(self, statement: Callable[[], T], fate: Fate) -> T:
        if fate is Fate.IS_REFUSED:
            raise Unavailable("40P01: deadlock detected")
        if fate is Fate.IS_LATE:
            self._late.append((self.statements + self.lateness, statement))
        if fate in {Fate.IS_LOST, Fate.IS_LATE}:
            raise OutcomeUnknown("the connection was lost")
        found = statement()
        if fate is Fate.IS_NOT_REPLICATED:
            raise OutcomeUnknown("WARNING: canceling wait for synchronous replication")
        self.replicate()
        if fate is Fate.RUNS_TWICE:
            found = statement()
        if fate is Fate.LOSES_ITS_ANSWER:
            raise OutcomeUnknown("the connection was lost")
        return found

    def append(self, rows: Iterable[Row]) -> Mapping[ShardId, Shard]:
        """The statement of a submit: write each row whose shard has its epoch, or an older one, and its end."""
        rows = list(rows)
        if any(len(row.data) > MAX_ROW_BYTES for row in rows):
            raise Unavailable("54000: a row is too large")
        for row in rows:
            shard = self.shard(row.shard)
            if shard.epoch <= row.epoch and shard.end == row.at:
                shard.epoch, shard.end = row.epoch, row.end
                shard.batches += (row.data[at : at + header.size] for at, header in iter_batches(row.data))
        return {row.shard: self.shards[row.shard].copy() for row in rows}

    def raise_epochs(self, rows: Iterable[Row]) -> Mapping[ShardId, Shard]:
        """The statement of a resolution: after it no statement with the rows' epochs writes anything."""
        for row in rows:
            shard = self.shard(row.shard)
            if shard.epoch <= row.epoch:
                shard.epoch = row.epoch[0], row.epoch[1] + 1
        return {row.shard: self.shards[row.shard].copy() for row in rows}


Post = Callable[[Callable[[], Any]], object]


def _at_once(call: Callable[[], None]) -> None:
    call()


class SharedLog:
    """The log of a node. ``post`` runs a statement at the database, and ``answer`` what comes of it on the node's loop.

    ``again`` posts a statement that has to be tried again: after a while, where there is time.
    """

    def __init__(self, database: Database, post: Post, answer: Post = _at_once, again: Post | None = None) -> None:
        self._database = database
        self._post = post
        self._answer = answer
        self._again = again or (lambda call: answer(lambda: post(call)))
        self._resolved: dict[ShardId, int] = {}
        self._is_busy = self._is_closed = False

    def submit(self, appends: Sequence[Append], done: Done, /) -> None:
        if self._is_busy:
            raise RuntimeError("submit comes after the done of the one before")
        rows = [self._row(append) for append in appends]
        self._is_busy = True

        def run() -> None:
            failures = dict.fromkeys([row.shard for row in rows], _CLOSED) if self._is_closed else self._submitted(rows)
            self._answer(lambda: self._answered(rows, failures, done))

        self._post(run)

    def _answered(self, rows: Sequence[Row], failures: Mapping[ShardId, LogError], done: Done) -> None:
        self._is_busy = False
        self._settle(rows, failures)
        done(failures or None)

    def _settle(self, rows: Sequence[Row], failures: Mapping[ShardId, LogError]) -> None:
        """Note what is durable."""

    def resolve(self, appends: Sequence[Append], done: Done, /) -> None:
        rows = [self._row(append) for append in appends]

        def run() -> None:
            try:
                found = self._database.run(lambda: self._database.raise_epochs(rows))
            except LogError:
                self._again(run)
                return
            self._answer(lambda: self._resolved_all(rows, found, done))

        self._post(run)

    def _resolved_all(self, rows: Sequence[Row], found: Mapping[ShardId, Shard], done: Done) -> None:
        failures = {row.shard: failure for row in rows if (failure := self._resolve(row, found[row.shard])) is not None}
        self._settle(rows, failures)
        done(failures or None)

    def _row(self, append: Append) -> Row:
        end = append.expected_offset
        for _, header in iter_batches(append.data):
            if header.base_offset != end:
                raise ValueError(f"not a batch at offset {end}")
            end = header.next_offset
        epoch = append.epoch, self._resolved.get(append.shard, 0)
        return Row(append.shard, epoch, append.expected_offset, end, append.data)

    def _submitted(self, rows: Sequence[Row]) -> dict[ShardId, LogError]:
        try:
            found = self._database.run(lambda: self._database.append(rows))
        except Unavailable as refused:
            if len(rows) == 1:
                return {rows[0].shard: refused}
            # One of them may be why.
            failures: dict[ShardId, LogError] = {}
            for row in rows:
                failures |= self._submitted([row])
            return failures
        except OutcomeUnknown as unknown:
            return dict.fromkeys([row.shard for row in rows], unknown)
        return {row.shard: failure for row in rows if (failure := _failure(row, found[row.shard])) is not None}

    def _resolve(self, row: Row, shard: Shard) -> LogError | None:
        if shard.epoch == (row.epoch[0], row.epoch[1] + 1):
            self._resolved[row.shard] = shard.epoch[1]
            if shard.end == row.at:
                return Unavailable("it was not written, and will not be")
            return None if shard.end == row.end else Diverged(f"{row.shard} ends at {shard.end}, not at {row.at} or {row.end}")
        return Fenced(f"{row.shard} has the epoch {shard.epoch}")

    def read(self, shard: ShardId, from_offset: int, /) -> Iterator[bytes]:
        batches = list(self._batches(shard))
        return iter(batches) if not from_offset else (each for each in batches if read_header(each).next_offset > from_offset)

    def compacted_to(self, shard: ShardId, /) -> int:
        return 0

    def end_time(self, shard: ShardId, /) -> int:
        return read_header(self._batches(shard)[-1]).max_timestamp if self._batches(shard) else -1

    def checkpoint(self, shard: ShardId, /) -> Checkpoint | None:
        """Return None: nothing was compacted."""
        return None

    def end_offset(self, shard: ShardId, /) -> int:
        return self._database.shards[shard].end if shard in self._database.shards else 0

    def durable_bytes(self, shard: ShardId, /) -> int:
        return sum(map(len, self._batches(shard)))

    def read_range(self, shard: ShardId, wanted: ReadRange, /) -> Batches:
        data, end = b"", wanted.from_offset
        for batch in self.read(shard, wanted.from_offset):
            next_offset = read_header(batch).next_offset
            is_needed = not data and wanted.must_have_one
            if next_offset > wanted.upto or (len(data) + len(batch) > wanted.max_bytes and not is_needed):
                break
            data, end = data + batch, next_offset
        return Batches(data, end)

    def offset_for_time(self, shard: ShardId, timestamp_ms: int, check: Check, /) -> TimedOffset | None:
        return next((each for each in self._times(shard, check) if each.timestamp_ms >= timestamp_ms), None)

    def latest_time(self, shard: ShardId, check: Check, /) -> TimedOffset | None:
        return max(self._times(shard, check), key=lambda each: (each.timestamp_ms, -each.offset), default=None)

    def seal(self, done: OnSealed, /) -> None:
        """Rows never change: there is nothing to do."""
        self.write_out(done)

    def write_out(self, done: OnSealed, /) -> None:
        ends = {each: shard.end for each, shard in self._database.shards.items()}
        self._post(lambda: done(_CLOSED if self._is_closed else ends))

    def close(self) -> None:
        self._is_closed = True

    def _batches(self, shard: ShardId) -> Sequence[bytes]:
        return self._database.shards[shard].batches if shard in self._database.shards else ()

    def _times(self, shard: ShardId, check: Check) -> Iterator[TimedOffset]:
        for batch in self._batches(shard):
            check()
            for record in iter_records(batch, 0, read_header(batch)):
                yield TimedOffset(record.offset, record.timestamp)


_CLOSED = Unavailable("the log is closed")


def _failure(row: Row, shard: Shard) -> LogError | None:
    """Why a row is not in a shard: another epoch, or an end that is neither the row's nor the one before it."""
    if shard.epoch != row.epoch:
        return Fenced(f"{row.shard} has the epoch {shard.epoch}, not {row.epoch}")
    return None if shard.end == row.end else Diverged(f"{row.shard} ends at {shard.end}, not at {row.at}")
