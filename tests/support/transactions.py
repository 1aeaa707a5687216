"""A TransactionShard without a runtime: time, messages to other shards, and the log move only when a test moves them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.outbox import Effect, Refused
from coordinator_server.machine.shard import CoordinatorResult, RequestContext
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.transaction.markers import Marker
from coordinator_server.transaction.shard import PartitionsRequest, TransactionLimits, TransactionShard
from coordinator_server.transaction.state import TransactionState
from coordinator_server.transaction.transaction import LAST_EPOCH, TopicPartition, Transaction, record_of
from protocol.coordinator_records import TRANSACTION_SERDE, CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.end_txn import EndTxnRequest
from protocol.messages.init_producer_id import InitProducerIdRequest
from tests.support.clock import ManualClock
from tests.support.group import FakeReply, ManualTimer

FIRST_PRODUCER_ID = 4_000
LIMITS = TransactionLimits(900_000, 7 * 24 * 3_600_000, 10_000, 3_600_000, 10_000)
OFFSETS = "__consumer_offsets"
A = (OFFSETS, 3)
B = (OFFSETS, 9)
ORDERS = ("orders", 0)

Answer = tuple[int, int] | ErrorCode
"""A producer id and epoch, or an error."""


class Message(NamedTuple):
    """What was sent to a partition of the groups' log."""

    partition: int
    marker: Marker
    then: Callable[[Any], CoordinatorResult[Any]]


class FakeOutbox:
    """Keeps the messages by intent, until the test delivers them."""

    def __init__(self) -> None:
        self.messages: dict[Hashable, Message] = {}

    def send(
        self, intent: Hashable, effect: Effect[Any, Any], to: int | str, request: Any, then: Callable[[Any], Any], /
    ) -> None:
        assert isinstance(to, int)
        self.messages.setdefault(intent, Message(to, request, then))


