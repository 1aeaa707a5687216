"""The order of the partitions of a member in records and answers: that of Kafka's HashMaps, as it makes them.

| map | made |
|---|---|
| of a member in the state | from its record, partition by partition |
| of what a member keeps or loses | as a copy of that, without the rest |
| of what a member gets | what it keeps, then what is free of a set of its target |
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from coordinator_server.group.assign.hash_table import order_numbers
from coordinator_server.group.assign.order import (
    LEAST_BUCKETS,
    buckets_for,
    buckets_of_capacity,
    buckets_of_copy,
    by_bucket,
)

V = TypeVar("V")


def order_topics(by_topic: Mapping[bytes, V]) -> dict[bytes, V]:
    """Return the same by topic, in the order of a HashMap."""
    return {topic_id: by_topic[topic_id] for topic_id in by_bucket(by_topic, buckets_for(len(by_topic)))}


def order_loaded(epochs: Mapping[int, int]) -> Mapping[int, int]:
    """Return the partitions of a record as the state has them."""
    if len(epochs) < 2:
        return epochs
    partitions = list(epochs)
    # No sound log has negative numbers.
    if min(partitions) < 0:
        return epochs
    ordered = order_numbers(LEAST_BUCKETS, partitions)
    return epochs if ordered == partitions else {partition: epochs[partition] for partition in ordered}


def order_rest(has: Collection[int], without: Collection[int], added: Sequence[int] = ()) -> list[int]:
    """Return what is left of a copy of ``has``, with what is added later."""
    buckets = buckets_of_capacity(len(has) * 4 // 3 + 1) if len(without) < len(has) else LEAST_BUCKETS
    rest = [*has, *(~partition for partition in without)] if len(without) < len(has) else []
    return order_numbers(buckets, [*rest, *added])


def order_missing(target: Sequence[int], has: Iterable[int]) -> list[int]:
    """Return what is left of a set of the target without what the member has."""
    wanted = set(target)
    return order_numbers(buckets_of_copy(len(target)), [*target, *(~partition for partition in has if partition in wanted)])
