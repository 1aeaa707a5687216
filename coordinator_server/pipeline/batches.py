"""How the records of a layer are cut into batches.

At most MAX_RECORDS records and MAX_BYTES of keys and values, of one leader epoch; the first record gives base offset and base timestamp. Batches
that are kept as they are stand between them.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from protocol.record_batch import BatchBuilder, Record

MAX_RECORDS: Final = 200
MAX_BYTES: Final = 1024 * 1024
MAX_OFFSET_DELTA: Final = 2**31 - 1


class Kept(NamedTuple):
    """A record and the leader epoch it was written in."""

    record: Record
    epoch: int


class Held(NamedTuple):
    """A batch that stays as it is."""

    base_offset: int
    data: bytes


def lay_out(kept: Iterable[Kept], held: Sequence[Held]) -> Iterator[Held]:
    """The batches of a layer in offset order: records, cut into batches, and between them those that are held. Both come in offset order."""
    bases = [batch.base_offset for batch in held]
    done = 0
    for before, run in groupby(kept, key=lambda item: bisect(bases, item.record.offset)):
        yield from held[done:before]
        done = before
        yield from (Held(batch[0].record.offset, encode_batch(batch)) for batch in cut(run))
    yield from held[done:]


def cut(kept: Iterable[Kept]) -> Iterator[list[Kept]]:
    """The batches of records in offset order."""
    batch: list[Kept] = []
    size = 0
    for item in kept:
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


def encode_batch(batch: list[Kept]) -> bytes:
    """A batch's bytes."""
    first = batch[0]
    builder = BatchBuilder(first.record.offset, first.record.timestamp, first.epoch)
    for item in batch:
        builder.append_record(item.record)
    return builder.finish()
