"""Who owned each partition of a group, and when it had no owner: from the assignments in the log.

A partition is owned from the record that assigns it: of a classic group the generation, of a newer group the step of the member.
During a rebalance of a classic group it is owned by the member of the last generation, whatever that member does meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from coordinator_server.log.jobs import JobShard
from coordinator_server.pipeline.input.files import batches_before
from coordinator_server.pipeline.replay.group_events import Client
from coordinator_server.pipeline.replay.group_ledger import clients_of, group_records
from coordinator_server.pipeline.states.groups import assigned_partitions
from coordinator_server.pipeline.states.member_steps import StepKind, member_step, shown_topic
from coordinator_server.pipeline.states.shown_group import NamesOfTopics
from protocol.fields import Message
from protocol.messages.consumer_group_records import ConsumerGroupMemberMetadataKey
from protocol.messages.consumer_protocol import CONSUMER
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue
from protocol.messages.share_group_records import ShareGroupMemberMetadataKey
from protocol.messages.streams_group_records import StreamsGroupMemberMetadataKey

Position = tuple[str, int]


_MEMBERS: Final = (ConsumerGroupMemberMetadataKey, ShareGroupMemberMetadataKey, StreamsGroupMemberMetadataKey)


class Ownership(Struct, frozen=True):
    """Who has a partition, from one moment to another; ``until_ms`` is None if it lasts. Without members it has no owner."""

    topic: str
    partition: int
    members: tuple[str, ...]
    since_ms: int
    until_ms: int | None
    clients: dict[str, Client] = {}


class OwnersState(Struct, array_like=True):
    """All that ``Owners`` knows between two records. Whoever stores it counts its format (``index/database.py``)."""

    clients: dict[str, Client] = {}
    # Members that have left, and may still have partitions.
    gone: set[str] = set()
    held: dict[str, frozenset[Position]] = {}
    holders: dict[Position, tuple[str, ...]] = {}
    since: dict[Position, int] = {}


class Owners:
    """Follows the assignments of one group. With ``state``, which it takes over, it continues where that object ended."""

    def __init__(self, names: NamesOfTopics, state: OwnersState | None = None) -> None:
        state = OwnersState() if state is None else state
        self._names = names
        self._clients = state.clients
        self._gone = state.gone
        self._held = state.held
        self._holders = state.holders
        self._since = state.since

    def state(self) -> OwnersState:
        """Return what is known, to be encoded before the next record: it shares the tables."""
        return OwnersState(self._clients, self._gone, self._held, self._holders, self._since)

    def add(self, key: Message, value: Message | None, at_ms: int) -> Iterator[Ownership]:
        """Take the group's next record, and return what has ended with it."""
        joined = clients_of(key, value)
        if isinstance(key, GroupMetadataKey):
            self._gone |= self._clients.keys() - joined.keys()
        elif isinstance(key, _MEMBERS) and not joined:
            self._gone.add(key.member_id)
        self._clients |= joined
        self._gone -= joined.keys()
        yield from self._owned(key, value, at_ms)
        for member_id in self._gone - self._held.keys():
            self._clients.pop(member_id, None)
            self._gone.discard(member_id)

    def _owned(self, key: Message, value: Message | None, at_ms: int) -> Iterator[Ownership]:
        step = member_step(key, value)
        if isinstance(key, GroupMetadataKey):
            held: dict[str, frozenset[Position]] = {}
            if isinstance(value, GroupMetadataValue) and value.protocol_type == CONSUMER:
                held = {each.member_id: _listed(assigned_partitions(each.assignment) or {}) for each in value.members}
            yield from self._change({**dict.fromkeys(self._held, frozenset()), **held}, at_ms)
        elif step is not None and step.kind is not StepKind.TARGET:
            positions = {(shown_topic(topic_id, self._names), number) for topic_id, number in step.held}
            yield from self._change({step.member_id: frozenset(positions)}, at_ms)

    def open(self) -> Iterator[Ownership]:
        """Return what goes on."""
        for position in self._since:
            yield self._ownership(position, None)

    def _change(self, held: Mapping[str, frozenset[Position]], at_ms: int) -> Iterator[Ownership]:
        changed: set[Position] = set()
        for member_id, positions in held.items():
            changed |= self._held.get(member_id, frozenset()) ^ positions
            if positions:
                self._held[member_id] = positions
            else:
                self._held.pop(member_id, None)
        for position in sorted(changed):
            holders = tuple(sorted(each for each, positions in self._held.items() if position in positions))
            if holders == self._holders.get(position):
                continue
            if self._since.get(position, at_ms) < at_ms:
                yield self._ownership(position, at_ms)
            self._holders[position], self._since[position] = holders, at_ms

    def _ownership(self, position: Position, until_ms: int | None) -> Ownership:
        members = self._holders[position]
        clients = {each: self._clients[each] for each in members if each in self._clients}
        return Ownership(*position, members, self._since[position], until_ms, clients)


def owners_of(shard: JobShard, group_id: str, names: NamesOfTopics, upto: int) -> list[Ownership]:
    """Return the owners of all partitions of a group over time, those of a partition in order. Raises DamagedLog."""
    owners = Owners(names)
    found: list[Ownership] = []
    for batch in batches_before(shard.whole(upto)[1], upto):
        for record, key, value, _ in group_records(group_id, *batch):
            found += owners.add(key, value, record.timestamp)
    return by_partition([*found, *owners.open()])


def by_partition(found: Iterable[Ownership]) -> list[Ownership]:
    """Return the owners of all partitions, those of a partition in order."""
    return sorted(found, key=lambda each: (each.topic, each.partition, each.since_ms))


def _listed(partitions: Mapping[str, Iterable[int]]) -> frozenset[Position]:
    return frozenset((topic, number) for topic, numbers in partitions.items() for number in numbers)
