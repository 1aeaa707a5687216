"""Kafka's assignors "cooperative-sticky" and "sticky": members keep what they have as far as that is fair.

With the first one, a partition that moves from one member to another is in no assignment for one rebalance: its owner gives
it up first, and gets the group to rebalance again (KIP-429). With the second one, all members give up all before each rebalance,
and say in the user data of their subscriptions what they have had.

If all members subscribe to the same topics, the result is the one of Kafka's Java clients, partition by partition. If not, it is
valid, balanced and sticky, and may differ from theirs.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from struct import Struct as Layout
from typing import Final

from coordinator_server.client.consumer.assignors import Assignment, wanted_topics
from coordinator_server.client.consumer.java_order import java_order, java_text
from coordinator_server.client.consumer.subscription import Subscription
from coordinator_server.client.offsets import TopicPartition

_INT32 = Layout(">i")
_INT16 = Layout(">h")
NO_GENERATION: Final = -1


class CooperativeStickyAssignor:
    """Balanced first, then sticky."""

    name: Final = "cooperative-sticky"
    is_cooperative: Final = True

    def user_data(self, generation_id: int, assigned: Collection[TopicPartition] = ()) -> bytes | None:
        """Return the generation, for members that do not read it from the subscription."""
        return _INT32.pack(generation_id)

    def assign(self, partitions: Mapping[str, int], subscriptions: Mapping[str, Subscription]) -> Assignment:
        assignment, moved = divide(partitions, subscriptions)
        for partition, member_id in moved:
            assignment[member_id].remove(partition)
        return assignment


class StickyAssignor:
    """The same division. What moves has its new owner at once: no member has anything during a rebalance."""

    name: Final = "sticky"
    is_cooperative: Final = False

    def user_data(self, generation_id: int, assigned: Collection[TopicPartition] = ()) -> bytes | None:
        """Return what the member has had, as Kafka's StickyAssignor writes it; nothing of one that had nothing yet."""
        if generation_id == NO_GENERATION and not assigned:
            return None
        by_topic = [(topic, list(each)) for topic, each in groupby(sorted(assigned), attrgetter("topic"))]
        parts = [_INT32.pack(len(by_topic))]
        for topic, partitions in by_topic:
            name = topic.encode()
            parts += [_INT16.pack(len(name)), name, _INT32.pack(len(partitions))]
            parts += [_INT32.pack(each.partition) for each in partitions]
        return b"".join([*parts, _INT32.pack(generation_id)])

    def assign(self, partitions: Mapping[str, int], subscriptions: Mapping[str, Subscription]) -> Assignment:
        claims = {member_id: claims_of(self.name, each) for member_id, each in subscriptions.items()}
        claimed = {key: replace(each, owned=claims[key][0], generation_id=claims[key][1]) for key, each in subscriptions.items()}
        return divide(partitions, claimed)[0]


def claims_of(assignor: str, subscription: Subscription) -> tuple[tuple[TopicPartition, ...], int]:
    """Return what a member says to an assignor that it has had, and in which generation; -1 if it does not say."""
    if assignor == CooperativeStickyAssignor.name:
        return subscription.owned, _generation(subscription)
    if assignor == StickyAssignor.name and subscription.user_data:
        return _read_user_data(subscription.user_data)
    return (), NO_GENERATION


def _read_user_data(data: bytes) -> tuple[tuple[TopicPartition, ...], int]:
    """Read what StickyAssignor wrote. In old versions it ends without a generation. What cannot be read is nothing, as in Kafka."""
    found: list[TopicPartition] = []
    try:
        (topics,) = _INT32.unpack_from(data)
        pos = _INT32.size
        for _ in range(topics):
            (size,) = _INT16.unpack_from(data, pos)
            pos += _INT16.size
            topic = data[pos : pos + size].decode()
            pos += size
            (count,) = _INT32.unpack_from(data, pos)
            pos += _INT32.size
            for _ in range(count):
                found.append(TopicPartition(topic, *_INT32.unpack_from(data, pos)))
                pos += _INT32.size
        return tuple(found), _INT32.unpack_from(data, pos)[0] if pos < len(data) else NO_GENERATION
    except (struct.error, UnicodeDecodeError):
        return (), NO_GENERATION


def divide(
    partitions: Mapping[str, int], subscriptions: Mapping[str, Subscription]
) -> tuple[Assignment, list[tuple[TopicPartition, str]]]:
    """Return a balanced assignment in which members keep what they have,
    and which partitions of it others have to give up first.
    """
    topics = wanted_topics(partitions, subscriptions)
    claims = _Claims({topic: partitions[topic] for topic in topics}, subscriptions)
    if len({frozenset(each.topics) for each in subscriptions.values()}) == 1:
        return _Equal(claims).assign()
    return _assign_unequal(claims, subscriptions)


