"""A member's target assignment while an assignor changes it.

Kafka changes a copy of the member's map of sets. The order of that copy, which is the order in the record, depends on how
its tables were created and grew. So this keeps their sizes, and the changes of each set as ``order_numbers`` reads them.
"""

from __future__ import annotations

from typing import Final

from coordinator_server.group.assign.hash_table import order_numbers
from coordinator_server.group.assign.order import (
    LEAST_BUCKETS,
    buckets_for,
    buckets_of_capacity,
    buckets_of_copy,
    by_bucket,
)
from coordinator_server.group.assign.spec import Partitions

_PARTITIONS: Final = 0  # the number of partitions
_BUCKETS: Final = 1
_PLACE: Final = 2


class AlteredTarget:
    """A copy of a target that can be changed."""

    __slots__ = ("_buckets", "_changes", "_first", "_room", "_sizes")

    def __init__(self, target: Partitions) -> None:
        self._set_buckets(buckets_for(len(target), buckets_of_capacity(len(target))))
        # By topic: its number of partitions, the buckets that its set began with, its place within a bucket of topics.
        self._sizes: dict[bytes, list[int]] = {}
        # By topic: its additions and removals.
        self._changes: dict[bytes, list[int]] = {}
        self._first = 0
        for place, (topic_id, partitions) in enumerate(read_target(target).items()):
            self._sizes[topic_id] = [len(partitions), buckets_of_copy(len(partitions)), place]
            self._changes[topic_id] = partitions

    def add(self, topic_id: bytes, partitions: list[int], buckets: int = LEAST_BUCKETS) -> None:
        """Add partitions that the member does not have; none to a topic that it has. ``buckets`` is the size of a new set."""
        sizes = self._sizes
        # For each partition Kafka gets or creates the set (computeIfAbsent). If the table has too many topics, it grows first. A
        # new topic becomes the first one of its bucket.
        if len(sizes) > self._room:
            self._set_buckets(2 * self._buckets)
        if topic_id in sizes:
            sizes[topic_id][_PARTITIONS] += len(partitions)
            self._changes[topic_id].extend(partitions)
            return
        self._first -= 1
        sizes[topic_id] = [len(partitions), buckets, self._first]
        self._changes[topic_id] = list(partitions)
        if len(partitions) > 1 and len(sizes) > self._room:
            self._set_buckets(2 * self._buckets)

    def remove(self, topic_id: bytes, partition: int) -> None:
        """Remove a partition that the member has, and its topic if that was the last one."""
        size = self._sizes[topic_id]
        size[_PARTITIONS] -= 1
        if size[_PARTITIONS]:
            self._changes[topic_id].append(~partition)
        else:
            self.remove_topic(topic_id)

    def discard(self, topic_id: bytes, partition: int) -> None:
        """Remove a partition that the member has. Its topic stays, without partitions if that was the last one."""
        self._sizes[topic_id][_PARTITIONS] -= 1
        self._changes[topic_id].append(~partition)

    def remove_topic(self, topic_id: bytes) -> None:
        """Remove a topic that the member has."""
        del self._sizes[topic_id], self._changes[topic_id]

    def result(self) -> Partitions:
        """Return the target in Kafka's order."""
        sizes = self._sizes
        order = by_bucket(sorted(sizes, key=lambda topic_id: sizes[topic_id][_PLACE]), self._buckets)
        return {topic_id: order_numbers(sizes[topic_id][_BUCKETS], self._changes[topic_id]) for topic_id in order}

    def _set_buckets(self, buckets: int) -> None:
        self._buckets = buckets
        self._room = buckets * 3 // 4


def read_target(target: Partitions) -> Partitions:
    """Return a copy of a target as Kafka yields it once it has read the target from its record."""
    order = by_bucket(target, buckets_for(len(target)))
    return {topic_id: order_numbers(buckets_of_copy(len(target[topic_id])), target[topic_id]) for topic_id in order}
