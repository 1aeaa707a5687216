"""The order of a Java HashSet of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from coordinator_server.group.assign.hash_tree import TreeBucket

# A bucket that gets more becomes a tree, or makes a smaller table grow.
_MOST_IN_LIST: Final = 8
_LEAST_WITH_TREES: Final = 64
# A tree that is divided becomes lists of at most so many, and trees.
_MOST_AFTER_TREE: Final = 6
# Smaller numbers are their own hashes.
_PLAIN: Final = 1 << 16


def order_numbers(buckets: int, changes: Sequence[int]) -> list[int]:
    """Return the numbers of a HashSet in its order.

    The set began with so many ``buckets``, a power of two. ``changes`` are the numbers that were added, and the complements
    (``~n``) of those that were removed, in order.
    """
    if not changes:
        return []
    least, largest = min(changes), max(changes)
    if least < 0 or largest >= _PLAIN:
        return _replay(buckets, changes)
    if largest - least >= _MOST_IN_LIST * buckets and len(changes) > _MOST_IN_LIST and _may_crowd(buckets, changes):
        return _replay(buckets, changes)
    count = len(changes)
    while count > buckets * 3 // 4:
        buckets *= 2
    return sorted(changes) if largest < buckets else sorted(changes, key=(buckets - 1).__and__)


def _may_crowd(buckets: int, numbers: Sequence[int]) -> bool:
    mask = buckets - 1
    return max(Counter([number & mask for number in numbers]).values()) > _MOST_IN_LIST


def _replay(buckets: int, changes: Sequence[int]) -> list[int]:
    table: dict[int, list[int] | TreeBucket] = {}
    count = 0
    for change in changes:
        number = change if change >= 0 else ~change
        key = number ^ number >> 16
        place = key & (buckets - 1)
        bucket = table.get(place)
        if change < 0:
            count -= 1
            if isinstance(bucket, TreeBucket):
                if bucket.remove(key):
                    table[place] = bucket.chain
            else:
                assert bucket is not None
                bucket.remove(key)
            continue
        count += 1
        if isinstance(bucket, TreeBucket):
            bucket.add(key)
        elif bucket is None:
            table[place] = [key]
        else:
            bucket.append(key)
            if len(bucket) > _MOST_IN_LIST:
                if buckets < _LEAST_WITH_TREES:
                    buckets *= 2
                    table = _grown(table, buckets)
                else:
                    table[place] = TreeBucket(bucket)
        if count > buckets * 3 // 4:
            buckets *= 2
            table = _grown(table, buckets)
    chains = [bucket.chain if isinstance(bucket, TreeBucket) else bucket for _, bucket in sorted(table.items(), key=_place)]
    return [key ^ key >> 16 for chain in chains for key in chain]


def _grown(table: dict[int, list[int] | TreeBucket], buckets: int) -> dict[int, list[int] | TreeBucket]:
    """Return the table with twice the buckets. The keys of a bucket keep their order when it is divided."""
    grown: dict[int, list[int] | TreeBucket] = {}
    half = buckets // 2
    for place, bucket in table.items():
        is_tree = isinstance(bucket, TreeBucket)
        chain = bucket.chain if isinstance(bucket, TreeBucket) else bucket
        low = [key for key in chain if not key & half]
        high = [key for key in chain if key & half]
        for at, keys in ((place, low), (place + half, high)):
            if not is_tree or len(keys) <= _MOST_AFTER_TREE:
                grown[at] = keys
            else:
                grown[at] = bucket if len(keys) == len(chain) else TreeBucket(keys)
    return grown


def _place(item: tuple[int, list[int] | TreeBucket]) -> int:
    return item[0]
