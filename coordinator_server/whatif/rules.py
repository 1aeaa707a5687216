"""The rules by which a life can be played: the assignors, and what members do while a group rebalances under each.

    range, roundrobin, sticky     classic protocol; everybody gives up everything before a rebalance, and waits for its end
    cooperative-sticky            classic protocol; members keep what does not move, and what moves takes a second rebalance
    uniform, server-range         consumer protocol (KIP-848): the coordinator assigns, and each member changes over independently

An assignor gets a generation and what its members have had, and returns what they get.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import partial
from typing import Final, NamedTuple

from coordinator_server.client.consumer.assignors import Assignor, RangeAssignor, RoundRobinAssignor
from coordinator_server.client.consumer.sticky import CooperativeStickyAssignor, StickyAssignor
from coordinator_server.client.consumer.subscription import Subscription
from coordinator_server.client.offsets import TopicPartition
from coordinator_server.group.assign.assignors import ASSIGNORS
from coordinator_server.group.assign.spec import Assignor as ServerAssignor
from coordinator_server.group.assign.spec import CannotAssign, GroupSpec, Member, Partitions
from coordinator_server.group.assign.subscriptions import Subscriptions
from coordinator_server.whatif.consumer_life import SERVER_SIDE
from coordinator_server.whatif.life import Generation, Held, Protocol, Seat

Given = dict[Seat, tuple[TopicPartition, ...]]


class Standstill(StrEnum):
    """What members do while their group rebalances."""

    ALL = "all stop"
    MOVED = "only what moves stops"


class Situation(NamedTuple):
    """A generation to be assigned. ``held`` is what members have had, ``since`` in which generation each got it."""

    generation: Generation
    held: Held
    since: Mapping[Seat, int]


class Rule(NamedTuple):
    """An assignor with its protocol. ``withholds``: what moves has no owner until a second rebalance."""

    name: str
    protocol: Protocol
    standstill: Standstill
    assign: Callable[[Situation], Given]
    withholds: bool = False


def _by_client(assignor: Assignor, situation: Situation) -> Given:
    """Let an assignor of clients assign. It is given what members have had as their subscriptions would say it."""
    generation, held, since = situation
    seats = {member.member_id: seat for seat, member in generation.members.items()}
    subscriptions: dict[str, Subscription] = {}
    for seat, member in generation.members.items():
        mine, from_generation = tuple(held.get(seat, ())), since.get(seat, -1)
        data = assignor.user_data(from_generation, mine)
        owned = mine if assignor.is_cooperative else ()
        topics = tuple(dict.fromkeys((*member.topics, *member.matched)))
        subscriptions[member.member_id] = Subscription(topics, owned, from_generation, data, None, member.instance_id)
    found = assignor.assign({topic.name: topic.partitions for topic in generation.topics.values()}, subscriptions)
    return {seats[member_id]: tuple(partitions) for member_id, partitions in found.items()}


def _by_server(assignor: ServerAssignor, situation: Situation) -> Given:
    """Let an assignor of the coordinator assign. Members keep what they have where no assignment can be made, as there."""
    generation, held, _ = situation
    subscriptions = Subscriptions(generation.topics.get)
    members: list[Member] = []
    for seat in generation.order:
        member = generation.members[seat]
        place = subscriptions.place(member.topics, member.matched)
        target = _by_topic(generation, held.get(seat, ()))
        members.append(Member(member.member_id, member.instance_id, place, target, seat not in generation.fresh))
    spec = GroupSpec(members, subscriptions.found, generation.is_alike, subscriptions.partition_counts)
    try:
        targets = assignor(spec)
    except CannotAssign:
        return {seat: tuple(held.get(seat, ())) for seat in generation.order}
    names = {topic.topic_id: topic.name for topic in generation.topics.values()}
    return {seat: _listed(names, targets.get(generation.members[seat].member_id, {})) for seat in generation.order}


def _by_topic(generation: Generation, held: Iterable[TopicPartition]) -> Partitions:
    found: Partitions = {}
    for name, partition in held:
        topic = generation.topics.get(name)
        if topic is not None:
            found.setdefault(topic.topic_id, []).append(partition)
    return found


def _listed(names: Mapping[bytes, str], target: Partitions) -> tuple[TopicPartition, ...]:
    return tuple(TopicPartition(names[topic_id], number) for topic_id, numbers in target.items() for number in numbers)


def _classic(assignor: Assignor) -> Rule:
    standstill = Standstill.MOVED if assignor.is_cooperative else Standstill.ALL
    return Rule(assignor.name, Protocol.CLASSIC, standstill, partial(_by_client, assignor), withholds=assignor.is_cooperative)


def _consumer(name: str, assignor: ServerAssignor) -> Rule:
    return Rule(name, Protocol.CONSUMER, Standstill.MOVED, partial(_by_server, assignor))


RULES: Final[Mapping[str, Rule]] = {
    rule.name: rule
    for rule in (
        _classic(RangeAssignor()),
        _classic(RoundRobinAssignor()),
        _classic(StickyAssignor()),
        _classic(CooperativeStickyAssignor()),
        *(_consumer(name if name == "uniform" else SERVER_SIDE + name, assignor) for name, assignor in ASSIGNORS.items()),
    )
}
"""By name. In the order of the table above."""


def recorded_situation(generation: Generation) -> Situation:
    """Return what the assignor in force has got, as the log says it."""
    if generation.before is not None:
        return Situation(generation, generation.before, dict.fromkeys(generation.before, 0))
    claims = {seat: member.claimed for seat, member in generation.members.items()}
    return Situation(generation, claims, {seat: member.claimed_in for seat, member in generation.members.items()})
