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


Wanted = tuple[tuple[str, ...], tuple[str, ...]]
"""The names that a member subscribes to, and those that its regular expression matches."""


class Places:
    """The distinct subscriptions of members, each with its place."""

    def __init__(self) -> None:
        self._places: dict[Wanted, int] = {}
        # The last one that was placed: most members of a group subscribe to the same topics.
        self._last: tuple[Sequence[str], Sequence[str], int] | None = None

    @property
    def distinct(self) -> list[Wanted]:
        """The subscriptions by place."""
        return list(self._places)

    def place(self, names: Sequence[str], matched: Sequence[str] = ()) -> int:
        """Return the place of the subscription to these topics.

        ``names`` are those that the member subscribes to, as in its request or its record. ``matched`` are those of its
        resolved regular expression, in the order of its record.
        """
        last = self._last
        if last is not None and names == last[0] and matched == last[1]:
            return last[2]
        key = tuple(names), tuple(matched)
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self._places)
            self._added(names, matched)
        self._last = names, matched, place
        return place

    def _added(self, names: Sequence[str], matched: Sequence[str]) -> None:
        """Do nothing, unless something follows from a new subscription."""


class Subscriptions(Places):
    """Collects the subscriptions of members, and the partition counts of their topics."""

    def __init__(self, find_topic: Callable[[str], Topic | None]) -> None:
        super().__init__()
        self._find_topic = find_topic
        self.found: list[Subscription] = []
        self.partition_counts: dict[bytes, int] = {}

    def _added(self, names: Sequence[str], matched: Sequence[str]) -> None:
        self.found.append(self._subscription(names, matched))

    def _subscription(self, names: Sequence[str], matched: Sequence[str]) -> Subscription:
        ordered = order_names(names)
        if matched:
            # An empty set of names is not part of a union.
            ordered = order_union(ordered, order_names(matched)) if ordered else order_names(matched)
        topics = [topic for topic in map(self._find_topic, ordered) if topic is not None]
        for topic in topics:
            self.partition_counts[topic.topic_id] = topic.partitions
        return Subscription(tuple([topic.topic_id for topic in topics]), len(ordered))
