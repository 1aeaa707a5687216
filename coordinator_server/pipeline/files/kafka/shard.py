"""Converts one partition of a Kafka broker's ``__consumer_offsets`` to one layer: the last record of every key, at its own offset.

Transactions are ended as Kafka's coordinator ends them when it loads (``OffsetMetadataManager``): committed records count like any
other record, at their own offsets; aborted records are dropped. A transaction without a marker was open when the broker stopped.
Its producer finds no transaction coordinator here, so it is left out, as Kafka aborts a transaction whose producer does not
return. If the caller asks for it, its batches are kept unchanged instead: transactional, and pending after a load.

Keys and values are copied byte for byte, for every record type. Only the batches are new: plain, uncompressed, with leader epoch 0,
which is the one that this server writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from pathlib import Path
from struct import Struct as Layout
from typing import Final

from msgspec import Struct

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.file_names import segment_path
from coordinator_server.log.jobs import LayerSummary
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.storage import LOCAL, Storage, read_file
from coordinator_server.pipeline.errors import GateClosed
from coordinator_server.pipeline.files.kafka.files import KafkaBatch, Partition
from coordinator_server.pipeline.input.files import records_of
from coordinator_server.pipeline.layer.batches import LayerBatch, LayerRecord, lay_out
from coordinator_server.pipeline.layer.checkpoint import read_all
from coordinator_server.pipeline.layer.record_digest import RecordDigest, digest_records
from coordinator_server.pipeline.rules import rule_of
from protocol.control_records import ABORT, COMMIT, control_type
from protocol.errors import DecodeError
from protocol.record_batch import LENGTH_END, NO_PRODUCER_ID, Record, iter_batches, iter_records

_LEADER_EPOCH: Final = Layout(">i")


class OpenTransaction(Struct):
    """What one producer has written since its last marker."""

    producer_id: int
    batches: list[LayerBatch] = []
    records: list[Record] = []


class KafkaShard(Struct):
    """The contents of a partition's log. ``highest_producer_id`` is that of its batches; -1 if no producer wrote any.

    ``latest`` has the records to keep: by key, those of a folded log by offset.
    """

    next_offset: int = 0
    records_in: int = 0
    without_key: int = 0
    highest_producer_id: int = NO_PRODUCER_ID
    latest: dict[bytes, Record] = {}
    open: dict[int, OpenTransaction] = {}


def read_shard(partition: Partition) -> KafkaShard:
    """Read a partition to its end. Raises DamagedLog."""
    shard = KafkaShard()
    for batch in partition.batches():
        shard.next_offset = batch.header.next_offset
        shard.highest_producer_id = max(shard.highest_producer_id, batch.header.producer_id)
        if batch.header.is_control:
            _apply_markers(shard, batch)
            continue
        records = [record for record in _records(batch) if record.offset >= partition.log_start]
        shard.records_in += len(records)
        if batch.header.is_transactional:
            _keep_open(shard, batch, records)
        else:
            _keep(shard, records)
    shard.next_offset = max(shard.next_offset, partition.next_offset())
    return shard


def end_decided(shard: KafkaShard, outcomes: dict[int, bool]) -> None:
    """End transactions that were decided before their markers were written. ``outcomes`` says by producer id whether to commit."""
    for producer_id in shard.open.keys() & outcomes.keys():
        _end_transaction(shard, producer_id, is_committed=outcomes[producer_id])


def write_layer(shard: KafkaShard, directory: Path, storage: Storage = LOCAL) -> None:
    """Publish the shard as the layer that replaces everything before ``next_offset``."""
    expected = digest_records(_pairs(shard.latest.values()))
    with LayerAttempt(directory, shard.next_offset, storage=storage) as attempt:
        for batch in _batches(shard):
            attempt.append(batch.base_offset, batch.data)
        attempt.close()
        found = RecordDigest()
        for entry in attempt.entries:
            found.merge(_digest(storage, attempt.path / entry.name))
        if found != expected:
            raise GateClosed(
                f"{directory.name}: {expected.count} records with digest {expected} became {found.count} with {found}. Please "
                "report this"
            )
        make_checkpoint = rule_of(directory.name).checkpoint
        if make_checkpoint is not None:
            make_checkpoint(attempt, 0, read_all)
        pending = sum(len(transaction.records) for transaction in shard.open.values())
        tombstones = sum(record.value is None for record in shard.latest.values())
        attempt.finish(LayerSummary(len(shard.latest) + pending, tombstones, None, str(found)), ())
    # An empty segment starts where the layer ends, as after a seal.
    storage.open(segment_path(str(directory), shard.next_offset), create=True).close()
    publish(attempt.path, directory, shard.next_offset, storage)


def _records(batch: KafkaBatch) -> Iterator[Record]:
    try:
        yield from records_of(batch.data, batch.position, batch.header)
    except DecodeError as error:
        raise batch.damage(error.reason) from error


def _keep(shard: KafkaShard, records: Iterable[Record]) -> None:
    for record in records:
        if record.key is None:
            # No coordinator writes these, and Kafka's loader and cleaner drop them.
            shard.without_key += 1
            continue
        known = shard.latest.get(record.key)
        if known is None or record.offset > known.offset:
            shard.latest[record.key] = record


def _keep_open(shard: KafkaShard, batch: KafkaBatch, records: list[Record]) -> None:
    if not records:
        return
    header = batch.header
    data = bytearray(batch.data[batch.position : batch.position + header.size])
    # It follows the length, and the checksum does not cover it.
    _LEADER_EPOCH.pack_into(data, LENGTH_END, 0)
    transaction = shard.open.setdefault(header.producer_id, OpenTransaction(header.producer_id))
    transaction.batches.append(LayerBatch(header.base_offset, bytes(data)))
    transaction.records += records


def _apply_markers(shard: KafkaShard, batch: KafkaBatch) -> None:
    for record in _records(batch):
        kind = _control_type(batch, record)
        # Other control records do not end transactions.
        if kind in (ABORT, COMMIT):
            _end_transaction(shard, batch.header.producer_id, is_committed=kind == COMMIT)


def _control_type(batch: KafkaBatch, record: Record) -> int:
    try:
        return control_type(record.key)
    except DecodeError as error:
        raise batch.damage(error.reason) from error


def _end_transaction(shard: KafkaShard, producer_id: int, *, is_committed: bool) -> None:
    transaction = shard.open.pop(producer_id, None)
    if transaction is not None and is_committed:
        _keep(shard, transaction.records)


def _batches(shard: KafkaShard) -> Iterator[LayerBatch]:
    """Return the batches of the layer, in offset order."""
    records = sorted(shard.latest.values(), key=lambda record: record.offset)
    unchanged = sorted(batch for transaction in shard.open.values() for batch in transaction.batches)
    return lay_out(merge(unchanged, (LayerRecord(record, 0) for record in records), key=_offset_of))


def _offset_of(item: LayerRecord | LayerBatch) -> int:
    return item.base_offset if isinstance(item, LayerBatch) else item.record.offset


def _digest(storage: Storage, path: Path) -> RecordDigest:
    """Read a file of the layer and return the digest of its plain records."""
    data = read_file(storage, str(path))
    found = RecordDigest()
    try:
        for position, header in iter_batches(data):
            if not header.is_transactional:
                found.merge(digest_records(_pairs(iter_records(data, position, header))))
    except DecodeError as error:
        raise DamagedLog(str(path), error.position or 0, error.reason) from error
    return found


def _pairs(records: Iterable[Record]) -> Iterator[tuple[bytes, bytes | None]]:
    return ((record.key or b"", record.value) for record in records)
