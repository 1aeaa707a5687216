"""Combines the delivery states of a share partition's records (Kafka's ``PersisterStateBatchCombiner``).

A batch has the delivery count and the delivery state of the records from its first to its last offset. Where two batches overlap,
the larger delivery count wins; with equal counts, the larger delivery state (acknowledged 2 and archived 4 over available 0). The
result is sorted and has no overlaps. Adjacent batches with equal count and state are merged only if ``combine`` compares them, so
that the result equals Kafka's batch by batch.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import Final, NamedTuple

# An unset start offset: no record is below it.
NO_START_OFFSET: Final = -1


class StateBatch(NamedTuple):
    """The delivery state of consecutive records. Batches are ordered by their fields."""

    first_offset: int
    last_offset: int
    delivery_count: int
    delivery_state: int


def combine(batches: Iterable[StateBatch], start_offset: int) -> tuple[StateBatch, ...]:
    """Combine batches, and drop everything below ``start_offset``."""
    rest = list(_from(start_offset, batches))
    heapify(rest)
    combined: list[StateBatch] = []
    while rest:
        batch = heappop(rest)
        if rest and _meet(batch, rest[0]):
            for piece in _pieces(batch, heappop(rest)):
                heappush(rest, piece)
        else:
            combined.append(batch)
    return tuple(combined)


def _from(start_offset: int, batches: Iterable[StateBatch]) -> Iterable[StateBatch]:
    """Yield the parts of batches that are not below the start offset. Batches without a record are dropped."""
    for batch in batches:
        if batch.first_offset < start_offset:
            batch = batch._replace(first_offset=start_offset)
        if batch.first_offset <= batch.last_offset:
            yield batch


def _meet(batch: StateBatch, later: StateBatch) -> bool:
    """Return whether two batches overlap, or are adjacent with equal count and state."""
    return later.first_offset <= batch.last_offset or (later.first_offset == batch.last_offset + 1 and batch[2:] == later[2:])


def _pieces(batch: StateBatch, later: StateBatch) -> list[StateBatch]:
    """Combine two batches that meet. ``later`` does not start before ``batch``."""
    if later[2:] == batch[2:]:
        return [batch._replace(last_offset=max(batch.last_offset, later.last_offset))]
    if later[2:] < batch[2:]:
        behind = [later._replace(first_offset=batch.last_offset + 1)] if later.last_offset > batch.last_offset else []
        return [batch, *behind]
    pieces = [later]
    if batch.first_offset < later.first_offset:
        pieces.append(batch._replace(last_offset=later.first_offset - 1))
    if batch.last_offset > later.last_offset:
        pieces.append(batch._replace(first_offset=later.last_offset + 1))
    return pieces
