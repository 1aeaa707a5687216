"""Converts one partition of a Kafka broker's folded log, ``__share_group_state``, to one layer: what compaction would keep of it.

A broker removes records from the front of this log when later snapshots have replaced them. So it begins with a record of every
share partition that was written since, and its records add up to the state as in our own log (``share/fold.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from coordinator_server.log.errors import DamagedLog
from coordinator_server.pipeline.errors import GateClosed
from coordinator_server.pipeline.files.kafka.files import Partition
from coordinator_server.pipeline.files.kafka.shard import KafkaShard
from coordinator_server.pipeline.input.files import records_of
from coordinator_server.pipeline.rules import Folded, Rule
from protocol.errors import DecodeError
from protocol.record_batch import Record


class FoldedPartition(Struct):
    """The contents of a partition's log. ``unknown`` is the number of records of types that this version does not know."""

    shard: KafkaShard
    # The number of what the state consists of: share partitions.
    parts: int = 0
    unknown: int = 0


def read_folded(partition: Partition, rule: Rule, folded: Folded) -> FoldedPartition:
    """Read a partition to its end, and fold it. Raises DamagedLog; GateClosed if the kept records have a different state.

    Records of unknown types and control records are left out: no state machine of this version can fold them.
    """
    state = rule.state()
    fold = folded.fold(state)
    found = FoldedPartition(KafkaShard())
    for record, damaged in _records(partition):
        found.shard.records_in += 1
        try:
            decoded = rule.kind.serde.decode(record.key, record.value)
        except DecodeError as error:
            raise damaged(error.reason) from error
        if decoded is None:
            found.unknown += 1
        else:
            fold.add(record.offset, decoded)
    found.shard.next_offset = partition.next_offset()
    found.parts = len(state)
    again = rule.state()
    proof = folded.fold(again)
    kept = dict(sorted(fold.records(), key=lambda item: item[0]))
    for offset, each in kept.items():
        proof.add(offset, each)
    if again.digest() != state.digest():
        raise GateClosed(f"{partition.directory.name}: what was folded has a different state. Please report this")
    # Timestamp and headers are those of the record at the same offset: read again, so that not all are in memory.
    for record, _ in _records(partition):
        if record.offset in kept:
            key, value = (encode(kept[record.offset]) for encode in (rule.kind.serde.encode_key, rule.kind.serde.encode_value))
            folded_record = Record(record.offset, record.timestamp, key, value, record.headers)
            found.shard.latest[record.offset.to_bytes(8)] = folded_record
    return found


def _records(partition: Partition) -> Iterator[tuple[Record, Callable[[str], DamagedLog]]]:
    """Yield the records from the log's start on, each with what makes the error if it cannot be read."""
    for batch in partition.batches():
        if batch.header.is_control:
            continue
        try:
            for record in records_of(batch.data, batch.position, batch.header):
                if record.offset >= partition.log_start:
                    yield record, batch.damage
        except DecodeError as error:
            raise batch.damage(error.reason) from error
