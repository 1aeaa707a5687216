"""Orders that a HashMap of Kafka's has and a shorter way could miss.

Whole lives beside its own: unit/group/assign/test_kafkas_targets.py.
"""

from __future__ import annotations

from coordinator_server.group.consumer.partition_order import order_loaded, order_rest, order_topics


def test_negative_numbers_stay_as_they_are() -> None:
    """Only a damaged log has them, and a hash table of partitions does not."""
    assert list(order_loaded({3: 1, -1: 2})) == [3, -1]
    assert list(order_loaded({17: 1, 16: 2, 0: 3})) == [16, 0, 17]


def test_what_is_added_to_nothing_that_is_left_is_in_a_small_table() -> None:
    """Thirteen partitions need a larger one; when as many are taken away, or more, a new one is made."""
    partitions = range(13)

    assert order_rest(partitions, range(12), [16, 0]) == [0, 12, 16]
    assert order_rest(partitions, partitions, [16, 0]) == [16, 0]
    assert order_rest(partitions, range(14), [16, 0]) == [16, 0]


def test_one_topic_or_none_is_in_order() -> None:
    for topics in ({}, {b"t" * 16: 1}):
        assert order_topics(topics) == topics
