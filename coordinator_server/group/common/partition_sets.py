"""Partitions by topic as a state has them that has read a record: a HashMap of HashSets."""

from __future__ import annotations

from collections.abc import Iterable

from coordinator_server.group.assign.hash_table import order_numbers
from coordinator_server.group.assign.order import buckets_of_copy, order_topic_ids
from coordinator_server.group.assign.spec import Partitions


def read_partitions(topics: Iterable[tuple[bytes, list[int]]]) -> Partitions:
    """Return the partitions of a record by topic, in Kafka's order. Of a repeated topic the last one counts."""
    by_topic = dict(topics)
    return {topic_id: _ordered(by_topic[topic_id]) for topic_id in order_topic_ids(by_topic)}


def _ordered(partitions: list[int]) -> list[int]:
    distinct = list(dict.fromkeys(partitions))
    # No sound log has negative numbers.
    if not distinct or min(distinct) < 0:
        return distinct
    return order_numbers(buckets_of_copy(len(partitions)), distinct)