class _Claims:
    """Who has what. Of two members that claim a partition, the one of the newer generation has it; of equal ones, none."""

    def __init__(self, partitions: Mapping[str, int], subscriptions: Mapping[str, Subscription]) -> None:
        self.partitions = partitions
        # Java collects the subscriptions in one HashMap, and the claims in another.
        self.members = java_order(java_order(list(subscriptions)))
        self.owned: dict[str, list[TopicPartition]] = {member_id: [] for member_id in self.members}
        self.disputed: set[TopicPartition] = set()
        owners: dict[TopicPartition, str] = {}
        for member_id in java_order(list(subscriptions)):
            subscription = subscriptions[member_id]
            for partition in subscription.owned:
                if partition.topic not in partitions:
                    continue
                other = owners.get(partition)
                newer = _generation(subscription) - (subscriptions[other].generation_id if other is not None else -2)
                if other is not None and newer >= 0 and partition in self.owned[other]:
                    self.owned[other].remove(partition)
                if other is not None and newer == 0:
                    self.disputed.add(partition)
                elif newer > 0 or other is None:
                    self.owned[member_id].append(partition)
                if other is None or newer >= 0:
                    owners[partition] = member_id

    def unassigned(self, assigned: Iterable[TopicPartition]) -> list[TopicPartition]:
        """Return the partitions that are not assigned yet, in order."""
        taken = set(assigned)
        everything = (TopicPartition(topic, index) for topic, count in self.partitions.items() for index in range(count))
        return [each for each in everything if each not in taken]


class _Equal:
    """The case in which all members want the same: everybody gets the same number, give or take one."""

    def __init__(self, claims: _Claims) -> None:
        total, members = sum(claims.partitions.values()), claims.members
        self._claims = claims
        self._least, self._over_wanted = divmod(total, len(members))
        self._most = self._least + (self._over_wanted > 0)
        self._over = 0
        self._assignment: Assignment = {member_id: [] for member_id in members}
        self._given_up: dict[TopicPartition, str] = {}
        self._under: list[str] = []
        self._exactly: list[str] = []

    def assign(self) -> tuple[Assignment, list[tuple[TopicPartition, str]]]:
        """Return the assignment, and which partitions of it have to be given up by others first."""
        for member_id in self._claims.members:
            self._keep(member_id)
        rest = self._claims.unassigned(each for assigned in self._assignment.values() for each in assigned)
        self._under.sort(key=java_text)
        self._exactly.sort(key=java_text)
        return self._assignment, self._deal(rest)

    def _keep(self, member_id: str) -> None:
        """Let a member keep what it has, as far as that is its share."""
        owned = sorted(self._claims.owned[member_id], key=lambda each: (each.partition, java_text(each.topic)))
        owned = [each for each in owned if each not in self._claims.disputed]
        if len(owned) < self._least:
            kept = len(owned)
            self._under.append(member_id)
        elif len(owned) >= self._most and self._over < self._over_wanted:
            kept = self._most
            self._over += 1
            if self._over == self._over_wanted:
                self._exactly.clear()
        else:
            kept = self._least
            if self._over < self._over_wanted:
                self._exactly.append(member_id)
        self._assignment[member_id] += owned[:kept]
        self._given_up |= dict.fromkeys(owned[kept:], member_id)

    def _deal(self, rest: list[TopicPartition]) -> list[tuple[TopicPartition, str]]:
        """Give the rest to those who have too few, in turn, and then one more to some."""
        moved, turn = [], 0
        for partition in rest:
            if self._under:
                turn %= len(self._under)
                member_id = self._under[turn]
                turn += 1
            else:
                member_id = self._exactly.pop(0)
            assigned = self._assignment[member_id]
            assigned.append(partition)
            if self._given_up.get(partition, member_id) != member_id or partition in self._claims.disputed:
                moved.append((partition, member_id))
            if len(assigned) == self._least:
                turn -= 1
                del self._under[turn]
                self._exactly.append(member_id)
        return moved


def _assign_unequal(
    claims: _Claims, subscriptions: Mapping[str, Subscription]
) -> tuple[Assignment, list[tuple[TopicPartition, str]]]:
    """Keep what may be kept, give the rest to those who have least, and move partitions while that balances."""
    assignment: Assignment = {
        member_id: [each for each in sorted(claims.owned[member_id]) if each.topic in subscriptions[member_id].topics]
        for member_id in sorted(subscriptions, key=java_text)
    }
    wanting = {topic: [key for key in assignment if topic in subscriptions[key].topics] for topic in claims.partitions}
    for partition in claims.unassigned(each for assigned in assignment.values() for each in assigned):
        least = min(wanting[partition.topic], key=lambda key: len(assignment[key]))
        assignment[least].append(partition)
    has_moved = True
    while has_moved:
        has_moved = False
        for member_id in sorted(assignment, key=lambda key: -len(assignment[key])):
            for partition in list(assignment[member_id]):
                least = min(wanting[partition.topic], key=lambda key: len(assignment[key]))
                if len(assignment[least]) + 1 < len(assignment[member_id]):
                    assignment[member_id].remove(partition)
                    assignment[least].append(partition)
                    has_moved = True
    owner = {partition: member_id for member_id, each in subscriptions.items() for partition in each.owned}
    moved = [(each, key) for key, assigned in assignment.items() for each in assigned if owner.get(each, key) != key]
    return assignment, moved


def _generation(subscription: Subscription) -> int:
    """Return the generation of a member's claims. Older clients have it in their user data."""
    data = subscription.user_data
    if subscription.generation_id < 0 and data is not None and len(data) >= _INT32.size:
        generation: int = _INT32.unpack_from(data)[0]
        return generation
    return subscription.generation_id
