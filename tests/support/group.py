"""A GroupShard without a runtime: time, timers and the log move only when a test moves them.

``GroupLog`` plays the runtime's part: it runs operations, replays their records and answers them, at once or (``is_holding``)
when the test says so. Every record goes through its bytes, so what cannot be written fails here too.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from coordinator_server.config import Config
from coordinator_server.group.common.metadata_hash import TopicHashes
from coordinator_server.group.common.settings import SettingsOfGroups
from coordinator_server.group.group_type import GroupContext
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.block import RecordBlock
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.executor import Failed, Task
from coordinator_server.machine.outbox import Effect
from coordinator_server.machine.provenance import (
    SHARD_ORIGIN,
    TASK_ORIGIN,
    TIMER_ORIGIN,
    Origin,
    Provenance,
    operation_headers,
    read_provenance,
    request_origin,
)
from coordinator_server.machine.shard import Again, CoordinatorResult, Deferred, Reply, RequestContext
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from protocol.batch_builder import NO_HEADERS, BatchBuilder
from protocol.codec import encode
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.record_batch import iter_batches, iter_records
from tests.support.clock import ManualClock
from tests.support.configs import config_with
from tests.support.topics import FakeTopics

Operation = Callable[[GroupShard, RequestContext, Any, Reply[Any]], CoordinatorResult[Any]]
Hard = dict[str, tuple[Message | None, dict[tuple[str, int], Any]]]

CLIENT_HOST = "127.0.0.1"
SHARE_SHARDS = 3


class ManualTimer:
    """Timers that fire when the test lets time pass."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self._armed: dict[Hashable, tuple[int, int, Callable[[], CoordinatorResult[Any]]]] = {}
        self._count = 0

    def schedule(
        self, key: Hashable, delay_ms: int, operation: Callable[[], CoordinatorResult[Any]], /, retry_ms: int = 0
    ) -> None:
        self._count += 1
        self._armed[key] = (self._clock.now_ms() + delay_ms, self._count, operation)

    def cancel(self, key: Hashable, /) -> None:
        self._armed.pop(key, None)

    def heard(self, key: Hashable, /) -> None: ...

    def is_scheduled(self, key: Hashable, /) -> bool:
        return key in self._armed

    def left_ms(self, key: Hashable, /) -> int | None:
        return self.due_in(key) if key in self._armed else None

    @property
    def keys(self) -> set[Hashable]:
        return set(self._armed)

    def due_in(self, key: Hashable) -> int:
        """Milliseconds until an armed timer fires."""
        return self._armed[key][0] - self._clock.now_ms()

    def pop_due(self, deadline_ms: int) -> tuple[int, Callable[[], CoordinatorResult[Any]]] | None:
        """The first timer due by then, disarmed: its time and operation."""
        if not self._armed:
            return None
        key = min(self._armed, key=lambda armed: self._armed[armed][:2])
        due, _, operation = self._armed[key]
        if due > deadline_ms:
            return None
        del self._armed[key]
        return due, operation


