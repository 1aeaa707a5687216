"""The orders in which Kafka's coordinator iterates over members, topic names, topic ids and partitions.

They are those of Java's HashMap and HashSet: by bucket, then by insertion within a bucket. The number of buckets depends on
how a table was created and filled; where versions of Java differ, it is that of Java 17, the oldest one that runs Kafka 4.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from struct import Struct as Layout
from typing import Final

from coordinator_server.machine.java import text_hash

LEAST_BUCKETS: Final = 16
_words: Final = Layout(">4I")
# Knuth's multiplier, as TimelineHashMap uses it.
_FIBONACCI: Final = -7046029254386353131
_64_BITS: Final = (1 << 64) - 1


def spread_text(text: str) -> int:
    """Return what HashMap makes of the hash of a string."""
    value = text_hash(text) & 0xFFFF_FFFF
    return value ^ value >> 16


def topic_id_hash(topic_id: bytes) -> int:
    """Return the hash of a Uuid, without a sign."""
    first, second, third, fourth = _words.unpack(topic_id)
    value: int = first ^ second ^ third ^ fourth
    return value


def by_bucket(topic_ids: Collection[bytes], buckets: int) -> list[bytes]:
    """Return different topic ids, in the order of their insertion, as a HashMap of so many buckets has them."""
    if len(topic_ids) < 2:
        return list(topic_ids)
    hashes = [first ^ second ^ third ^ fourth for first, second, third, fourth in _words.iter_unpack(b"".join(topic_ids))]
    mask = buckets - 1
    places = dict(zip(topic_ids, [(value ^ value >> 16) & mask for value in hashes], strict=True))
    return sorted(places, key=places.__getitem__)


def buckets_for(count: int, least: int = LEAST_BUCKETS) -> int:
    """Return the number of buckets of a HashMap of ``least`` buckets once it has got ``count`` keys one by one."""
    while count > least * 3 // 4:
        least *= 2
    return least


def buckets_of_capacity(capacity: int) -> int:
    """Return the number of buckets of a new HashMap of the given initial capacity."""
    return 1 << (capacity - 1).bit_length() if capacity > 1 else 1


def buckets_of_copy(count: int) -> int:
    """Return the number of buckets of a HashSet that is made of a collection with ``count`` elements."""
    return buckets_of_capacity(max(count * 4 // 3 + 1, LEAST_BUCKETS))


def order_names(names: Iterable[str]) -> list[str]:
    """Return the order of a HashSet that was made of a list of topic names."""
    given = list(names)
    mask = buckets_of_copy(len(given)) - 1
    return sorted(dict.fromkeys(given), key=lambda name: spread_text(name) & mask)


def order_union(names: Sequence[str], found: Sequence[str]) -> list[str]:
    """Return the order of a UnionSet: of the names of a member, and of those that match its regular expression.

    Both are in the order of their own sets.
    """
    large, small = (names, found) if len(names) > len(found) else (found, names)
    return list(dict.fromkeys([*large, *small]))


def order_topic_ids(topic_ids: Iterable[bytes]) -> list[bytes]:
    """Return the order of a HashMap that has got these topic ids one by one."""
    given = dict.fromkeys(topic_ids)
    return by_bucket(given, buckets_for(len(given)))


def order_copied_partitions(partitions: Iterable[int]) -> list[int]:
    """Return the order of a HashSet that was made of a list of partitions."""
    given = list(partitions)
    return _order_numbers(given, buckets_of_copy(len(given)))


def order_partitions(partitions: Iterable[int]) -> list[int]:
    """Return the order of a HashMap that has got these partitions one by one."""
    given = list(dict.fromkeys(partitions))
    return _order_numbers(given, buckets_for(len(given)))


def order_members(member_ids: Sequence[str], updated: str | None = None, removed: str | None = None, most: int = 0) -> list[str]:
    """Return the order in which an assignor gets the members of a group (Kafka's TargetAssignmentBuilder).

    The ids are in the order in which they entered the group. ``updated`` is the member that the target is computed for; it may
    be new. ``removed`` is the static member that it replaces. ``most`` is the largest number of members that the group had.
    """
    found = dict.fromkeys(order_timeline(member_ids, max(most, len(member_ids))))
    largest = len(found)
    # The changes have a HashMap of their own.
    changes = {member_id: member_id == updated for member_id in (updated, removed) if member_id is not None}
    for member_id in sorted(changes, key=lambda each: spread_text(each) & LEAST_BUCKETS - 1):
        if changes[member_id]:
            found.setdefault(member_id)
        else:
            found.pop(member_id, None)
        largest = max(largest, len(found))
    mask = buckets_for(largest) - 1
    return sorted(found, key=lambda member_id: spread_text(member_id) & mask)


def order_sharing_members(member_ids: Sequence[str], updated: str | None, most: int) -> list[str]:
    """Return the same for a share group, where a new member has entered the group before its target is computed.

    It is written for the first time then, so that the table has not grown for it.
    """
    ids = list(member_ids if updated is None else dict.fromkeys([*member_ids, updated]))
    mask = buckets_for(len(ids)) - 1
    return sorted(_order_timeline(ids, most), key=lambda member_id: spread_text(member_id) & mask)


def order_timeline(keys: Sequence[str], most: int = 0) -> list[str]:
    """Return the order of a TimelineHashMap: by slot, and within a slot the last key first.

    ``most`` is the largest number of keys that it had, if that is more than it has. The table grows before a key is written, even
    if that key is replaced.
    """
    return _order_timeline(keys, max(most, len(keys)))


def _order_timeline(keys: Sequence[str], most: int) -> list[str]:
    slots = 2
    while (most + 1) * 3 > slots * 4:
        slots *= 2
    shift = 65 - slots.bit_length()
    last_first = keys[::-1]
    return sorted(last_first, key=lambda key: (text_hash(key) * _FIBONACCI & _64_BITS) >> shift)


def _order_numbers(numbers: Sequence[int], buckets: int) -> list[int]:
    if len(numbers) < 2:
        return list(numbers)

    def bucket(number: int) -> int:
        unsigned = number & 0xFFFF_FFFF
        return (unsigned ^ unsigned >> 16) & buckets - 1

    return sorted(dict.fromkeys(numbers), key=bucket)
