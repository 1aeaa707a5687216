"""The distinct subscriptions of a group, while its GroupSpec is made (Kafka's TopicIds)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from coordinator_server.group.assign.order import order_names, order_union
from coordinator_server.group.assign.spec import Subscription


class Topic(Protocol):
    """A topic of the image."""

    @property
    def topic_id(self) -> bytes: ...

    @property
    def partitions(self) -> int: ...


class Subscriptions:
    """Collects the subscriptions of members, and the partition counts of their topics."""

    def __init__(self, find_topic: Callable[[str], Topic | None]) -> None:
        self._find_topic = find_topic
        self._places: dict[tuple[tuple[str, ...], tuple[str, ...]], int] = {}
        self.found: list[Subscription] = []
        self.partition_counts: dict[bytes, int] = {}

    def place(self, names: Sequence[str], matched: Sequence[str] = ()) -> int:
        """Return the place in ``found`` of the subscription to these topics.

        ``names`` are those that the member subscribes to, as in its request or its record. ``matched`` are those of its
        resolved regular expression, in the order of its record.
        """
        key = tuple(names), tuple(matched)
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self.found)
            self.found.append(self._subscription(names, matched))
        return place

    def _subscription(self, names: Sequence[str], matched: Sequence[str]) -> Subscription:
        ordered = order_names(names)
        if matched:
            # An empty set of names is not part of a union.
            ordered = order_union(ordered, order_names(matched)) if ordered else order_names(matched)
        topics = [topic for topic in map(self._find_topic, ordered) if topic is not None]
        for topic in topics:
            self.partition_counts[topic.topic_id] = topic.partitions
        return Subscription(tuple([topic.topic_id for topic in topics]), len(ordered))
