"""The runtime without a loop or a disk: a toy state machine, a log in memory whose flushes the test finishes,
a queue for "soon".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from coordinator_server.log.errors import LogError
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.log.store import Done, Failures
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import (
    CheckpointState,
    CoordinatorResult,
    CoordinatorTimer,
    Producer,
    Reply,
    RequestContext,
    TransactionResult,
)
from coordinator_server.machine.timeline import SnapshotRegistry, TimelineDict
from coordinator_server.runtime.arrivals import WaitingArrivals
from coordinator_server.runtime.context import ShardState
from coordinator_server.runtime.deadlines import Deadlines
from coordinator_server.runtime.flush import Flusher
from coordinator_server.runtime.lease import Gate
from coordinator_server.runtime.loads import LoadQueue
from coordinator_server.runtime.producers import Claim, EndOfTransaction
from coordinator_server.runtime.runtime import CoordinatorRuntime, WriteOperation
from coordinator_server.runtime.services import LoopServices, ShardServices
from coordinator_server.runtime.timers import ShardTimers, Timer, TimerQueue
from protocol.coordinator_records import CoordinatorRecord, RecordSerde
from protocol.error_codes import ErrorCode
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.record_batch import BatchHeader, Record, iter_batches, iter_records, read_header
from tests.support.clock import BusyClock, ManualClock

TOPIC = "__toy"
CONTEXT = RequestContext("toy", "127.0.0.1", 0, 0)


def toy_record(name: str, number: int | None) -> CoordinatorRecord:
    """Name is number from now on, or gone."""
    value = None if number is None else OffsetCommitValue(offset=number)
    return CoordinatorRecord(OffsetCommitKey(group=name), value)


class ToySerde:
    """Records as text."""

    def encode_key(self, record: CoordinatorRecord) -> bytes:
        return cast(OffsetCommitKey, record.key).group.encode()

    def encode_value(self, record: CoordinatorRecord) -> bytes | None:
        return None if record.value is None else b"%d" % cast(OffsetCommitValue, record.value).offset

    def decode(self, key: bytes | None, value: bytes | None) -> CoordinatorRecord | None:
        name = (key or b"").decode()
        return None if name.startswith("?") else toy_record(name, None if value is None else int(value))


class ToyShard:
    """Numbers by name."""

    def __init__(self, *, partition: int, registry: SnapshotRegistry, timer: CoordinatorTimer) -> None:
        self.partition = partition
        self.timer = timer
        self.numbers: TimelineDict[str, int] = TimelineDict(registry)
        self.open: TimelineDict[int, tuple[CoordinatorRecord, ...]] = TimelineDict(registry)
        self.life: list[str] = []
        self.breaks_when: set[str] = set()

    def run(
        self, context: RequestContext, request: Callable[[ToyShard, Reply[Any]], CoordinatorResult[Any]], reply: Reply[Any]
    ) -> CoordinatorResult[Any]:
        """Whatever the test asks for."""
        return request(self, reply)

    def number(self, committed_offset: int, name: str) -> int | None:
        if name == "refused":
            raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND)
        if name == "broken":
            raise RuntimeError("a bug")
        return self.numbers.get_at(name, committed_offset)

    def replay(self, offset: int, record: CoordinatorRecord, /) -> None:
        name = cast(OffsetCommitKey, record.key).group
        if name == "poison":
            raise RuntimeError("a bug in replay")
        if record.value is None:
            self.numbers.pop(name, 0)
        else:
            self.numbers[name] = cast(OffsetCommitValue, record.value).offset

    def replay_in_transaction(self, producer: Producer, offset: int, record: CoordinatorRecord, /) -> None:
        if cast(OffsetCommitKey, record.key).group == "poison":
            raise RuntimeError("a bug in replay")
        self.open[producer.id] = (*self.open.get(producer.id, ()), record)

    def replay_end_transaction_marker(self, producer: Producer, result: TransactionResult, /) -> None:
        for record in self.open.pop(producer.id, ()):
            if result is TransactionResult.COMMIT:
                self.replay(0, record)

    def digest(self, committed_offset: int, max_items: int, with_parts: bool, /) -> None:
        """Nothing here asks for it."""

    def use_checkpoint(self, checkpoint: CheckpointState, /) -> bool:
        """Gets the records."""
        return False

    def plain_records(self) -> None:
        """Too few records for a shortcut."""

    def on_loaded(self) -> None:
        self._live("loaded")

    def on_unloaded(self) -> None:
        self._live("unloaded")

    def _live(self, event: str) -> None:
        self.life.append(event)
        if event in self.breaks_when:
            raise RuntimeError(f"a bug when {event}")


RUN: WriteOperation[ToyShard, Any, Any] = WriteOperation("toy-run", ToyShard.run)


class MemoryStore:
    """A log in memory. A submit stays open until the test calls ``finish``."""

    def __init__(self) -> None:
        self.logs: dict[ShardId, list[bytes]] = {}
        self.ends: dict[ShardId, int] = {}
        self.open: tuple[Sequence[Append], Done] | None = None
        self.in_doubt: tuple[Sequence[Append], Done] | None = None
        self.resolves_at_once: LogError | None = None
        self.submits: list[list[ShardId]] = []
        self.is_instant = False  # done before submit returns
        self.damage: LogError | None = None
        self.breaks: Exception | None = None  # raised by submit

    def submit(self, appends: Sequence[Append], done: Done, /) -> None:
        assert self.open is None, "one submit at a time"
        for append in appends:
            assert append.expected_offset == self.end_offset(append.shard)
        if self.breaks is not None:
            raise self.breaks
        self.submits.append([append.shard for append in appends])
        self.open = (appends, done)
        if self.is_instant:
            self.finish()

    def resolve(self, appends: Sequence[Append], done: Done, /) -> None:
        assert self.in_doubt is None, "the tests have one doubt at a time"
        self.in_doubt = (appends, done)
        if self.resolves_at_once is not None:
            self.resolved(self.resolves_at_once)

    def finish(self, failure: LogError | Failures | None = None) -> None:
        """The disk is done: with a failure for all shards, or for each that has one."""
        assert self.open is not None, "nothing is being written"
        (appends, done), self.open = self.open, None
        self._end(appends, done, failure)

    def resolved(self, failure: LogError | Failures | None = None) -> None:
        """The store has found out what became of the appends with an unknown outcome."""
        assert self.in_doubt is not None, "nobody has asked"
        (appends, done), self.in_doubt = self.in_doubt, None
        self._end(appends, done, failure)

    def _end(self, appends: Sequence[Append], done: Done, failure: LogError | Failures | None) -> None:
        failures = dict.fromkeys([append.shard for append in appends], failure) if isinstance(failure, LogError) else failure
        for append in appends:
            if failures is None or append.shard not in failures:
                for position, header in iter_batches(append.data):
                    self.logs.setdefault(append.shard, []).append(append.data[position : position + header.size])
                    self.ends[append.shard] = header.next_offset
        done(failures)

    def read(self, shard: ShardId, from_offset: int, /) -> Iterator[bytes]:
        yield from self.logs.get(shard, [])
        if self.damage is not None:
            raise self.damage

    def compacted_to(self, shard: ShardId, /) -> int:
        return 0

    def end_time(self, shard: ShardId, /) -> int:
        return read_header(self.logs[shard][-1]).max_timestamp if self.logs.get(shard) else -1

    def checkpoint(self, shard: ShardId, /) -> None:
        """None."""

    def end_offset(self, shard: ShardId, /) -> int:
        return self.ends.get(shard, 0)

    def names(self, partition: int = 0) -> list[str]:
        """The keys of all durable records of a partition."""
        return [name for batch in self.batches(partition) for name in batch]

    def batches(self, partition: int = 0) -> list[list[str]]:
        """The keys of all durable records of a partition, batch by batch."""
        return [
            [(record.key or b"").decode() for record in iter_records(batch, position, header)]
            for batch in self.logs.get(ShardId(TOPIC, partition), [])
            for position, header in iter_batches(batch)
        ]

    def records(self, partition: int = 0) -> list[Record]:
        """All durable records of a partition."""
        return [
            record
            for batch in self.logs.get(ShardId(TOPIC, partition), [])
            for position, header in iter_batches(batch)
            for record in iter_records(batch, position, header)
        ]

    def headers(self, partition: int = 0) -> list[BatchHeader]:
        """The headers of all durable batches of a partition."""
        return [header for batch in self.logs.get(ShardId(TOPIC, partition), []) for _, header in iter_batches(batch)]


class Outcome:
    """A Reply that remembers."""

    def __init__(self) -> None:
        self.response: Any = None
        self.error: ErrorCode | None = None
        self.message: str | None = None
        self.answers = 0

    def complete(self, response: Any, /) -> None:
        self.response = response
        self.answers += 1

    def fail(self, error: ErrorCode, message: str | None = None, /) -> None:
        self.error, self.message = error, message
        self.answers += 1

    @property
    def is_answered(self) -> bool:
        return self.answers > 0


def _fire(timer: Timer) -> None:
    timer.operation()


class ToyRuntime:
    """A CoordinatorRuntime of toy shards, turned by hand."""

    def __init__(
        self,
        *,
        max_batch_bytes: int = 1 << 20,
        append_linger_ms: int = -1,
        store: MemoryStore | None = None,
        serde: RecordSerde | None = None,
        deadline_ms: int = 0,
        arrivals_ms: int = 0,
    ) -> None:
        self.store = store or MemoryStore()
        self.clock = ManualClock()
        self.timers = TimerQueue()
        self.fatal: list[LogError] = []
        self.shards: list[ToyShard] = []
        self._soon: list[Callable[[], None]] = []
        self.flusher = Flusher(self.store, self._soon.append, self.fatal.append)
        if deadline_ms:
            Deadlines(self.flusher, ShardTimers(self.timers, self.clock, _fire), deadline_ms)
        loads = LoadQueue(self._soon.append, BusyClock())
        self.gate = Gate(self.clock.boot_ms)
        services = LoopServices(self.store, self.flusher, self.timers, self.clock, loads, has_provenance=True)
        self.arrivals = WaitingArrivals(self.gate, self.clock, ShardTimers(self.timers, self.clock, _fire), arrivals_ms)
        if arrivals_ms:
            services = services._replace(arrivals=self.arrivals)
        self.runtime: CoordinatorRuntime[ToyShard] = CoordinatorRuntime(
            TOPIC, serde or ToySerde(), self._build, services, max_batch_bytes=max_batch_bytes, append_linger_ms=append_linger_ms
        )

    def _build(self, *, partition: int, registry: SnapshotRegistry, services: ShardServices) -> ToyShard:
        shard = ToyShard(partition=partition, registry=registry, timer=services.timer)
        self.shards.append(shard)
        return shard

    @property
    def has_to_turn(self) -> bool:
        """Whether there is something to do."""
        return bool(self._soon)

    def turn(self) -> None:
        """One turn of the loop."""
        soon = self._soon[:]
        self._soon.clear()
        for callback in soon:
            callback()

    def load(self, partition: int = 0, epoch: int = 1) -> ToyShard:
        """A partition, loaded."""
        self.runtime.load(partition, epoch)
        while self._soon:
            self.turn()
        return self.shards[-1]

    def write(
        self,
        request: Callable[[ToyShard, Reply[Any]], CoordinatorResult[Any]],
        partition: int = 0,
        producer: Producer | None = None,
        context: RequestContext = CONTEXT,
    ) -> Outcome:
        outcome = Outcome()
        self.runtime.write(partition, RUN, context, request, outcome, self.claim(producer, partition))
        return outcome

    def answer(
        self,
        request: Callable[[ToyShard, Reply[Any]], CoordinatorResult[Any]],
        reply: Reply[Any],
        producer: Producer | None = None,
    ) -> None:
        """Run an operation for a Reply of the test's own."""
        self.runtime.write(0, RUN, CONTEXT, request, reply, self.claim(producer))

    def claim(self, producer: Producer | None, partition: int = 0, *, bumps_epoch: bool = False) -> Claim | None:
        """The claim of a producer, for which the transaction coordinator vouches."""
        if producer is None or self.state(partition) is not ShardState.ACTIVE:
            return None
        return self.runtime.claim(partition, producer, bumps_epoch=bumps_epoch)

    def put(self, name: str, number: int | None = 1, partition: int = 0, producer: Producer | None = None) -> Outcome:
        """Write one record; the response is the record's name."""
        return self.write(lambda shard, reply: CoordinatorResult(name, [toy_record(name, number)]), partition, producer)

    def end(
        self, producer: Producer, result: TransactionResult, partition: int = 0, version: int = 1, *, has_deadline: bool = False
    ) -> Outcome:
        """End a transaction."""
        outcome, end = Outcome(), EndOfTransaction(producer, result, version, 3)
        self.runtime.complete_transaction(partition, end, outcome, has_deadline=has_deadline)
        return outcome

    def put_all(self, names: list[str]) -> Outcome:
        """Write a record for each name, in one operation."""
        return self.write(lambda shard, reply: CoordinatorResult("ok", [toy_record(name, 1) for name in names]))

    def write_all(self, request: Callable[[ToyShard, Reply[Any]], CoordinatorResult[Any]]) -> list[list[Any]]:
        """Run an operation on every shard; what was gathered, once it is."""
        gathered: list[list[Any]] = []
        self.runtime.write_all(RUN, CONTEXT, request, gathered.append)
        return gathered

    def pass_time(self, ms: int) -> None:
        """Time passes, and timers that are due fire."""
        self.clock.advance(ms)
        self.timers.run(self.clock.now_ms())

    def state(self, partition: int = 0) -> ShardState | None:
        """Where a partition is in its life."""
        return {shard.partition: state for shard, state, _ in self.runtime.progress}.get(partition)

    def number(self, name: str, partition: int = 0) -> int | None:
        """Read as committed."""
        return self.runtime.read(partition, ToyShard.number, name)

    def flush(self, failure: LogError | Failures | None = None) -> None:
        """The turn ends, and the disk is done."""
        self.turn()
        self.store.finish(failure)