class ManualExecutor:
    """Tasks that run when the test says so, with what a child would get, and their outcome back."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, tuple[Task[Any, Any], bytes, Callable[[Any], CoordinatorResult[Any]]]] = {}

    def schedule(
        self, key: Hashable, task: Task[Any, Any], argument: Any, operation: Callable[[Any], CoordinatorResult[Any]], /
    ) -> None:
        self._tasks[key] = task, msgspec.msgpack.encode(argument), operation

    def cancel(self, key: Hashable, /) -> None:
        self._tasks.pop(key, None)

    def is_scheduled(self, key: Hashable, /) -> bool:
        return key in self._tasks

    def computed(self) -> list[Callable[[], CoordinatorResult[Any]]]:
        """Run all tasks; return the operations that take their results. Until they have run, the keys are scheduled."""
        operations: list[Callable[[], CoordinatorResult[Any]]] = []
        for task, argument, operation in self._tasks.values():
            result = msgspec.msgpack.encode(task.run(msgspec.msgpack.decode(argument, type=task.argument)))
            operations.append(partial(operation, msgspec.msgpack.decode(result, type=task.result)))
        return operations

    def failed(self) -> list[Callable[[], CoordinatorResult[Any]]]:
        """The same, if all tasks fail."""
        return [partial(operation, Failed("it broke")) for _, _, operation in self._tasks.values()]

    def clear(self) -> None:
        self._tasks.clear()


class ManualOutbox:
    """Messages to other shards, which a test delivers: by intent, each with its effect, its destination and its request."""

    def __init__(self) -> None:
        self.messages: dict[Hashable, SentMessage] = {}

    def send(
        self,
        intent: Hashable,
        effect: Effect[Any, Any],
        to: int | str,
        request: Any,
        then: Callable[[Any], CoordinatorResult[Any]],
        /,
    ) -> None:
        again = msgspec.msgpack.decode(msgspec.msgpack.encode(request), type=effect.request)
        self.messages.setdefault(intent, SentMessage(effect.name, to, again, then))


class SentMessage(Struct):
    """A message, and what its outcome runs."""

    name: str
    to: int | str
    request: Any
    then: Callable[[Any], CoordinatorResult[Any]]


class FakeReply:
    """The answer that a request got; a second one is an error, and so is one that its version cannot carry."""

    def __init__(self, version: int, on_answer: Callable[[FakeReply], None] | None = None) -> None:
        self._version = version
        self.response: Any = None
        self.error: ErrorCode | None = None
        self.message: str | None = None
        self._on_answer = on_answer

    @property
    def is_answered(self) -> bool:
        return self.response is not None or self.error is not None

    def complete(self, response: Any, /) -> None:
        assert not self.is_answered, f"answered twice: {self.response or self.error} and {response}"
        if isinstance(response, Message):
            encode(response, self._version)
        self.response = response
        self._tell()

    def fail(self, error: ErrorCode, message: str | None = None, /) -> None:
        assert not self.is_answered, f"answered twice: {self.response or self.error} and {error}"
        self.error, self.message = error, message
        self._tell()

    def _tell(self) -> None:
        if self._on_answer is not None:
            self._on_answer(self)


class _Parked(Struct):
    offset: int
    reply: FakeReply | None
    result: CoordinatorResult[Any]


class _Repeat(NamedTuple):
    """A request that an operation has a short way for."""

    operation: Operation
    request: Any
    version: int
    client_id: str
    again: Again
    response: Any


class GroupLog:
    """One shard over a log in memory.

    Each request that was answered before with the offer of a short way is tried that way first: what comes out must be what the
    operation comes to.
    """

    def __init__(
        self,
        config: Config | None = None,
        on_record: Callable[[int, CoordinatorRecord, Provenance | None], None] | None = None,
    ) -> None:
        self.config = config or config_with(group_initial_rebalance_delay_ms=0)
        self.clock = ManualClock()
        self.is_holding = False
        # Written and durable, written only: with their offsets.
        self.committed: list[CoordinatorRecord] = []
        self.pending: list[CoordinatorRecord] = []
        self._on_record = on_record
        self._parked: list[_Parked] = []
        self._ids = 0
        # The last of them by group and member.
        self._repeats: dict[tuple[str, str], _Repeat] = {}
        # Whether the last request could have been answered by a short way.
        self.was_repeat = False
        # The names of what the shard reported.
        self.reports: list[str] = []
        # What it told of its groups.
        self.news: list[tuple[str, dict[str, object]]] = []
        self.topics = FakeTopics()
        self.topics.tell = lambda names: self.shard.topics_changed(self.committed_offset, names)
        # The own settings of groups, by group id.
        self.own_settings: dict[str, dict[str, str]] = {}
        self._start([])

    @property
    def committed_offset(self) -> int:
        return len(self.committed)

    @property
    def end_offset(self) -> int:
        return len(self.committed) + len(self.pending)

    def run(
        self,
        operation: Operation,
        request: Any,
        *,
        version: int,
        client_id: str = "client",
        on_answer: Callable[[FakeReply], None] | None = None,
    ) -> FakeReply:
        """Run one request."""
        reply = FakeReply(version, on_answer)
        context = RequestContext(client_id, CLIENT_HOST, 0, version, origin=request_origin(0, version, client_id, CLIENT_HOST))
        key = str(getattr(request, "group_id", "")), str(getattr(request, "member_id", ""))
        known = self._repeats.get(key)
        self.was_repeat = known is not None and known[:4] == (operation, request, version, client_id) and self._again(known)
        try:
            result = operation(self.shard, context, request, reply)
        except CoordinatorError as refused:
            if self.was_repeat:
                raise AssertionError(f"the short way would not have refused {request}") from refused
            reply.fail(refused.error, refused.message)
        else:
            if self.was_repeat:
                assert known is not None
                assert (result.records, result.response) == ((), known.response)
                assert result.depends_on is not None
                assert result.depends_on <= self.committed_offset
            if result.again is not None:
                self._repeats[key] = _Repeat(operation, request, version, client_id, result.again, result.response)
            self._take_result(result, reply, context.origin)
        return reply

    def _again(self, known: _Repeat) -> bool:
        try:
            return known.again(self.committed_offset)
        except CoordinatorError:
            return False

    def advance(self, ms: int, on_time: Callable[[int], None] | None = None) -> None:
        """Time passes; what is due fires in order, at its time."""
        start = self.clock.now_ms()
        while (due := self.timer.pop_due(start + ms)) is not None:
            at, operation = due
            self.clock.advance(max(at - self.clock.now_ms(), 0))
            if on_time is not None:
                on_time(self.clock.now_ms() - start)
            self._take_result(operation(), None, TIMER_ORIGIN)
        self.clock.advance(start + ms - self.clock.now_ms())

    def finish_tasks(self, operations: list[Callable[[], CoordinatorResult[Any]]] | None = None) -> None:
        """The child has done its work: its results are written operations."""
        ready = self.executor.computed() if operations is None else operations
        self.executor.clear()
        for operation in ready:
            self._take_result(operation(), None, TASK_ORIGIN)

    def deliver(self, answer: Callable[[SentMessage], Any]) -> list[SentMessage]:
        """Deliver all messages to shards that answer like this. A message whose outcome is not written stays. Return them."""
        delivered = list(self.outbox.messages.items())
        for intent, message in delivered:
            del self.outbox.messages[intent]
            before = len(self.committed)
            result = message.then(answer(message))
            self._take_result(result, None, SHARD_ORIGIN)
            if self.is_holding and result.records and len(self.committed) == before:
                self.outbox.messages[intent] = message
        return [message for _, message in delivered]

    def flush(self) -> None:
        """All that is written becomes durable."""
        self.committed += self.pending
        self.pending = []
        self.registry.delete_up_to(self.committed_offset)
        parked, self._parked = self._parked, []
        for each in parked:
            self._complete(each)

    def fail(self, error: ErrorCode = ErrorCode.NOT_COORDINATOR) -> None:
        """Nothing of what is written came to be."""
        self.pending = []
        self.registry.revert_to(self.committed_offset)
        parked, self._parked = self._parked, []
        for each in parked:
            if each.result.on_append is not None:
                each.result.on_append(error)
            if each.reply is not None and not isinstance(each.result.response, Deferred):
                each.reply.fail(error)

    def look_overdue(self) -> int:
        """The log has not answered in time: what operations whose answers it holds up do about it. The number of refusals."""
        return sum(each.result.on_overdue() for each in self._parked if each.result.on_overdue is not None)

    def restart(self) -> None:
        """The process died and came back: only what is durable is left."""
        self._parked = []
        self.pending = []
        self._repeats.clear()
        self._start(self.committed)

    def hard_state(self) -> Hard:
        """What the shard holds of each group that it says it knows, committed or not."""
        return hard_state(self.shard)

    def replayed_state(self) -> Hard:
        """The same, from the records alone."""
        shard = self.build(SnapshotRegistry())
        for offset, record in enumerate([*self.committed, *self.pending]):
            shard.replay(offset, record)
        return hard_state(shard)

    def _start(self, records: list[CoordinatorRecord]) -> None:
        self.timer = ManualTimer(self.clock)
        self.executor = ManualExecutor()
        self.outbox = ManualOutbox()
        self.registry = SnapshotRegistry()
        self.shard = self.build(self.registry)
        for offset, record in enumerate(records):
            self.shard.replay(offset, record)
        self.shard.on_loaded()

    def build(self, registry: SnapshotRegistry) -> GroupShard:
        """Another shard of the same kind, empty."""
        return GroupShard(self.context, registry)

    @property
    def context(self) -> GroupContext:
        """The services of the shard."""
        return GroupContext(
            config=self.config,
            timer=self.timer,
            clock=self.clock,
            new_id=self._new_id,
            report=self._report,
            tell=lambda name, **fields: self.news.append((name, fields)),
            topics=self.topics,
            topic_hashes=TopicHashes(self.topics),
            settings=SettingsOfGroups(self.config, lambda group_id: self.own_settings.get(group_id, {}), self._report),
            executor=self.executor,
            outbox=self.outbox,
            share_shard=lambda _group_id, _topic_id, partition: partition % SHARE_SHARDS,
        )

    def _report(self, name: str, **fields: object) -> None:
        self.reports.append(name)

    def _new_id(self) -> str:
        self._ids += 1
        return str(self._ids)

    def _take_result(self, result: CoordinatorResult[Any], reply: FakeReply | None, origin: Origin | None) -> None:
        headers = operation_headers(origin, result.attribution)
        if result.records:
            self.registry.snapshot(self.end_offset)
        is_block = isinstance(result.records, RecordBlock)
        if isinstance(result.records, RecordBlock):
            # Its own way into the state; ``replayed_state`` shows whether the records, one by one, come to the same.
            result.records.replay(self.end_offset)
        for record in result.records:
            again, provenance = through_bytes(record, headers)
            headers = NO_HEADERS
            if self._on_record is not None:
                self._on_record(self.end_offset, again, provenance)
            if not is_block:
                self.shard.replay(self.end_offset, record)
            self.pending.append(again)
        needs = self.end_offset if result.records or result.depends_on is None else result.depends_on
        parked = _Parked(needs, reply, result)
        if needs <= self.committed_offset:
            self._complete(parked)
        else:
            self._parked.append(parked)
        if not self.is_holding:
            self.flush()

    def _complete(self, parked: _Parked) -> None:
        if parked.result.on_append is not None:
            parked.result.on_append(None)
        if parked.reply is not None and not isinstance(parked.result.response, Deferred):
            parked.reply.complete(parked.result.response)


def through_bytes(record: CoordinatorRecord, headers: bytes) -> tuple[CoordinatorRecord, Provenance | None]:
    """The record and its provenance as a reader would find them."""
    builder = BatchBuilder(0, 0)
    builder.append(GROUP_SERDE.encode_key(record), GROUP_SERDE.encode_value(record), headers)
    [(position, header)] = iter_batches(batch := builder.finish())
    [found] = iter_records(batch, position, header)
    again = GROUP_SERDE.decode(found.key, found.value)
    assert again is not None
    return again, read_provenance(found.headers)


def hard_state(shard: GroupShard) -> Hard:
    """Group metadata and offsets by group, as plain values."""
    groups = shard.groups
    return {
        group_id: (
            groups.classic.stored[group_id].value if group_id in groups.classic.stored else None,
            dict(offsets) if (offsets := groups.offsets.of_group_at(group_id, LATEST)) else {},
        )
        for group_id in {*groups.classic.stored, *groups.offsets.groups_at(LATEST)}
    }
