"""Writes partition directories as a Kafka broker would leave them: batches with holes, of transactions, and their markers."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

from protocol.batch_builder import BatchBuilder
from protocol.record_batch import CONTROL, TRANSACTIONAL, Record
from tests.support.segments import START_MS

Pair = tuple[bytes, bytes | None]
COMMIT = 1
ABORT = 0


def plain(offset: int, *pairs: Pair, epoch: int = 3) -> bytes:
    """A batch of records that counts at once."""
    builder = BatchBuilder(offset, START_MS + offset, epoch)
    for key, value in pairs:
        builder.append(key, value)
    return builder.finish()


def of_transaction(offset: int, producer_id: int, *pairs: Pair) -> bytes:
    """A batch that counts when its producer's commit marker follows."""
    builder = BatchBuilder(offset, START_MS + offset, 3, attributes=TRANSACTIONAL, producer_id=producer_id, producer_epoch=0)
    for key, value in pairs:
        builder.append(key, value)
    return builder.finish()


def marker(offset: int, producer_id: int, kind: int) -> bytes:
    """The end of a producer's transaction."""
    attributes = TRANSACTIONAL | CONTROL
    builder = BatchBuilder(offset, START_MS + offset, 3, attributes=attributes, producer_id=producer_id, producer_epoch=0)
    builder.append(struct.pack(">hh", 0, kind), struct.pack(">hi", 0, 0))
    return builder.finish()


def with_holes(*records: Record) -> bytes:
    """One batch of records that a cleaner has left."""
    builder = BatchBuilder(records[0].offset, records[0].timestamp, 3)
    for record in records:
        builder.append_record(record)
    return builder.finish()


def write_partition(
    log_dir: Path, number: int, *segments: tuple[str, Sequence[bytes]], topic: str = "__consumer_offsets"
) -> Path:
    """A partition of a topic with files of these names and batches."""
    directory = log_dir / f"{topic}-{number}"
    directory.mkdir(parents=True, exist_ok=True)
    for name, batches in segments:
        (directory / name).write_bytes(b"".join(batches))
    return directory


def segment(base: int, suffix: str = "") -> str:
    return f"{base:020d}.log{suffix}"
