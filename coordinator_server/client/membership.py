"""Membership: the present members, and the metadata that each one has published."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from coordinator_server.client.background import KeptMember, Latest
from coordinator_server.client.coordinator import Coordinator
from coordinator_server.client.environment import SYSTEM, Environment
from coordinator_server.client.errors import Closed, MembershipLost
from coordinator_server.client.generation import GroupMember
from coordinator_server.client.settings import ConnectionSettings, GroupSettings

PROTOCOL: Final = "roster"
Roster = Mapping[str, "Present"]


class Present(NamedTuple):
    """A member that is here: what it says of itself, and its instance id if it is a static one."""

    metadata: str
    group_instance_id: str | None = None


class Membership(KeptMember):
    """Be a member, and know all members.

        async with Membership("127.0.0.1:9092", "workers", "host-1") as workers:
            async for members in workers:
                print({id: each.metadata for id, each in members.items()})

    The iterator yields the members by member id, first when this one has joined, and then after each change. It yields no members
    while this one has lost its place.
    """

    def __init__(
        self,
        connection: ConnectionSettings | str,
        group: GroupSettings | str,
        metadata: str = "",
        *,
        environment: Environment = SYSTEM,
    ) -> None:
        self._latest: Latest[Roster] = Latest(MappingProxyType({}))
        self._member = _RosterMember(connection, group, environment, self._latest)
        super().__init__(self._member, self._latest)
        self._member.own = metadata

    @property
    def members(self) -> Roster:
        """All members by member id, this one among them; empty while it is none."""
        return self._latest.value

    @property
    def member_id(self) -> str:
        """This member's id; "" before it has joined."""
        return self._member.member_id

    def update(self, metadata: str) -> None:
        """Say something else of this member: all members are notified."""
        self._member.own = metadata
        self._member.request_rejoin("metadata has changed")

    async def __aiter__(self) -> AsyncIterator[Roster]:
        seen = 0
        while True:
            try:
                members = await self._latest.wait(lambda: self._latest.version != seen)  # noqa: B023 - called before it changes
            except Closed:
                return
            seen = self._latest.version
            yield members


class _RosterMember(Coordinator):
    """Its leader sends everybody's metadata to everybody."""

    own = ""

    def __init__(
        self, connection: ConnectionSettings | str, group: GroupSettings | str, environment: Environment, latest: Latest[Roster]
    ) -> None:
        super().__init__(connection, group, environment=environment)
        self._latest = latest

    @property
    def protocol_type(self) -> str:
        return "membership"

    def metadata(self) -> Sequence[tuple[str, bytes]]:
        return [(PROTOCOL, self.own.encode())]

    def perform_assignment(self, leader_id: str, protocol: str, members: Sequence[GroupMember]) -> Mapping[str, bytes]:
        roster = {each.member_id: [each.metadata.decode(errors="replace"), each.group_instance_id] for each in members}
        return dict.fromkeys(roster, json.dumps(roster).encode())

    def on_join_complete(self, generation: int, member_id: str, protocol: str, assignment: bytes) -> None:
        roster = {key: Present(*each) for key, each in json.loads(assignment or b"{}").items()}
        if roster != self._latest.value:
            self._latest.set(MappingProxyType(roster))

    def on_lost(self, generation: int, member_id: str, reason: MembershipLost) -> None:
        self._latest.set(MappingProxyType({}))
