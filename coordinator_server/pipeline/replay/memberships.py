"""When which clients were members of a group: a client is its id and its host, however many members it has and whatever their ids.

A batch of the log is one moment: who leaves and joins again in it, as in a generation of a classic group, has not left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from coordinator_server.pipeline.replay.group_ledger import clients_of
from protocol.fields import Message
from protocol.messages.consumer_group_records import ConsumerGroupMemberMetadataKey, ConsumerGroupMetadataKey
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue
from protocol.messages.share_group_records import ShareGroupMemberMetadataKey, ShareGroupMetadataKey
from protocol.messages.streams_group_records import StreamsGroupMemberMetadataKey, StreamsGroupMetadataKey

_TYPES: Final[Mapping[type[Message], str]] = {
    GroupMetadataKey: "classic",
    ConsumerGroupMetadataKey: "consumer",
    ShareGroupMetadataKey: "share",
    StreamsGroupMetadataKey: "streams",
}


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


class Described(Struct, array_like=True, frozen=True):
    """What a group is: its type (Kafka's, in small letters), the type of its protocol, and the protocol or assignor in use."""

    type: str
    protocol_type: str = "consumer"
    protocol: str = ""


class Memberships:
    """Follows the members of one group. With ``state``, which it takes over, it goes on where another one has ended."""

    def __init__(self, state: MembersState | None = None) -> None:
        self.state = MembersState() if state is None else state
        self.changed: set[Who] = set()
        """The clients that are in the group, and whose presence has changed. The caller empties it."""

    def add(self, records: Iterable[tuple[Message, Message | None]], offset: int, at_ms: int) -> list[Membership]:
        """Take the group's records of a batch that begins at an offset, and return what has ended with it."""
        members = self.state.members
        for key, value in records:
            self._describe(key, value)
            joined = {member: (client.client_id, client.client_host) for member, client in clients_of(key, value).items()}
            if isinstance(key, GroupMetadataKey):
                members = joined
            elif joined:
                members = members | joined
            elif isinstance(key, ConsumerGroupMemberMetadataKey | ShareGroupMemberMetadataKey | StreamsGroupMemberMetadataKey):
                members = {member: who for member, who in members.items() if member != key.member_id}
        if members is self.state.members:
            return []
        self.state.members = members
        return list(self._settle(Counter(members.values()), offset, at_ms))

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
