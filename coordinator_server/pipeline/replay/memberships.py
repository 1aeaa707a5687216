"""When which clients were members of a group: a client is its id and its host, however many members it has and whatever their ids.

A batch of the log is one moment: who leaves and joins again in it, as in a generation of a classic group, has not left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from coordinator_server.pipeline.replay.group_ledger import clients_of
from coordinator_server.pipeline.states.groups import assigned_partitions
from coordinator_server.pipeline.states.member_steps import Owned, StepKind, member_step, task_text
from protocol.fields import Message
from protocol.messages.consumer_group_records import ConsumerGroupMemberMetadataKey, ConsumerGroupMetadataKey
from protocol.messages.consumer_protocol import CONSUMER
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue
from protocol.messages.share_group_records import ShareGroupMemberMetadataKey, ShareGroupMetadataKey
from protocol.messages.streams_group_records import StreamsGroupMemberMetadataKey, StreamsGroupMetadataKey

CLASSIC: Final = "classic"
_TYPES: Final[Mapping[type[Message], str]] = {
    GroupMetadataKey: CLASSIC,
    ConsumerGroupMetadataKey: "consumer",
    ShareGroupMetadataKey: "share",
    StreamsGroupMetadataKey: "streams",
}
_MEMBER_KEYS: Final = (ConsumerGroupMemberMetadataKey, ShareGroupMemberMetadataKey, StreamsGroupMemberMetadataKey)


def begins_rebalance(key: Message, value: Message | None) -> bool:
    """Return whether a record begins something new for the members of a group: a generation with members, or an epoch."""
    return (isinstance(value, GroupMetadataValue) and bool(value.members)) or (
        value is not None and type(key) in _TYPES and not isinstance(key, GroupMetadataKey)
    )


Who = tuple[str, str]
"""The id of a client, and its host."""


class Membership(Struct, frozen=True):
    """A client in a group, from one batch of its log to another: their offsets and times in ms. None: it goes on.

    ``most`` is the largest number of members that the client had at once.
    """

    client_id: str
    client_host: str
    since_offset: int
    since_ms: int
    until_offset: int | None
    until_ms: int | None
    most: int


class Presence(Struct, array_like=True):
    """A client that is in the group."""

    since_offset: int
    since_ms: int
    now: int
    most: int


class MembersState(Struct, array_like=True):
    """All that ``Memberships`` knows between two batches. Whoever stores it counts its format (``index/database.py``)."""

    members: dict[str, Who] = {}
    clients: dict[Who, Presence] = {}
    group: Described | None = None
    assigned: dict[str, dict[str, int]] = {}
    """The number of partitions of each topic that a member has, by name, or in newer groups by topic id as hexadecimal text.

    A member without partitions is left out. One with an assignment of an unknown format, or with tasks, has no topics.
    """


class Described(Struct, array_like=True, frozen=True):
    """What a group is: its type (Kafka's, in small letters), the type of its protocol, and the protocol or assignor in use."""

    type: str
    protocol_type: str = "consumer"
    protocol: str = ""


class Memberships:
    """Follows the members of one group. With ``state``, which it takes over, it continues where that object ended."""

    def __init__(self, state: MembersState | None = None) -> None:
        self.state = MembersState() if state is None else state
        self.changed: set[Who] = set()
        """The clients that are in the group, and whose presence has changed."""
        self.is_changed = False
        """Whether the state has changed."""

    def add(self, records: Iterable[tuple[Message, Message | None]], offset: int, at_ms: int) -> list[Membership]:
        """Take the group's records of a batch that begins at an offset, and return what has ended with it."""
        members = self.state.members
        for key, value in records:
            if self._ends_generation(key, value):
                self.state.group, self.state.assigned, members = None, {}, {}
            self._describe(key, value)
            self._assign(key, value)
            joined = {member: (client.client_id, client.client_host) for member, client in clients_of(key, value).items()}
            if isinstance(key, GroupMetadataKey):
                members = joined
            elif joined:
                members = members | joined
            elif isinstance(key, _MEMBER_KEYS):
                members = {member: who for member, who in members.items() if member != key.member_id}
        if members is self.state.members:
            return []
        self.state.members = members
        self.is_changed = True
        return list(self._settle(Counter(members.values()), offset, at_ms))

    def _ends_generation(self, key: Message, value: Message | None) -> bool:
        """Return whether a classic group is one of another type from this record on, without a record that deletes it before."""
        is_newer = isinstance(key, _MEMBER_KEYS) or _TYPES.get(type(key), CLASSIC) != CLASSIC
        return is_newer and value is not None and self.state.group is not None and self.state.group.type == CLASSIC

    def _describe(self, key: Message, value: Message | None) -> None:
        kind = _TYPES.get(type(key))
        if kind is None:
            return
        known = self.state.group
        if isinstance(value, GroupMetadataValue):
            self.state.group = Described(kind, value.protocol_type, value.protocol or "")
        elif value is not None:
            self.state.group = Described(kind)
        elif known is not None and known.type == kind:
            self.state.group = None
        self.is_changed |= self.state.group != known

    def _assign(self, key: Message, value: Message | None) -> None:
        step = member_step(key, value)
        if isinstance(key, GroupMetadataKey):
            self.state.assigned = _assigned(value) if isinstance(value, GroupMetadataValue) else {}
        elif step is not None and step.kind is StepKind.ASSIGNED and step.partitions:
            self.state.assigned[step.member_id] = _counts(step.partitions)
        elif step is not None and step.kind is not StepKind.TARGET:
            self.state.assigned.pop(step.member_id, None)
        else:
            return
        self.is_changed = True

    def open(self) -> Iterator[Membership]:
        """Return what goes on."""
        return (self.of(who) for who in self.state.clients)

    def of(self, who: Who) -> Membership:
        """Return the membership of a client that is in the group."""
        found = self.state.clients[who]
        return Membership(*who, found.since_offset, found.since_ms, None, None, found.most)

    def _settle(self, counts: Counter[Who], offset: int, at_ms: int) -> Iterator[Membership]:
        clients = self.state.clients
        for who in clients.keys() - counts.keys():
            found = clients.pop(who)
            self.changed.discard(who)
            yield Membership(*who, found.since_offset, found.since_ms, offset, at_ms, found.most)
        for who, count in counts.items():
            known = clients.get(who)
            if known is None:
                clients[who] = Presence(offset, at_ms, count, count)
                self.changed.add(who)
                continue
            known.now = count
            if count > known.most:
                known.most = count
                self.changed.add(who)


def _assigned(generation: GroupMetadataValue) -> dict[str, dict[str, int]]:
    """Return what the members of a generation have."""
    found = {}
    for each in generation.members:
        read = assigned_partitions(each.assignment) if generation.protocol_type == CONSUMER else None
        if each.assignment and read != {}:
            found[each.member_id] = {topic: len(numbers) for topic, numbers in (read or {}).items()}
    return found


def _counts(owned: Sequence[Owned]) -> dict[str, int]:
    return dict(Counter(each.topic_id.hex() for each in owned if task_text(each.topic_id) is None))
