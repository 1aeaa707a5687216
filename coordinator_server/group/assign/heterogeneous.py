"""The uniform assignor for members that subscribe to different topics (Kafka's UniformHeterogeneousAssignmentBuilder).

Members keep what they subscribe to. Free partitions go to the subscriber that has the fewest, topics with the most partitions
per subscriber first. Then partitions of a topic move from the subscribers that have most partitions to those that have fewest,
topic by topic, until nothing moves. Members are numbered in the order of the group.
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Final

from coordinator_server.group.assign.altered import AlteredTarget, read_target
from coordinator_server.group.assign.order import buckets_of_capacity
from coordinator_server.group.assign.ranks import Ranks, fewest_first
from coordinator_server.group.assign.spec import CannotAssign, GroupSpec, Partitions

_MOST_ROUNDS: Final = 16
_FREE: Final = -1
_signed: Final = Layout(">qq").unpack


class Balancer:
    """The assignment of one group."""

    def __init__(self, group: GroupSpec) -> None:
        self._members = group.members
        self._counts = group.partition_counts
        self._subscribed = [frozenset(subscription.topic_ids) for subscription in group.subscriptions]
        self._subscribers = _find_subscribers(group)
        # The number of partitions of each member, and the owner of each partition.
        self._sizes = [0] * len(group.members)
        self._owners: dict[bytes, list[int]] = {}
        self._altered: dict[int, AlteredTarget] = {}
        # The number of partitions given so far, and what it was when a list of subscribers, by identity, was found to be even.
        self._changes = 0
        self._even_since: dict[int, int] = {}
        # The buckets of a new set of a topic's partitions.
        self._buckets: dict[bytes, int] = {}
        for topic_id, subscribers in self._subscribers.items():
            count = self._counts.get(topic_id)
            if count is None:
                raise CannotAssign("Members are subscribed to a topic which doesn't exist in the topic metadata.")
            self._owners[topic_id] = [_FREE] * count
            share = -(-count // len(subscribers))
            self._buckets[topic_id] = buckets_of_capacity(share * 4 // 3 + 1)

    def assign(self) -> dict[str, Partitions]:
        """Return the target of every member."""
        if not self._subscribers:
            return {}
        self._keep()
        order = sorted(self._subscribers, key=self._rank)
        for topic_id in order:
            self._assign_free(topic_id)
        self._balance([topic_id for topic_id in order if len(self._subscribers[topic_id]) > 1])
        targets: dict[str, Partitions] = {}
        for i, member in enumerate(self._members):
            altered = self._altered.get(i)
            if altered is not None:
                targets[member.member_id] = altered.result()
            else:
                targets[member.member_id] = member.target if member.has_target else read_target(member.target)
        return targets

    def _rank(self, topic_id: bytes) -> tuple[float, int, tuple[int, int]]:
        """Return a key that sorts by partitions per subscriber, descending, then by subscribers and topic id."""
        subscribers = len(self._subscribers[topic_id])
        return -(self._counts[topic_id] / subscribers), subscribers, _signed(topic_id)

    def _keep(self) -> None:
        """Keep the partitions of each member that it subscribes to."""
        for i, member in enumerate(self._members):
            subscribed = self._subscribed[member.subscription]
            for topic_id, partitions in member.target.items():
                if topic_id not in subscribed:
                    self._alter(i).remove_topic(topic_id)
                    continue
                self._sizes[i] += len(partitions)
                owners = self._owners[topic_id]
                for partition in partitions:
                    owners[partition] = i

    def _assign_free(self, topic_id: bytes) -> None:
        owners = self._owners[topic_id]
        if _FREE not in owners:
            return
        takers = fewest_first(self._subscribers[topic_id], self._sizes)
        for partition, owner in enumerate(owners):
            if owner == _FREE:
                self._add(topic_id, partition, next(takers))

    def _balance(self, topic_ids: list[bytes]) -> None:
        last = -1
        for _ in range(_MOST_ROUNDS):
            for place, topic_id in enumerate(topic_ids):
                if place == last:
                    # Nothing has moved since this topic's turn.
                    return
                if self._balance_topic(topic_id) or last == -1:
                    last = place

    def _balance_topic(self, topic_id: bytes) -> bool:
        """Move partitions of a topic between its subscribers; return whether any moved."""
        subscribers = self._subscribers[topic_id]
        if self._is_even(subscribers):
            return False
        ranks = Ranks(subscribers, self._sizes)
        owned: dict[int, list[int]] = {}
        for partition, owner in enumerate(self._owners[topic_id]):
            owned.setdefault(owner, []).append(partition)
        has_moved = False
        while not ranks.is_balanced():
            while (giver := ranks.next_most()) is not None and not owned.get(giver):
                ranks.exclude_most()
            if giver is None:
                break
            partition = owned[giver].pop()
            taker = ranks.next_least()
            if ranks.is_balanced():
                break
            self._alter(giver).remove(topic_id, partition)
            self._sizes[giver] -= 1
            self._add(topic_id, partition, taker)
            has_moved = True
        return has_moved

    def _is_even(self, subscribers: list[int]) -> bool:
        """Return whether members differ by at most one partition. Many topics have the same list of subscribers."""
        found = self._even_since.get(id(subscribers))
        if found is None or found != self._changes:
            sizes = list(map(self._sizes.__getitem__, subscribers))
            if max(sizes) - min(sizes) > 1:
                return False
            self._even_since[id(subscribers)] = self._changes
        return True

    def _add(self, topic_id: bytes, partition: int, i: int) -> None:
        self._alter(i).add(topic_id, [partition], self._buckets[topic_id])
        self._owners[topic_id][partition] = i
        self._sizes[i] += 1
        self._changes += 1

    def _alter(self, i: int) -> AlteredTarget:
        altered = self._altered.get(i)
        if altered is None:
            altered = self._altered[i] = AlteredTarget(self._members[i].target)
        return altered


def _find_subscribers(group: GroupSpec) -> dict[bytes, list[int]]:
    """Return the numbers of the subscribers of each topic, ascending."""
    by_place: dict[int, list[int]] = {}
    for i, member in enumerate(group.members):
        by_place.setdefault(member.subscription, []).append(i)
    places: dict[bytes, list[int]] = {}
    for place in by_place:
        for topic_id in group.subscriptions[place].topic_ids:
            places.setdefault(topic_id, []).append(place)
    merged: dict[tuple[int, ...], list[int]] = {}
    found: dict[bytes, list[int]] = {}
    for topic_id, each in places.items():
        key = tuple(each)
        if key not in merged:
            merged[key] = sorted([i for place in each for i in by_place[place]])
        found[topic_id] = merged[key]
    return found
