"""Who gets which partition: Kafka's assignors "range" and "roundrobin". The sticky one has its own module.

An assignor gets the number of partitions of each topic that exists, and every member's subscription. Racks are not considered, as
in Kafka when no member names its rack.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import cycle
from typing import Final, Protocol

from coordinator_server.client.consumer.java_order import java_text
from coordinator_server.client.consumer.subscription import Subscription
from coordinator_server.client.offsets import TopicPartition

Assignment = dict[str, list[TopicPartition]]


class Assignor(Protocol):
    """A way to divide partitions. All members of a group must support the same one."""

    @property
    def name(self) -> str:
        """Kafka's name of it."""

    @property
    def is_cooperative(self) -> bool:
        """Whether members keep what they have while the group rebalances."""

    def user_data(self, generation_id: int, assigned: Collection[TopicPartition] = ()) -> bytes | None:
        """Return what a member adds to its subscription, that has last got ``assigned``, in a generation."""

    def assign(self, partitions: Mapping[str, int], subscriptions: Mapping[str, Subscription]) -> Assignment:
        """Return the partitions of each member, by member id."""


class RangeAssignor:
    """Each topic independently: consecutive partitions, and the first members get one more."""

    name: Final = "range"
    is_cooperative: Final = False

    def user_data(self, generation_id: int, assigned: Collection[TopicPartition] = ()) -> bytes | None:
        return None

    def assign(self, partitions: Mapping[str, int], subscriptions: Mapping[str, Subscription]) -> Assignment:
        assignment: Assignment = {member_id: [] for member_id in subscriptions}
        for topic, count in sorted(partitions.items()):
            members = sorted_members({key: each for key, each in subscriptions.items() if topic in each.topics})
            begin = 0
            for i, member_id in enumerate(members):
                size = count // len(members) + (i < count % len(members))
                assignment[member_id] += [TopicPartition(topic, index) for index in range(begin, begin + size)]
                begin += size
        return assignment


class RoundRobinAssignor:
    """All partitions of all topics in order, one to each member that wants it in turn."""

    name: Final = "roundrobin"
    is_cooperative: Final = False

    def user_data(self, generation_id: int, assigned: Collection[TopicPartition] = ()) -> bytes | None:
        return None

    def assign(self, partitions: Mapping[str, int], subscriptions: Mapping[str, Subscription]) -> Assignment:
        assignment: Assignment = {member_id: [] for member_id in subscriptions}
        members = cycle(sorted_members(subscriptions))
        for topic in wanted_topics(partitions, subscriptions):
            for index in range(partitions[topic]):
                member_id = next(each for each in members if topic in subscriptions[each].topics)
                assignment[member_id].append(TopicPartition(topic, index))
        return assignment


def sorted_members(subscriptions: Mapping[str, Subscription]) -> list[str]:
    """Return member ids in Kafka's order: static members by instance id, then the others by member id."""

    def key(member_id: str) -> tuple[bool, bytes]:
        instance = subscriptions[member_id].group_instance_id
        return instance is None, java_text(member_id if instance is None else instance)

    return sorted(subscriptions, key=key)


def wanted_topics(partitions: Mapping[str, int], subscriptions: Mapping[str, Subscription]) -> list[str]:
    """Return the topics that exist and that a member wants, in order."""
    wanted = {topic for each in subscriptions.values() for topic in each.topics}
    return sorted(wanted & partitions.keys(), key=java_text)
