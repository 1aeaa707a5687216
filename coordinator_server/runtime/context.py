"""The runtime's record of one shard: its state machine, its position in the log, and the responses that wait for durability.

    INITIAL ──load──► LOADING ──loaded──► ACTIVE ──unload──► CLOSED
                         └────failed────► FAILED    ACTIVE ◄── the lease is over, is renewed ──► SUSPENDED

A later epoch starts from a fresh context, unless the store says that the shard had no other owner since this context's epoch.

Offsets of an ACTIVE shard:

    high_watermark ≤ flushing_to ≤ next_offset
    durable          being written  in the open batch

The times of a log do not go back: a batch has the time of the clock, or of the batch before it if that is later.

A snapshot is open at the start of each batch that is not durable yet, so that a failed append can revert the state.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from enum import Enum
from functools import partial
from typing import Generic, NamedTuple, Protocol, TypeVar

from coordinator_server.log.shards import Append, Ownership, ShardId
from coordinator_server.machine.block import RECORD_OVERHEAD, RecordBlock
from coordinator_server.machine.shard import CoordinatorShard, Producer, TransactionResult
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.runtime.deferred import DeferredEvent, DeferredEventQueue
from coordinator_server.runtime.errors import TooLarge
from coordinator_server.runtime.producers import Claim, EndOfTransaction, Producers
from coordinator_server.runtime.timers import ShardTimers
from protocol.batch_builder import NO_HEADERS, BatchBuilder
from protocol.control_records import end_transaction_marker
from protocol.coordinator_records import CoordinatorRecord, RecordSerde
from protocol.error_codes import ErrorCode
from protocol.record_batch import CONTROL, HEADER_SIZE, TRANSACTIONAL

S = TypeVar("S", bound=CoordinatorShard)


class ShardState(Enum):
    """The lifecycle state of a shard."""

    INITIAL = "initial"
    LOADING = "loading"
    ACTIVE = "active"
    SUSPENDED = "suspended"
    CLOSED = "closed"
    FAILED = "failed"


class Progress(NamedTuple):
    """A shard, its state, and the number of records that its load has read so far."""

    shard: ShardId
    state: ShardState
    records: int


class Kept(NamedTuple):
    """A block in the open batch: its keys, the offset of its first record, and the range of parts that hold its records."""

    keys: Hashable
    offset: int
    first: int
    last: int


class Closeable(Protocol):
    """A resource that is closed together with its shard."""

    def close(self) -> None: ...


class ShardContext(Generic[S]):
    """The runtime's state of one shard."""

    __slots__ = (
        "_batch",
        "_batch_base",
        "_full",
        "_kept",
        "deferred",
        "effects",
        "flushing_to",
        "has_soft_state",
        "high_watermark",
        "id",
        "last_ms",
        "next_offset",
        "on_fenced",
        "ownership",
        "producers",
        "records_loaded",
        "registry",
        "serde",
        "shard",
        "state",
        "timers",
        "when_behind",
        "when_loaded",
    )

    def __init__(self, id: ShardId, epoch: int, serde: RecordSerde, *, coalesces: bool = False) -> None:
        self.id = id
        # If blocks coalesce: the last block of each owner in the open batch. Cleared when a new batch is opened, and when
        # single records or a block without a subject are appended.
        self._kept: dict[Hashable, Kept] | None = {} if coalesces else None
        self.ownership = Ownership(id, epoch)
        self.serde = serde
        self.state = ShardState.INITIAL
        self.registry = SnapshotRegistry()
        self.producers = Producers(self.registry)
        self.deferred = DeferredEventQueue()
        self.shard: S
        self.timers: ShardTimers
        # Closed with the shard.
        self.effects: tuple[Closeable, ...] = ()
        self.records_loaded = 0
        # Called when the store reports that a different process owns the shard.
        self.on_fenced: Callable[[], None]
        # The timestamp of the last batch, or of a later one that was reverted, in ms since 1970.
        self.last_ms = 0
        # Called with ``last_ms`` and the clock's time, if that is earlier.
        self.when_behind: Callable[[int, int], None]
        self.when_loaded: list[Callable[[ErrorCode], None]] = []
        # on_loaded has at least begun, so on_unloaded must be called.
        self.has_soft_state = False
        self.high_watermark = self.flushing_to = self.next_offset = 0
        self._batch: BatchBuilder | None = None
        self._batch_base = 0
        self._full: list[bytes] = []

    def start_at(self, offset: int, last_ms: int) -> None:
        """Set all offsets to ``offset``, up to which the log has been replayed. Its last batch has that timestamp."""
        self.last_ms = last_ms
        self.high_watermark = self.flushing_to = self.next_offset = offset

    @property
    def epoch(self) -> int:
        """The epoch at which this process owns the shard."""
        return self.ownership.epoch

    @property
    def is_loaded(self) -> bool:
        """Whether it serves requests, or would if the lease were not over."""
        return self.state is ShardState.ACTIVE or self.state is ShardState.SUSPENDED

    def suspend(self, is_over: bool) -> None:
        """Refuse operations while the lease is over. Soft state and what waits for the log stay."""
        if self.is_loaded:
            self.state = ShardState.SUSPENDED if is_over else ShardState.ACTIVE

    def report_load(self) -> None:
        """Report the outcome of the load to the operations that wait for it."""
        callbacks, self.when_loaded = self.when_loaded, []
        for callback in callbacks:
            callback(ErrorCode.NONE if self.is_loaded else ErrorCode.NOT_COORDINATOR)

    def append(
        self,
        records: Sequence[CoordinatorRecord] | RecordBlock,
        wall_ms: Callable[[], int],
        max_batch_bytes: int,
        headers: bytes = NO_HEADERS,
        replay: Callable[[int, CoordinatorRecord], None] | None = None,
    ) -> None:
        """Replay the records of one operation and put all of them into one batch. The first record gets ``headers``.

        ``wall_ms`` is called once per batch, so all records of a batch have the same timestamp. Raises TooLarge, or
        EncodeError from the codec; nothing has changed then. Any exception from ``replay`` is a bug of the state machine:
        the caller must call ``revert_open_batch``.
        """
        if replay is None and isinstance(records, RecordBlock):
            size = records.max_bytes() + len(headers)
            batch = self._batch
            if self._kept is not None:
                subject = records.subject()
                if subject is not None:
                    self._append_over(subject, records, size, wall_ms, max_batch_bytes, headers)
                    return
                self._kept.clear()
            if batch is None or batch.size + size > max_batch_bytes:
                batch = self._batch_with_room(size, wall_ms, max_batch_bytes)
            offset = batch.next_offset
            records.write(batch, headers)
            records.replay(offset)
        else:
            encoded, size = self._encode(records)
            batch = self._batch_with_room(size + len(headers), wall_ms, max_batch_bytes)
            if self._kept:
                self._kept.clear()
            if replay is None:
                replay = self.shard.replay
            for key, value, record in encoded:
                replay(batch.append(key, value, headers), record)
                headers = NO_HEADERS
        self.next_offset = batch.next_offset

    def _append_over(
        self,
        subject: tuple[Hashable, Hashable],
        records: RecordBlock,
        size: int,
        wall_ms: Callable[[], int],
        max_batch_bytes: int,
        headers: bytes,
    ) -> None:
        """Overwrite the owner's last block if it is in the open batch and has the same keys; otherwise append the block.

        A block is not overwritten if records other than blocks follow it, or a block without a subject.
        """
        kept = self._kept
        assert kept is not None
        owner, keys = subject
        batch, last = self._batch, kept.get(owner)
        if batch is not None and last is not None and last.keys == keys and batch.size + size <= max_batch_bytes:
            other = batch.beside(last.offset)
            records.write(other, headers)
            batch.rewrite(last.first, last.last, other)
            records.replay(last.offset)
            return
        batch = self._batch_with_room(size, wall_ms, max_batch_bytes)
        offset, first = batch.next_offset, batch.parts()
        records.write(batch, headers)
        records.replay(offset)
        kept[owner] = Kept(keys, offset, first, batch.parts())
        self.next_offset = batch.next_offset

    def _encode(
        self, records: Iterable[CoordinatorRecord]
    ) -> tuple[list[tuple[bytes | None, bytes | None, CoordinatorRecord]], int]:
        """Return keys, values and records, and an upper bound of the bytes that they take in a batch."""
        encoded = []
        size = 0
        serde = self.serde
        for record in records:
            key, value = serde.encode_key(record), serde.encode_value(record)
            encoded.append((key, value, record))
            size += RECORD_OVERHEAD + len(key or b"") + len(value or b"")
        return encoded, size

    def _batch_with_room(self, size: int, wall_ms: Callable[[], int], max_batch_bytes: int) -> BatchBuilder:
        """Return the open batch, or a new one if it has no room for ``size`` bytes. Raises TooLarge."""
        if size + HEADER_SIZE > max_batch_bytes:
            raise TooLarge(f"records of {size} bytes, {max_batch_bytes - HEADER_SIZE} fit into a batch")
        batch = self._batch
        if batch is not None and batch.size + size > max_batch_bytes:
            self.end_batch()
            batch = None
        if batch is None:
            if self._kept:
                self._kept.clear()
            self.registry.snapshot(self.next_offset)
            self._batch_base = self.next_offset
            batch = self._batch = BatchBuilder(self._batch_base, self._next_ms(wall_ms()))
        return batch

    def append_each(
        self, records: Iterable[CoordinatorRecord], wall_ms: Callable[[], int], max_batch_bytes: int, headers: bytes = NO_HEADERS
    ) -> None:
        """Append each record on its own, possibly to several batches. The records before a failed one stay."""
        for record in records:
            self.append((record,), wall_ms, max_batch_bytes, headers)
            headers = NO_HEADERS

    def append_in_transaction(
        self,
        claim: Claim,
        records: Sequence[CoordinatorRecord] | RecordBlock,
        wall_ms: Callable[[], int],
        max_batch_bytes: int,
        headers: bytes,
    ) -> None:
        """Append the records as ``append`` does, but in a separate batch with the transaction's producer id and epoch.

        If it raises, nothing has changed. Raises CoordinatorError if the claim does not hold.
        """
        producer, at_ms = claim.producer, self._next_ms(wall_ms())
        self.producers.check_append(claim)
        self._open_transactional(at_ms, producer, TRANSACTIONAL, base_sequence=0)
        try:
            self.producers.append(producer, self._batch_base, at_ms, len(records) - 1)
            self.append(records, wall_ms, max_batch_bytes, headers, partial(self.shard.replay_in_transaction, producer))
        except Exception:
            self.revert_open_batch()
            raise
        self.end_batch()

    def end_transaction(self, end: EndOfTransaction, at_ms: int) -> None:
        """Replay the end of a transaction and put its marker into a separate batch.

        If it raises, nothing has changed. Raises CoordinatorError if the marker is late.
        """
        producer, at_ms = end.producer, self._next_ms(at_ms)
        coordinator_epoch = self.producers.check_marker(end)
        batch = self._open_transactional(at_ms, producer, TRANSACTIONAL | CONTROL, base_sequence=-1)
        try:
            self.producers.end(producer, self._batch_base, at_ms, coordinator_epoch)
            self.shard.replay_end_transaction_marker(producer, end.result)
        except Exception:
            self.revert_open_batch()
            raise
        batch.append(*end_transaction_marker(end.result is TransactionResult.COMMIT, coordinator_epoch))
        self.next_offset = batch.next_offset
        self.end_batch()

    @property
    def has_full_batch(self) -> bool:
        """Whether a complete batch waits to be written."""
        return bool(self._full)

    def take_flush(self) -> Append | None:
        """Return all batches that are not being written yet as one append, or None if there are none."""
        self.end_batch()
        if not self._full:
            return None
        data = b"".join(self._full) if len(self._full) > 1 else self._full[0]
        append = Append(self.id, self.ownership.epoch, self.flushing_to, data)
        self._full = []
        self.flushing_to = self.next_offset
        return append

    def commit(self, offset: int) -> list[DeferredEvent]:
        """Advance the high watermark to ``offset`` and return the events that waited for it."""
        self.high_watermark = offset
        self.registry.delete_up_to(offset)
        return self.deferred.take_up_to(offset)

    def revert(self) -> list[DeferredEvent]:
        """Revert the state to the high watermark and return the failed events. Called when an append has failed."""
        self._batch = None
        self._full = []
        self.registry.revert_to(self.high_watermark)
        self.flushing_to = self.next_offset = self.high_watermark
        return self.deferred.take_after(self.high_watermark)

    def revert_open_batch(self) -> list[DeferredEvent]:
        """Revert the open batch, if any, and return its failed events. Batches that are being written stay."""
        if self._batch is None:
            return []
        self._batch = None
        self.registry.revert_to(self._batch_base)
        self.next_offset = self._batch_base
        return self.deferred.take_after(self._batch_base)

    def refusal(self) -> ErrorCode:
        """Return the error for requests to a shard that is not ACTIVE."""
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if self.state is ShardState.LOADING else ErrorCode.NOT_COORDINATOR

    def _next_ms(self, now_ms: int) -> int:
        """Return the timestamp of the next batch."""
        if now_ms < self.last_ms:
            self.when_behind(self.last_ms, now_ms)
        else:
            self.last_ms = now_ms
        return self.last_ms

    def _open_transactional(self, at_ms: int, producer: Producer, attributes: int, base_sequence: int) -> BatchBuilder:
        """Open a batch for a transaction's records, after closing the open one: the log has the order of the operations."""
        self.end_batch()
        self.registry.snapshot(self.next_offset)
        self._batch_base = self.next_offset
        self._batch = BatchBuilder(
            self._batch_base,
            at_ms,
            attributes=attributes,
            producer_id=producer.id,
            producer_epoch=producer.epoch,
            base_sequence=base_sequence,
        )
        return self._batch

    def end_batch(self) -> None:
        """Close the open batch, if there is one, so that the next operation starts a new one."""
        if self._batch is not None:
            self._full.append(self._batch.finish())
            self._batch = None
