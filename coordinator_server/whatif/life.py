"""A group's life: its generations, each with the members that it had, what they wanted, and what they got.

A member is known by its *seat*: its instance id if it is a static one, and its member id if not. A seat outlives the member ids
of a static member.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Final

from msgspec import Struct

from coordinator_server.catalog.topics import Topic
from coordinator_server.client.offsets import TopicPartition
from coordinator_server.machine.provenance import Reason

SESSION_MS: Final = 45_000
"""Kafka's default of session.timeout.ms and group.consumer.session.timeout.ms."""

Seat = str
Held = Mapping[Seat, Sequence[TopicPartition]]
"""Partitions by seat, in the order in which an assignor gives them."""


class Protocol(StrEnum):
    """By what members agree on an assignment."""

    CLASSIC = "classic"
    CONSUMER = "consumer"


class LifeMember(Struct, frozen=True):
    """A member in one generation. ``topics`` are those that it names, ``matched`` those that its regular expression matches.

    ``claimed`` is what it said it has had, and ``claimed_in`` in which generation; -1 if it did not say.
    """

    member_id: str
    client_id: str
    client_host: str
    instance_id: str | None
    topics: tuple[str, ...]
    matched: tuple[str, ...] = ()
    session_timeout_ms: int | None = None
    claimed: tuple[TopicPartition, ...] = ()
    claimed_in: int = -1

    @property
    def seat(self) -> Seat:
        return self.member_id if self.instance_id is None else self.instance_id

    @property
    def session_ms(self) -> int:
        """Its session; Kafka's default if no record says it."""
        return self.session_timeout_ms or SESSION_MS

    @property
    def wanted(self) -> frozenset[str]:
        return frozenset((*self.topics, *self.matched))


class Generation(Struct, kw_only=True):
    """A generation of a classic group, or a target assignment of a consumer group.

    ``order`` are the seats in the order in which a coordinator's assignor gets them. ``assignor`` is the one in force; empty if
    there are no members. ``took_ms`` is from the first cause to the record, None if the log does not say. ``before`` has what
    members had when it was computed, if the coordinator has computed it.
    """

    number: int
    offset: int
    at_ms: int
    protocol: Protocol
    assignor: str
    members: Mapping[Seat, LifeMember]
    order: tuple[Seat, ...]
    assigned: dict[Seat, tuple[TopicPartition, ...]]
    is_alike: bool
    topics: dict[str, Topic] = {}
    reasons: tuple[Reason, ...] = ()
    took_ms: int | None = None
    before: dict[Seat, tuple[TopicPartition, ...]] | None = None
    fresh: frozenset[Seat] = frozenset()
    """Of a consumer group: the seats without a target of their own."""

    @property
    def began_ms(self) -> int:
        """When its first cause arose, as far as that is known."""
        return self.at_ms - (self.took_ms or 0)

    @property
    def signature(self) -> tuple[object, ...]:
        """What an assignment depends on, beside what members have: the members, what each wants, the numbers of partitions."""
        wants = frozenset((seat, member.wanted) for seat, member in self.members.items())
        return wants, frozenset((topic.name, topic.partitions) for topic in self.topics.values())


class Silence(Struct, frozen=True):
    """A time without a sign of life of a member, in the generation of this offset. At most ``ended`` sessions ended in it."""

    offset: int
    seat: Seat
    from_ms: int
    until_ms: int
    ended: int = 1


class Missing(Struct, frozen=True):
    """Generations without a record: their numbers, and whether compaction has removed it, or none was ever written."""

    first: int
    last: int
    is_removed: bool


class Life(Struct):
    """All generations of a group that the log has, and the offset at which its history begins.

    ``unreadable`` counts generations whose members use a format of their own. ``static`` has the seats of static members by all
    member ids that they had: one that came back may be in no generation. Nobody has looked for ``silences`` if they are None.
    """

    group_id: str
    generations: list[Generation]
    missing: list[Missing]
    unreadable: int = 0
    static: dict[str, Seat] = {}
    silences: list[Silence] | None = None


def missing_between(generations: Sequence[Generation], begins_at: int) -> list[Missing]:
    """Return the numbers that are missing. Records before ``begins_at`` are what compaction has kept of more."""
    found = []
    for before, after in pairwise(generations):
        if before.protocol is after.protocol and after.number > before.number + 1:
            found.append(Missing(before.number + 1, after.number - 1, is_removed=before.offset < begins_at))
    if generations and begins_at and generations[0].number > 1:
        found.insert(0, Missing(1, generations[0].number - 1, is_removed=True))
    return found
