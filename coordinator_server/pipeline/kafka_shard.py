"""One partition of a Kafka broker's ``__consumer_offsets`` becomes one layer: the last record of every key, with its own offset.

Transactions are settled here, as Kafka's coordinator settles them when it loads (``OffsetMetadataManager``): what a commit marker ends
counts like any other record, by its own offset; what an abort marker ends never was. A transaction without its marker was still open when
the broker stopped. Its producer looks for its transaction coordinator in vain here, so it is left out, as Kafka aborts one whose producer does
not come back; or, where the caller wants that, its batches are kept as they are, transactional, and pending to whoever loads them.

The records are the broker's, key and value byte for byte, whatever their type. Only the batches around them are new: plain, uncompressed, of
leader epoch 0, which is the one that this server writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from struct import Struct as Layout
from typing import Final

from msgspec import Struct

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.layers import LayerAttempt, Summary, publish
from coordinator_server.log.segments import segment_path
from coordinator_server.pipeline.batches import Held, Kept, lay_out
from coordinator_server.pipeline.digest import Digest, digest_of
from coordinator_server.pipeline.errors import GateClosed
from coordinator_server.pipeline.kafka_files import Partition, SourceBatch
from coordinator_server.pipeline.rules import rule_of
from coordinator_server.pipeline.standing import records_of
from protocol.control_records import ABORT, COMMIT, control_type
from protocol.errors import DecodeError
from protocol.record_batch import Record, iter_batches, iter_records

_LEADER_EPOCH: Final = Layout(">i")
_LEADER_EPOCH_AT: Final = 12


class OpenTransaction(Struct):
    """What one producer has written since its last marker."""

    producer_id: int
    batches: list[Held] = []
    records: list[Record] = []


class KafkaShard(Struct):
    """What a partition's log comes to."""

    next_offset: int = 0
    records_in: int = 0
    without_key: int = 0
    latest: dict[bytes, Record] = {}
    open: dict[int, OpenTransaction] = {}


def read_shard(partition: Partition) -> KafkaShard:
    """Read a partition to its end. DamagedLog where Kafka's own bytes are not what they were."""
    shard = KafkaShard()
    for batch in partition.batches():
        shard.next_offset = batch.header.next_offset
        if batch.header.is_control:
            _end_transaction(shard, batch)
            continue
        records = [record for record in _records(batch) if record.offset >= partition.log_start]
        shard.records_in += len(records)
        if batch.header.is_transactional:
            _hold(shard, batch, records)
        else:
            _keep(shard, records)
    shard.next_offset = max(shard.next_offset, partition.next_offset())
    return shard


def settle(shard: KafkaShard, outcomes: dict[int, bool]) -> None:
    """End transactions whose outcome was decided although their markers had not been written yet: by producer id, committed or not."""
    for producer_id in shard.open.keys() & outcomes.keys():
        _settle(shard, producer_id, is_committed=outcomes[producer_id])


def write_layer(shard: KafkaShard, directory: Path) -> None:
    """Publish what a shard comes to as the layer that stands for everything before ``next_offset``."""
    expected = digest_of(_pairs(shard.latest.values()))
    with LayerAttempt(directory, shard.next_offset) as attempt:
        for batch in _batches(shard):
            attempt.append(batch.base_offset, batch.data)
        attempt.close()
        found = Digest()
        for entry in attempt.entries:
            found.merge(_digest(attempt.path / entry.name))
        if found != expected:
            raise GateClosed(
                f"{directory.name}: {expected.count} records with digest {expected} became {found.count} with {found}. Please report this"
            )
        make_checkpoint = rule_of(directory.name).checkpoint
        if make_checkpoint is not None:
            # There is none where transactions are open: then a start reads the records.
            make_checkpoint(attempt, 0)
        pending = sum(len(transaction.records) for transaction in shard.open.values())
        tombstones = sum(record.value is None for record in shard.latest.values())
        attempt.finish(Summary(len(shard.latest) + pending, tombstones, None, str(found)), ())
    # As after a seal: an empty segment goes on where the layer ends.
    Path(segment_path(str(directory), shard.next_offset)).touch()
    publish(attempt.path, directory, shard.next_offset)


def _records(batch: SourceBatch) -> Iterator[Record]:
    try:
        yield from records_of(batch.data, batch.position, batch.header)
    except DecodeError as error:
        raise batch.damage(error.reason) from error


def _keep(shard: KafkaShard, records: Iterable[Record]) -> None:
    for record in records:
        if record.key is None:
            # Nothing that a coordinator writes, and nothing that Kafka's loader or cleaner would keep.
            shard.without_key += 1
            continue
        known = shard.latest.get(record.key)
        if known is None or record.offset > known.offset:
            shard.latest[record.key] = record


def _hold(shard: KafkaShard, batch: SourceBatch, records: list[Record]) -> None:
    if not records:
        return
    header = batch.header
    data = bytearray(batch.data[batch.position : batch.position + header.size])
    # Outside of what the checksum covers.
    _LEADER_EPOCH.pack_into(data, _LEADER_EPOCH_AT, 0)
    transaction = shard.open.setdefault(header.producer_id, OpenTransaction(header.producer_id))
    transaction.batches.append(Held(header.base_offset, bytes(data)))
    transaction.records += records


def _end_transaction(shard: KafkaShard, batch: SourceBatch) -> None:
    for record in _records(batch):
        kind = _control_type(batch, record)
        # Markers of other kinds say nothing of transactions.
        if kind in (ABORT, COMMIT):
            _settle(shard, batch.header.producer_id, is_committed=kind == COMMIT)


def _control_type(batch: SourceBatch, record: Record) -> int:
    try:
        return control_type(record.key)
    except DecodeError as error:
        raise batch.damage(error.reason) from error


def _settle(shard: KafkaShard, producer_id: int, *, is_committed: bool) -> None:
    transaction = shard.open.pop(producer_id, None)
    if transaction is not None and is_committed:
        _keep(shard, transaction.records)


def _batches(shard: KafkaShard) -> Iterator[Held]:
    """The batches of the layer, in offset order."""
    records = sorted(shard.latest.values(), key=lambda record: record.offset)
    held = sorted(batch for transaction in shard.open.values() for batch in transaction.batches)
    return lay_out((Kept(record, 0) for record in records), held)


def _digest(path: Path) -> Digest:
    """The digest of the plain records in a file, read back."""
    data = path.read_bytes()
    found = Digest()
    try:
        for position, header in iter_batches(data):
            if not header.is_transactional:
                found.merge(digest_of(_pairs(iter_records(data, position, header))))
    except DecodeError as error:
        raise DamagedLog(str(path), error.position or 0, error.reason) from error
    return found


def _pairs(records: Iterable[Record]) -> Iterator[tuple[bytes, bytes | None]]:
    return ((record.key or b"", record.value) for record in records)
