"""Generations from the records of a classic group: each record that a leader's SyncGroup has written is one.

A record that repeats a generation is no new one: a static member has come back under another member id, and keeps its seat.

How many partitions a topic had is what the leader knew, who may have been behind the catalog. An assignor gives each partition to
somebody; the cooperative one, or its owner has just said that it has it. So the record says it. The catalog has the ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from coordinator_server.catalog.topics import Topic
from coordinator_server.client.consumer.sticky import claims_of
from coordinator_server.client.consumer.subscription import decode_assignment, decode_subscription
from coordinator_server.client.errors import Refused
from coordinator_server.client.offsets import TopicPartition
from coordinator_server.group.assign.order import order_members
from coordinator_server.offsets.attribution import rebalance_took_ms
from coordinator_server.pipeline.files.kafka.topics import made_up_id
from coordinator_server.whatif.life import Generation, LifeMember, Protocol, Seat
from coordinator_server.whatif.records import MemberRecord
from coordinator_server.whatif.topics import TopicHistory
from protocol.messages.consumer_protocol import CONSUMER
from protocol.messages.group_records import GroupMetadataValue, MemberMetadata

WITHHOLDS: Final = "cooperative-sticky"
"""The assignor that leaves partitions without an owner until the member that had them has given them up."""


class ClassicLife:
    """Collects the generations of one group."""

    def __init__(self) -> None:
        self.generations: list[Generation] = []
        self.unreadable = 0
        self.static: dict[str, Seat] = {}
        self._last = -1
        self._order: tuple[str, ...] = ()

    def add(self, record: MemberRecord) -> None:
        """Take the next GroupMetadata record."""
        value = record.value
        if not isinstance(value, GroupMetadataValue):
            self._last = -1
            return
        self.static |= {each.member_id: each.group_instance_id for each in value.members if each.group_instance_id is not None}
        if value.generation == self._last and value.members:
            return
        self._last = value.generation
        if not value.generation and not value.members:
            return
        if value.members and value.protocol_type != CONSUMER:
            self.unreadable += 1
            return
        try:
            members = {each.seat: each for each in (_member(value.protocol or "", each) for each in value.members)}
            assigned = {each.group_instance_id or each.member_id: _assigned(each) for each in value.members}
        except Refused:
            self.unreadable += 1
            return
        provenance = record.provenance
        self.generations.append(
            Generation(
                number=value.generation,
                offset=record.offset,
                at_ms=record.at_ms,
                protocol=Protocol.CLASSIC,
                assignor=(value.protocol or "") if members else "",
                members=members,
                order=_order(members),
                assigned=assigned,
                is_alike=len({member.wanted for member in members.values()}) <= 1,
                reasons=() if provenance is None else provenance.reasons,
                took_ms=None if provenance is None else rebalance_took_ms(provenance),
            )
        )


def fill_topics(generations: Sequence[Generation], history: TopicHistory) -> None:
    """Set the topics of classic generations."""
    for generation in generations:
        if generation.protocol is Protocol.CLASSIC:
            generation.topics = _topics(generation, history)


def _topics(generation: Generation, history: TopicHistory) -> dict[str, Topic]:
    found: dict[str, Topic] = {}
    counts: dict[str, int] = {}
    members = generation.members.values()
    withheld = [member.claimed for member in members] if generation.assignor == WITHHOLDS else []
    for partitions in (*generation.assigned.values(), *withheld):
        for topic, partition in partitions:
            counts[topic] = max(counts.get(topic, 0), partition + 1)
    for name in sorted({topic for member in members for topic in member.wanted} & counts.keys()):
        known = history.at(name, generation.at_ms)
        found[name] = Topic(name, made_up_id("", name) if known is None else known.topic_id, counts[name])
    return found


def _member(assignor: str, member: MemberMetadata) -> LifeMember:
    """Return a member. Raises Refused if its subscription is in a format of its own."""
    subscription = decode_subscription(member.subscription, member.group_instance_id)
    claimed, claimed_in = claims_of(assignor, subscription)
    return LifeMember(
        member.member_id,
        member.client_id,
        member.client_host.removeprefix("/"),
        member.group_instance_id,
        subscription.topics,
        session_timeout_ms=member.session_timeout if member.session_timeout > 0 else None,
        claimed=claimed,
        claimed_in=claimed_in,
    )


def _assigned(member: MemberMetadata) -> tuple[TopicPartition, ...]:
    """Return what a member got. Raises Refused."""
    return decode_assignment(member.assignment) if member.assignment else ()


def _order(members: dict[str, LifeMember]) -> tuple[str, ...]:
    """Return the order in which a coordinator would give the members to an assignor of its own."""
    seats = {member.member_id: seat for seat, member in members.items()}
    return tuple(seats[member_id] for member_id in order_members(list(seats)))
