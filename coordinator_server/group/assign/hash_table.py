"""The order of a Java HashSet of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

# A bucket that gets more makes a small table grow.
_MOST_IN_BUCKET: Final = 8
_LEAST_WITH_TREES: Final = 64
# Smaller numbers are their own hashes.
_PLAIN: Final = 1 << 16


def order_numbers(buckets: int, changes: Sequence[int]) -> list[int]:
    """Return the numbers of a HashSet in its order.

    The set began with so many ``buckets``, a power of two. ``changes`` are the numbers that were added, and the complements
    (``~n``) of those that were removed, in order. A bucket is taken for a list, also where Java makes it a tree.
    """
    if not changes:
        return []
    least, largest = min(changes), max(changes)
    if least < 0 or largest >= _PLAIN:
        return _replay(buckets, changes)
    if largest - least >= _MOST_IN_BUCKET * buckets and len(changes) > _MOST_IN_BUCKET and _may_crowd(buckets, changes):
        return _replay(buckets, changes)
    count = len(changes)
    while count > buckets * 3 // 4:
        buckets *= 2
    return sorted(changes) if largest < buckets else sorted(changes, key=(buckets - 1).__and__)


def _may_crowd(buckets: int, numbers: Sequence[int]) -> bool:
    mask = buckets - 1
    return max(Counter([number & mask for number in numbers]).values()) > _MOST_IN_BUCKET


def _replay(buckets: int, changes: Sequence[int]) -> list[int]:
    table: dict[int, list[int]] = {}
    count = 0
    for change in changes:
        number = change if change >= 0 else ~change
        chain = table.setdefault((number ^ number >> 16) & (buckets - 1), [])
        if change < 0:
            chain.remove(number)
            count -= 1
            continue
        chain.append(number)
        count += 1
        if len(chain) > _MOST_IN_BUCKET and buckets < _LEAST_WITH_TREES:
            buckets *= 2
            table = _grown(table, buckets)
        if count > buckets * 3 // 4:
            buckets *= 2
            table = _grown(table, buckets)
    return [number for _, chain in sorted(table.items()) for number in chain]


def _grown(table: dict[int, list[int]], buckets: int) -> dict[int, list[int]]:
    """Return the table with twice the buckets: the numbers of a bucket keep their order."""
    grown: dict[int, list[int]] = {}
    for chain in table.values():
        for number in chain:
            grown.setdefault((number ^ number >> 16) & (buckets - 1), []).append(number)
    return grown
