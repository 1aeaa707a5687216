"""The order of a Java HashSet of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from coordinator_server.group.assign.hash_tree import TreeBucket

# A bucket that gets more becomes a tree, or makes a smaller table grow.
_MOST_IN_LIST: Final = 8
_LEAST_WITH_TREES: Final = 64
# A divided tree becomes trees, and lists of at most this many.
_MOST_AFTER_TREE: Final = 6
# Smaller numbers are their own hashes.
_PLAIN: Final = 1 << 16


def order_numbers(buckets: int, changes: Sequence[int]) -> list[int]:
    """Return the numbers of a HashSet in its order.

    The set began with this number of ``buckets``, a power of two. ``changes`` are the numbers that were added, and the complements
    (``~n``) of those that were removed, in order.
    """
    if len(changes) < 2:
        return list(changes)
    least, most = min(changes), max(changes)
    if least >= 0 and most < buckets:
        # Each has a bucket of its own.
        return sorted(changes)
    if least >= -_PLAIN and most < _PLAIN:
        return _order(buckets, changes)
    hashes = [each ^ each >> 16 if each >= 0 else ~(~each ^ ~each >> 16) for each in changes]
    # The same operation leads back.
    return [each ^ each >> 16 for each in _order(buckets, hashes)]


def _order(buckets: int, changes: Sequence[int]) -> list[int]:
    """Return the order of hashes. Without crowded buckets it is by bucket, then by insertion."""
    first = len(changes)
    if min(changes) < 0:
        first = next(place for place, change in enumerate(changes) if change < 0)
    added, rest = changes[:first], changes[first:]
    grown = _fill(buckets, added)
    if not rest and grown is not None:
        return _sorted(added, grown)
    if grown is None or _is_crowded([*added, *(change for change in rest if change >= 0)], grown):
        return _replay(buckets, changes)
    live = dict.fromkeys(added)
    for change in rest:
        if change < 0:
            del live[~change]
        else:
            live[change] = None
            if len(live) > grown * 3 // 4:
                grown *= 2
    return _sorted(live, grown)


def _fill(buckets: int, added: Sequence[int]) -> int | None:
    """Return the buckets of the table when all are added, or None if one of its buckets is crowded before that."""
    count = len(added)
    is_range = count > 0 and added[-1] - added[0] == count - 1 and list(added) == list(range(added[0], added[0] + count))
    while True:
        room = buckets * 3 // 4
        if not is_range and _is_crowded(added[: room + 1], buckets):
            return None
        if count <= room:
            return buckets
        buckets *= 2


def _is_crowded(hashes: Sequence[int], buckets: int) -> bool:
    if len(hashes) <= _MOST_IN_LIST or max(hashes) - min(hashes) < _MOST_IN_LIST * buckets:
        return False
    mask = buckets - 1
    return max(Counter([each & mask for each in hashes]).values()) > _MOST_IN_LIST


def _sorted(hashes: Iterable[int], buckets: int) -> list[int]:
    return sorted(hashes, key=(buckets - 1).__and__)


def _replay(buckets: int, changes: Sequence[int]) -> list[int]:
    """Return the order of hashes, change by change."""
    table: dict[int, list[int] | TreeBucket] = {}
    count = 0
    for change in changes:
        key = change if change >= 0 else ~change
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
    return [key for chain in chains for key in chain]


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
