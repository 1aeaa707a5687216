"""JoinGroup and SyncGroup: one rebalance, from the first request to the assignment."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Final

from coordinator_server.client.environment import Environment
from coordinator_server.client.errors import ClientError, MembershipLost, RetriableError, known_code, refusal
from coordinator_server.client.generation import Generation, GroupMember, MemberState
from coordinator_server.client.heartbeat_timer import HeartbeatTimer
from coordinator_server.client.member import Member, short_reason
from coordinator_server.client.network import GroupLink
from coordinator_server.client.settings import ConnectionSettings, GroupSettings
from protocol.error_codes import ErrorCode
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse

JOIN_LAPSE_S: Final = 5.0
"""JoinGroup is answered within the rebalance timeout, and a little more."""

_RETRY_AT_ONCE: Final = {
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.MEMBER_ID_REQUIRED,
}
# The coordinator does not know the member id any more.
_REMOVED: Final = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID, ErrorCode.GROUP_MAX_SIZE_REACHED}
_FIND_AGAIN: Final = {ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR}

Protocols = Sequence[tuple[str, bytes]]
Assign = Callable[[str, str, Sequence[GroupMember]], Coroutine[Any, Any, Mapping[str, bytes]]]
Keep = Callable[[str, str, Sequence[GroupMember]], Coroutine[Any, Any, None]]


class JoinAgain(RetriableError):
    """The error that this attempt failed, and that the next one may begin at once."""


class Rebalance:
    """Takes a member through a rebalance. The callbacks are the owner's: its metadata, and what it does as the leader."""

    def __init__(
        self,
        member: Member,
        timer: HeartbeatTimer,
        link: GroupLink,
        protocol_type: str,
        callbacks: tuple[Callable[[], Coroutine[Any, Any, Protocols]], Assign, Keep],
    ) -> None:
        self._member = member
        self._timer = timer
        self._link = link
        self._protocol_type = protocol_type
        self._protocols, self._assign, self._keep = callbacks

    async def run(self, group: GroupSettings, connection: ConnectionSettings, environment: Environment) -> bytes:
        """Join and sync; return the assignment. Raises ClientError, and what the callbacks raise."""
        timeout_s = max(connection.request_timeout_s, group.rebalance_s + JOIN_LAPSE_S)
        mark = self._member.begin_join()
        sent = self._member.generation
        sent_s = environment.now_s()
        answer = await self._link.call(await self._join_request(group), JoinGroupResponse, timeout_s, is_parked=True)
        if answer.error_code:
            raise self._join_failed(known_code(answer.error_code), answer, sent)
        self._joined(answer)
        self._timer.acknowledged(sent_s, is_stable=False)
        self._timer.start()
        sent = self._member.generation
        assignments = await self._assignments(answer)
        if self._member.generation != sent:
            raise JoinAgain("the generation ended while the leader assigned")
        sent_s = environment.now_s()
        request = self._sync_request(group, assignments)
        synced = await self._link.call(request, SyncGroupResponse, timeout_s, is_parked=True)
        if synced.error_code:
            raise self._sync_failed(known_code(synced.error_code), sent)
        self._synced(synced, sent, mark)
        self._timer.acknowledged(sent_s, is_stable=True)
        return synced.assignment

    async def _join_request(self, group: GroupSettings) -> JoinGroupRequest:
        protocols = await self._protocols()
        return JoinGroupRequest(
            group_id=group.group_id,
            session_timeout_ms=round(group.session_timeout_s * 1000),
            rebalance_timeout_ms=round(group.rebalance_s * 1000),
            member_id=self._member.generation.member_id,
            group_instance_id=group.group_instance_id,
            protocol_type=self._protocol_type,
            protocols=[JoinGroupRequestProtocol(name, bytes(metadata)) for name, metadata in protocols],
            reason=short_reason(self._member.rejoin_reason),
        )

    def _joined(self, answer: JoinGroupResponse) -> None:
        self._check_protocol_type("JoinGroup", answer.protocol_type)
        member = self._member
        if member.state is not MemberState.PREPARING_REBALANCE:
            raise JoinAgain("left the group while JoinGroup waited")
        generation = Generation(answer.generation_id, answer.member_id, answer.protocol_name)
        member.complete_join(generation, is_leader=answer.leader == answer.member_id)

    async def _assignments(self, answer: JoinGroupResponse) -> Mapping[str, bytes]:
        """Return what the leader assigns. Nothing if the coordinator keeps the assignment that it has (KIP-814)."""
        if not self._member.is_leader:
            return {}
        members = [GroupMember(each.member_id, each.group_instance_id, each.metadata) for each in answer.members]
        if answer.skip_assignment:
            await self._keep(answer.leader, answer.protocol_name or "", members)
            return {}
        return await self._assign(answer.leader, answer.protocol_name or "", members)

    def _sync_request(self, group: GroupSettings, assignments: Mapping[str, bytes]) -> SyncGroupRequest:
        generation = self._member.generation
        return SyncGroupRequest(
            group_id=group.group_id,
            generation_id=generation.generation_id,
            member_id=generation.member_id,
            group_instance_id=group.group_instance_id,
            protocol_type=self._protocol_type,
            protocol_name=generation.protocol_name,
            assignments=[SyncGroupRequestAssignment(member_id, bytes(assigned)) for member_id, assigned in assignments.items()],
        )

    def _synced(self, answer: SyncGroupResponse, sent: Generation, mark: int) -> None:
        self._check_protocol_type("SyncGroup", answer.protocol_type)
        member = self._member
        if member.generation != sent or member.state is not MemberState.COMPLETING_REBALANCE:
            raise JoinAgain("the generation ended while SyncGroup waited")
        if answer.protocol_name not in {None, sent.protocol_name}:
            raise refusal("SyncGroup", ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        member.complete_sync(mark)

    def _check_protocol_type(self, what: str, protocol_type: str | None) -> None:
        if protocol_type not in {None, self._protocol_type}:
            raise refusal(what, ErrorCode.INCONSISTENT_GROUP_PROTOCOL)

    def _join_failed(self, code: ErrorCode, answer: JoinGroupResponse, sent: Generation) -> ClientError:
        if code is ErrorCode.MEMBER_ID_REQUIRED:
            self._member.require_member_id(answer.member_id)
        elif code is ErrorCode.UNKNOWN_MEMBER_ID and self._member.generation == sent:
            self._reset("JoinGroup", code)
        return self._failed("JoinGroup", code)

    def _sync_failed(self, code: ErrorCode, sent: Generation) -> ClientError:
        if code in {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION} and self._member.generation == sent:
            self._reset("SyncGroup", code)
        return self._failed("SyncGroup", code)

    def _failed(self, what: str, code: ErrorCode) -> ClientError:
        if code in _FIND_AGAIN:
            self._link.forget(f"{what}: {code.name}")
        error = JoinAgain(f"{what}: {code.name}", code) if code in _RETRY_AT_ONCE else refusal(what, code)
        if not isinstance(error, RetriableError):
            # The group goes on without this member, and gives to others what it has.
            self._reset(what, code)
        return error

    def _reset(self, what: str, code: ErrorCode) -> None:
        reason = f"encountered {code.name} from {what} response"
        self._member.reset(MembershipLost(reason, code), keep_member_id=code not in _REMOVED)
