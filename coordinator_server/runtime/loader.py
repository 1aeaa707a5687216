"""Replays a shard's log into its state machine in bounded steps (Kafka's ``CoordinatorLoader``)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any

import structlog

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.store import LoadingLog
from coordinator_server.machine.shard import CoordinatorShard, Producer, TransactionResult
from coordinator_server.machine.timeline import LATEST
from coordinator_server.runtime.context import ShardContext
from coordinator_server.runtime.layer_checkpoint import LayerCheckpoint
from coordinator_server.runtime.producers import Producers
from protocol.control_records import ABORT, COMMIT, control_type, coordinator_epoch
from protocol.coordinator_records import RecordSerde
from protocol.errors import Malformed
from protocol.record_batch import HEADER_SIZE, NO_PRODUCER_ID, BatchHeader, iter_records, read_header, read_record

log = structlog.get_logger(__name__)

# Takes one or two milliseconds.
RECORDS_PER_STEP = 1000

_RESULTS = {COMMIT: TransactionResult.COMMIT, ABORT: TransactionResult.ABORT}


class ShardLoader:
    """One load of one shard. Records of unknown types are skipped: a newer version wrote them."""

    def __init__(self, store: LoadingLog, context: ShardContext[Any]) -> None:
        self._store = store
        self._context = context
        self._batches: Iterator[bytes] | None = None
        self._last: bytes | None = None
        self._replay = BatchReplay(context.serde, context.shard, context.producers).replay

    def step(self) -> bool:
        """Replay the next records. Return True when the end of the log is reached. Raises LogError and ProtocolError."""
        context = self._context
        if self._batches is None:
            self._batches = self._begin()
        replayed = 0
        for batch in self._batches:
            replayed += self._replay(batch)
            self._last = batch
            if replayed >= RECORDS_PER_STEP:
                context.records_loaded += replayed
                return False
        context.records_loaded += replayed
        context.start_at(self._store.end_offset(context.id), self._end_time())
        return True

    def _begin(self) -> Iterator[bytes]:
        """Return the batches to replay: those after the checkpoint if the shard adopts one, otherwise all."""
        context, store = self._context, self._store
        try:
            checkpoint = store.checkpoint(context.id)
        except DamagedLog as damage:
            log.error("checkpoint-damaged", why=str(damage), action="the layer's records are replayed; compact again")
            checkpoint = None
        if checkpoint is None or not context.shard.use_checkpoint(LayerCheckpoint(checkpoint, context.serde)):
            return store.read(context.id, 0)
        return chain(checkpoint.other_batches(), store.read(context.id, checkpoint.to_offset))

    def _end_time(self) -> int:
        """Return the timestamp of the log's last batch; 0 if it has none."""
        compacted_to = self._store.compacted_to(self._context.id)
        if self._last is not None:
            header = read_header(self._last)
            if header.next_offset > compacted_to:
                return header.max_timestamp
        # The last batch was compacted, and was perhaps not kept.
        return self._store.end_time(self._context.id) if compacted_to else 0


class BatchReplay:
    """``replay_batch`` for one shard, using its fast replay for the most frequent type of record."""

    def __init__(self, serde: RecordSerde, shard: CoordinatorShard, producers: Producers | None = None) -> None:
        self._serde = serde
        self._shard = shard
        self._producers = producers
        self._plain = shard.plain_records()

    def replay(self, batch: bytes, upto: int = LATEST) -> int:
        """Replay the records before ``upto``. Return the number of records in the batch. Raises DecodeError."""
        header = read_header(batch)
        if self._plain is None or header.attributes or header.producer_id != NO_PRODUCER_ID or header.next_offset > upto:
            return replay_batch(batch, self._serde, self._shard, upto, self._producers)
        pos, end, count = HEADER_SIZE, header.size, 0
        while pos < end:
            pos, taken = self._plain.replay(batch, pos, end, header.base_offset, header.last_offset_delta)
            count += taken
            if pos < end:
                record, pos = read_record(batch, pos, end, header)
                decoded = self._serde.decode(record.key, record.value)
                if decoded is not None:
                    self._shard.replay(record.offset, decoded)
                count += 1
        if count != header.count:
            raise Malformed(f"{count} records where the header says {header.count}", message="RecordBatch", position=end)
        return count


def replay_batch(
    batch: bytes, serde: RecordSerde, shard: CoordinatorShard, upto: int = LATEST, producers: Producers | None = None
) -> int:
    """Replay the records before ``upto`` into a shard. Return the number of records in the batch. Raises DecodeError.

    Both recovery and the pipeline use it; recovery also notes the producers of the whole batch.
    """
    header = read_header(batch)
    if header.is_control:
        return _replay_markers(batch, header, shard, upto, producers)
    decode, replay = serde.decode, shard.replay
    if header.producer_id != NO_PRODUCER_ID:
        producer = Producer(header.producer_id, header.producer_epoch)
        replay = partial(shard.replay_in_transaction, producer)
        if producers is not None:
            producers.append(producer, header.base_offset, header.max_timestamp, header.last_sequence)
    for record in iter_records(batch, 0, header, with_headers=False):
        decoded = decode(record.key, record.value)
        if decoded is not None and record.offset < upto:
            replay(record.offset, decoded)
    return header.count


def _replay_markers(batch: bytes, header: BatchHeader, shard: CoordinatorShard, upto: int, producers: Producers | None) -> int:
    producer = Producer(header.producer_id, header.producer_epoch)
    for record in iter_records(batch, 0, header):
        result = _RESULTS.get(control_type(record.key))
        if result is not None and record.offset < upto:
            shard.replay_end_transaction_marker(producer, result)
            if producers is not None:
                producers.end(producer, record.offset, header.max_timestamp, coordinator_epoch(record.value))
    return header.count
