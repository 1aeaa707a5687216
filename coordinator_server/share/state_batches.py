"""Combines the delivery states of a share partition's records (Kafka's ``PersisterStateBatchCombiner``).

A batch has the delivery count and the delivery state of the records from its first to its last offset. Where two batches overlap,
the larger delivery count wins; with equal counts, the larger delivery state (acknowledged 2 and archived 4 over available 0). The
result is sorted and has no overlaps. Adjacent batches with equal count and state are merged only if ``combine`` compares them, so
that the result equals Kafka's batch by batch.

A batch whose last offset is below its first has no record. As in Kafka it is kept where no other batch meets it. One that lies
inside a batch with a smaller delivery count or state is dropped: Kafka's coordinator then splits and merges that batch forever.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from typing import Final, NamedTuple

NO_START_OFFSET: Final = -1
"""An unset start offset: no record is below it."""


class StateBatch(NamedTuple):
    """The delivery state of consecutive records. Batches are ordered by their fields."""

    first_offset: int
    last_offset: int
    delivery_count: int
    delivery_state: int


def combine(batches: Iterable[StateBatch], start_offset: int) -> tuple[StateBatch, ...]:
    """Combine batches, and drop everything below ``start_offset``."""
    rest = list(batches) if start_offset == NO_START_OFFSET else _from(start_offset, batches)
    if len(rest) < 2:
        return tuple(rest)
    rest.sort()
    # ``batch`` is the least of those that are not done; the others are rest[place:], in order.
    done: list[StateBatch] = []
    batch, place = rest[0], 1
    last = batch[1]
    while place < len(rest):
        later = rest[place]
        place += 1
        if later == batch:
            continue
        first = later[0]
        if first > last and (first != last + 1 or later[2:] != batch[2:]):
            done.append(batch)
            batch = later
        else:
            before, batch, behind = _pieces(batch, later)
            if before is not None:
                done.append(before)
            if behind is not None:
                insort(rest, behind, lo=place)
        last = batch[1]
    done.append(batch)
    return tuple(done)


def _from(start_offset: int, batches: Iterable[StateBatch]) -> list[StateBatch]:
    """Return the parts of batches that are not below the start offset."""
    return [
        batch if batch[0] >= start_offset else batch._replace(first_offset=start_offset)
        for batch in batches
        if batch[1] >= start_offset
    ]


def _pieces(batch: StateBatch, later: StateBatch) -> tuple[StateBatch | None, StateBatch, StateBatch | None]:
    """Combine two batches that overlap, or are adjacent and alike. ``later`` does not sort before ``batch``.

    Return what is done, what is next, and what others may sort before.
    """
    if later[2:] == batch[2:]:
        return None, batch if later.last_offset <= batch.last_offset else batch._replace(last_offset=later.last_offset), None
    is_longer = later.last_offset > batch.last_offset
    if later[2:] < batch[2:]:
        return None, batch, later._replace(first_offset=batch.last_offset + 1) if is_longer else None
    if later.first_offset == batch.first_offset:
        return None, later, None
    if later.last_offset < later.first_offset:
        return None, batch, None
    rest = batch._replace(first_offset=later.last_offset + 1) if batch.last_offset > later.last_offset else None
    return batch._replace(last_offset=later.first_offset - 1), later, rest
