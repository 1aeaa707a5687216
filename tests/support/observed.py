"""Batches as a cluster that is followed has them."""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct

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
