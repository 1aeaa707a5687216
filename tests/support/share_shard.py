"""A ShareShard whose records are replayed at once, and whose timers fire when a test says so."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from coordinator_server.catalog.topics import Topic
from coordinator_server.machine.block import RecordBlock
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import CoordinatorResult, RequestContext
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.share.requests import Initialization, Summary
from coordinator_server.share.shard import ShareShard
from coordinator_server.share.share_partition import SharePartition
from coordinator_server.share.state_batches import StateBatch
from protocol.batch_builder import NO_HEADERS, BatchBuilder
from protocol.coordinator_records import SHARE_SERDE, CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.plain_share_states import Found, Read, Write
from protocol.record_batch import iter_batches, iter_records
from protocol.share_partition_names import SharePartitionKey, name_of
from protocol.share_state_rows import rows_of
from tests.support.clock import ManualClock

CONTEXT = RequestContext("c", "h", 0, 0)
TOPIC_ID = b"0123456789abcdef"
KEY = SharePartitionKey("g", TOPIC_ID, 0)


class Topics:
    """One topic with three partitions, unless a test says otherwise."""

    def __init__(self) -> None:
        self.is_current = self.has_all = True
        self.counts = {TOPIC_ID: 3}

    def has_all_of_now(self) -> Callable[[], bool]:
        return lambda: self.has_all

    def topic_by_id(self, topic_id: bytes, /) -> Topic | None:
        count = self.counts.get(topic_id)
        return None if count is None else Topic("t", topic_id, count)


class Timers:
    """The armed timers, by key."""

    def __init__(self) -> None:
        self.armed: dict[Hashable, tuple[int, Callable[[], CoordinatorResult[Any]]]] = {}

    def schedule(
        self, key: Hashable, delay_ms: int, operation: Callable[[], CoordinatorResult[Any]], /, retry_ms: int = 0
    ) -> None:
        self.armed[key] = delay_ms, operation

    def cancel(self, key: Hashable, /) -> None:
        self.armed.pop(key, None)

    def heard(self, key: Hashable, /) -> None: ...

    def is_scheduled(self, key: Hashable, /) -> bool:
        return key in self.armed

    def left_ms(self, key: Hashable, /) -> int | None:
        return self.armed[key][0] if key in self.armed else None


class ShareSite:
    """The shard and its log. Operations raise CoordinatorError, or return their response."""

    def __init__(self, updates_per_snapshot: int = 500, cold_after_ms: int = 60_000) -> None:
        self.clock = ManualClock()
        self.topics = Topics()
        self.timers = Timers()
        self._settings = updates_per_snapshot, cold_after_ms
        self.log: list[CoordinatorRecord] = []
        self._kept: list[CoordinatorRecord] = []
        self.load()

    def load(self) -> None:
        """Begin with a new shard, and replay the log: all that was written, also if a test has cleared ``log``."""
        self.timers.armed.clear()
        self.registry = SnapshotRegistry()
        self.shard = ShareShard(
            registry=self.registry,
            timer=self.timers,
            clock=self.clock,
            topics=self.topics,
            updates_per_snapshot=self._settings[0],
            cold_after_ms=self._settings[1],
        )
        for offset, record in enumerate(self._kept):
            self.shard.replay(offset, record)

    def take(self, result: CoordinatorResult[Any]) -> Any:
        """Replay the records of a result. Return its response. What is written is what the serde writes."""
        records = list(result.records)
        if isinstance(result.records, RecordBlock):
            batch = BatchBuilder(0, 0)
            result.records.write(batch, NO_HEADERS)
            written = read_batch(batch.finish())
            assert written == [(SHARE_SERDE.encode_key(each), SHARE_SERDE.encode_value(each)) for each in records]
            assert sum(len(key or b"") + len(value or b"") for key, value in written) < result.records.max_bytes()
            result.records.replay(len(self.log))
        else:
            for offset, record in enumerate(records, len(self.log)):
                self.shard.replay(offset, record)
        self.log += records
        self._kept += records
        if result.on_append is not None:
            result.on_append(None)
        return result.response

    def fire(self, key: str) -> None:
        """Run an armed timer."""
        found = ("pass", key)
        _, operation = self.timers.armed.pop(found)
        self.take(operation())

    def initialize(self, state_epoch: int = 0, start_offset: int = 0, key: SharePartitionKey = KEY) -> None:
        self.take(self.shard.initialize_state(CONTEXT, Initialization(name_of(key), state_epoch, start_offset), NO_REPLY))

    def write(
        self,
        *batches: StateBatch,
        state_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = -1,
        complete: int = -1,
        key: SharePartitionKey = KEY,
    ) -> None:
        request = Write(name_of(key), state_epoch, leader_epoch, start_offset, complete, rows_of(batches))
        self.take(self.shard.write_state(CONTEXT, request, NO_REPLY))

    def read(self, leader_epoch: int = -1, key: SharePartitionKey = KEY) -> SharePartition:
        found: Found = self.take(self.shard.read_state(CONTEXT, Read(name_of(key), leader_epoch), NO_REPLY))
        assert isinstance(found.state, SharePartition)
        return found.state

    def summarize(self, key: SharePartitionKey = KEY) -> Summary:
        found: Summary = self.take(self.shard.read_summary(CONTEXT, name_of(key), NO_REPLY))
        return found

    def delete(self, key: SharePartitionKey = KEY) -> None:
        self.take(self.shard.delete_state(CONTEXT, name_of(key), NO_REPLY))

    @property
    def state(self) -> SharePartition | None:
        return self.shard.share_partition(LATEST, KEY)

    def replayed(self) -> ShareShard:
        """A shard after the same log."""
        shard = ShareShard(registry=SnapshotRegistry(), updates_per_snapshot=self.shard.updates_per_snapshot)
        for offset, record in enumerate(self.log):
            shard.replay(offset, record)
        return shard


def refusal(operation: Callable[[], object]) -> ErrorCode:
    """The error with which an operation is refused."""
    try:
        operation()
    except CoordinatorError as refused:
        return refused.error
    return ErrorCode.NONE


def read_batch(batch: bytes) -> list[tuple[bytes | None, bytes | None]]:
    """The keys and values of a batch."""
    return [(record.key, record.value) for pos, header in iter_batches(batch) for record in iter_records(batch, pos, header)]


NO_REPLY: Any = None
