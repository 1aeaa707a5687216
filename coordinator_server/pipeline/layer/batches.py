"""How the records of a layer are cut into batches.

A batch has at most MAX_RECORDS records, MAX_BYTES of keys and values, and one leader epoch. Its first record gives base offset
and base timestamp. Batches that compaction keeps unchanged come between them, in offset order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final, NamedTuple, cast

from protocol.batch_builder import BatchBuilder
from protocol.record_batch import Record

MAX_RECORDS: Final = 200
MAX_BYTES: Final = 1024 * 1024
MAX_OFFSET_DELTA: Final = 2**31 - 1


class LayerRecord(NamedTuple):
    """A record of a layer, and the leader epoch that it was written in."""

    record: Record
    epoch: int


class LayerBatch(NamedTuple):
    """An encoded batch of a layer."""

    base_offset: int
    data: bytes


def lay_out(items: Iterable[LayerRecord | LayerBatch]) -> Iterator[LayerBatch]:
    """Return the batches of a layer: the records, cut into batches, and the unchanged batches between them.

    All items are in offset order.
    """
    for is_batch, run in groupby(items, key=lambda item: isinstance(item, LayerBatch)):
        if is_batch:
            yield from cast(Iterator[LayerBatch], run)
        else:
            for batch in cut(cast(Iterator[LayerRecord], run)):
                yield LayerBatch(batch[0].record.offset, encode_batch(batch))


def cut(records: Iterable[LayerRecord]) -> Iterator[list[LayerRecord]]:
    """Divide records in offset order into batches."""
    batch: list[LayerRecord] = []
    size = 0
    for item in records:
        record = item.record
        added = len(record.key or b"") + len(record.value or b"")
        if batch and (
            len(batch) == MAX_RECORDS
            or size + added > MAX_BYTES
            or item.epoch != batch[0].epoch
            or record.offset - batch[0].record.offset > MAX_OFFSET_DELTA
        ):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += added
    if batch:
        yield batch


def encode_batch(batch: list[LayerRecord]) -> bytes:
    """Encode one batch."""
    first = batch[0]
    builder = BatchBuilder(first.record.offset, first.record.timestamp, first.epoch)
    for item in batch:
        builder.append_record(item.record)
    return builder.finish()