class TransactionLog:
    """One shard over a log in memory. Every record goes through its bytes.

    With ``is_holding`` records are durable only when the test says so.
    """

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.records: list[CoordinatorRecord] = []
        self.is_holding = False
        self._producer_ids = count(FIRST_PRODUCER_ID)
        self.load()

    def load(self) -> None:
        """Begin with what the log says, in another process."""
        self.timer, self.outbox, self._registry = ManualTimer(self.clock), FakeOutbox(), SnapshotRegistry()
        self._held: list[tuple[int, CoordinatorResult[Any]]] = []
        self.shard = TransactionShard(
            limits=LIMITS,
            registry=self._registry,
            timer=self.timer,
            clock=self.clock,
            outbox=self.outbox,
            new_producer_id=lambda: next(self._producer_ids),
        )
        for offset, record in enumerate(self.records):
            self.shard.replay(offset, record)
        self.shard.on_loaded()

    # Requests

    def init(self, transactional_id: str | None, own: tuple[int, int] = (-1, -1), timeout_ms: int = 60_000) -> Answer:
        request = InitProducerIdRequest(transactional_id, timeout_ms, *own)
        answer = self.run(lambda: self.shard.init_producer_id(_context(5), request, FakeReply(5)))
        return answer if isinstance(answer, ErrorCode) else _answer(answer)

    def add(self, transactional_id: str, producer: Any, *partitions: TopicPartition, version: int = 0) -> ErrorCode:
        request = PartitionsRequest(transactional_id, producer[0], producer[1], frozenset(partitions), version)
        answer = self.run(lambda: self.shard.add_partitions(_context(3), request, FakeReply(3)))
        return answer if isinstance(answer, ErrorCode) else ErrorCode.NONE

    def end(self, transactional_id: str, producer: Any, *, is_commit: bool = True, version: int = 5) -> Answer:
        request = EndTxnRequest(transactional_id, producer[0], producer[1], is_commit)
        answer = self.run(lambda: self.shard.end_transaction(_context(version), request, FakeReply(version)))
        return answer if isinstance(answer, ErrorCode) else _answer(answer)

    def abort(self, transactional_id: str) -> Any:
        return self.run(lambda: self.shard.abort(_context(0), transactional_id, FakeReply(0)))

    def missing(self, transactional_id: str, producer: Any, *partitions: TopicPartition) -> Any:
        request = PartitionsRequest(transactional_id, producer[0], producer[1], frozenset(partitions))
        return self.run(lambda: self.shard.missing_partitions(_context(3), request, FakeReply(3)))

    # What else happens

    def deliver(self, outcome: bool | Refused = True) -> list[tuple[int, Marker]]:
        """Deliver all messages. Return their partitions and markers."""
        messages, self.outbox.messages = self.outbox.messages, {}
        for intent, message in messages.items():
            if isinstance(self.run(partial(message.then, outcome)), ErrorCode):
                self.outbox.messages[intent] = message
        self.advance(0)
        return [(message.partition, message.marker) for message in messages.values()]

    def advance(self, ms: int) -> None:
        """Time passes, and timers fire."""
        until = self.clock.now_ms() + ms
        while (due := self.timer.pop_due(until)) is not None:
            self.clock.advance(max(0, due[0] - self.clock.now_ms()))
            self.run(due[1])
        self.clock.advance(until - self.clock.now_ms())

    def settle(self, error: ErrorCode | None = None) -> None:
        """What is held is durable, or was not written."""
        held, self._held = self._held, []
        if error is None:
            self._registry.delete_up_to(len(self.records))
        elif held:
            self._registry.revert_to(held[0][0])
            del self.records[held[0][0] :]
        for _, result in held:
            if result.on_append is not None:
                result.on_append(error)

    def state(self, transactional_id: str) -> Transaction | None:
        return self.shard.transaction(LATEST, transactional_id)

    def all(self) -> dict[str, Transaction | None]:
        """The state of each id."""
        return {each: self.state(each) for each in self.shard.ids(LATEST)}

    def states(self) -> list[TransactionState]:
        """The states in the log, in order."""
        return [TransactionState(record.value.transaction_status) for record in self.records if record.value is not None]  # type: ignore[attr-defined]

    def run(self, operation: Callable[[], CoordinatorResult[Any]]) -> Any:
        """Return the response of an operation, or its error."""
        try:
            result = operation()
        except CoordinatorError as refused:
            return refused.error
        if not result.records:
            if result.on_append is not None:
                result.on_append(None)
            return result.response
        self._held.append((len(self.records), result))
        self._registry.snapshot(len(self.records))
        for record in result.records:
            written = TRANSACTION_SERDE.decode(TRANSACTION_SERDE.encode_key(record), TRANSACTION_SERDE.encode_value(record))
            assert written == record
            self.shard.replay(len(self.records), written)
            self.records.append(written)
        if not self.is_holding:
            self.settle()
        return result.response


def _context(version: int) -> RequestContext:
    return RequestContext("client", "127.0.0.1", 0, version)


def _answer(response: Any) -> Answer:
    return ErrorCode(response.error_code) if response.error_code else (response.producer_id, response.producer_epoch)


def opened(log: TransactionLog, transactional_id: str = "t", *partitions: tuple[str, int], version: int = 2) -> tuple[int, int]:
    """A producer with an open transaction."""
    producer = log.init(transactional_id)
    assert isinstance(producer, tuple)
    assert log.add(transactional_id, producer, *(partitions or (A,)), version=version) is ErrorCode.NONE
    return producer


def exhaust(log: TransactionLog, transactional_id: str) -> None:
    """Give an id the last epoch of its producer id, and begin with what the log says."""
    state = log.state(transactional_id)
    assert state is not None
    changed = Transaction(state.producer_id, LAST_EPOCH, state.timeout_ms, TransactionState.EMPTY, state.update_ms)
    log.records.append(record_of(transactional_id, changed))
    log.load()


def at_last_epoch(log: TransactionLog) -> tuple[int, int]:
    """The id ``t``, whose producer has the last epoch of its producer id."""
    producer = log.init("t")
    assert isinstance(producer, tuple)
    exhaust(log, "t")
    return producer[0], LAST_EPOCH
