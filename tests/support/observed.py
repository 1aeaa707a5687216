"""Batches as a cluster that is followed has them, and the records of a directory that follows it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from struct import Struct

from coordinator_server.log.opening import job_shards
from coordinator_server.observe.cluster import TOPICS
from coordinator_server.pipeline.files.kafka.files import KafkaDir
from coordinator_server.pipeline.input.data_dir import durable
from coordinator_server.pipeline.input.files import batches_before, records_of
from protocol.batch_builder import BatchBuilder, batch_like
from protocol.record_batch import HEADER_SIZE, LENGTH_END, Record, read_header

_EPOCH = Struct(">i")


def in_epoch(data: bytes, epoch: int) -> bytes:
    """A batch that the leader of an epoch has written."""
    changed = bytearray(data)
    _EPOCH.pack_into(changed, LENGTH_END, epoch)
    return bytes(changed)


def cleaned(base: int, kept: Iterable[int], last: int, at_ms: int = 1_700_000_000_000) -> bytes:
    """A batch of the offsets from ``base`` to ``last`` of which the cleaner has kept some records."""
    builder = BatchBuilder(base, at_ms)
    for offset in (*kept, last):
        builder.append_record(Record(offset, at_ms, b"key", b"value"))
    whole = builder.finish()
    tail = BatchBuilder(base, at_ms)
    tail.append_record(Record(last, at_ms, b"key", b"value"))
    records = whole[HEADER_SIZE : len(whole) - len(tail.finish()) + HEADER_SIZE]
    return batch_like(read_header(whole), records, len(list(kept)))


def ours(data_dir: Path) -> dict[str, dict[int, Record]]:
    """The records of each shard by offset; a second one at an offset fails."""
    ends, found = durable(data_dir), {}
    for shard in job_shards(data_dir):
        records = [
            record
            for data, position, header in batches_before(shard.whole(ends[shard.name])[1], ends[shard.name])
            for record in records_of(data, position, header)
        ]
        found[shard.name] = {each.offset: each for each in records}
        assert len(found[shard.name]) == len(records), shard.name
    return found


def theirs(log_dir: Path) -> dict[str, dict[int, Record]]:
    """The same of a stopped broker."""
    return {
        f"{topic}-{partition.number}": {
            record.offset: record
            for batch in partition.batches()
            for record in records_of(batch.data, batch.position, batch.header)
        }
        for topic in TOPICS
        for partition in KafkaDir(log_dir).partitions(topic)
    }


def is_marker(record: Record) -> bool:
    """Whether a record ends a transaction: its key has a version and a type alone."""
    return record.key is not None and len(record.key) == 4
