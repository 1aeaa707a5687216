"""A Coordinator that notes its callbacks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from coordinator_server.client import ConnectionSettings, Coordinator, GroupMember, GroupSettings, MembershipLost
from coordinator_server.client.environment import SYSTEM, Environment

GROUP = GroupSettings("g", session_timeout_s=10, heartbeat_interval_s=3, max_poll_interval_s=60)
SETTINGS = ConnectionSettings("coordinator:9092", request_timeout_s=5, retry_backoff_s=0.1, retry_backoff_max_s=1)


class RecordingCoordinator(Coordinator):
    """``events`` has the callbacks in order. One that is named in ``failures`` raises what is there, once."""

    def __init__(
        self,
        connection: ConnectionSettings | str = SETTINGS,
        group: GroupSettings | str = GROUP,
        *,
        environment: Environment = SYSTEM,
    ) -> None:
        super().__init__(connection, group, environment=environment)
        self.events: list[tuple[object, ...]] = []
        self.failures: dict[str, BaseException] = {}
        self.hold = asyncio.Event()
        self.hold.set()

    @property
    def protocol_type(self) -> str:
        return "recording"

    def metadata(self) -> Sequence[tuple[str, bytes]]:
        self._note("metadata")
        return [("first", b"one"), ("second", b"two")]

    async def perform_assignment(self, leader_id: str, protocol: str, members: Sequence[GroupMember]) -> Mapping[str, bytes]:
        self._note("perform_assignment", leader_id, protocol)
        return {each.member_id: b"for " + each.member_id.encode() for each in members}

    async def on_assignment_kept(self, leader_id: str, protocol: str, members: Sequence[GroupMember]) -> None:
        self._note("on_assignment_kept", leader_id, protocol, len(members))

    def on_join_prepare(self, generation: int, member_id: str) -> None:
        self._note("on_join_prepare", generation, member_id)

    async def on_join_complete(self, generation: int, member_id: str, protocol: str, assignment: bytes) -> None:
        self._note("on_join_complete", generation, member_id, protocol, assignment)
        await self.hold.wait()

    async def on_lost(self, generation: int, member_id: str, reason: MembershipLost) -> None:
        self._note("on_lost", generation, member_id, reason.code.name)

    def on_leave_prepare(self) -> None:
        self._note("on_leave_prepare")

    def names(self) -> list[object]:
        """Return the names of the callbacks so far, and forget them."""
        names = [event[0] for event in self.events]
        self.events.clear()
        return names

    def _note(self, name: str, *values: object) -> None:
        self.events.append((name, *values))
        if (failure := self.failures.pop(name, None)) is not None:
            raise failure
