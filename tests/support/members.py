"""Members of a classic group, driven step by step over plain connections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from protocol.codec import encode
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_protocol import ConsumerProtocolSubscription
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from tests.support.client import Client
from tests.support.eventually import eventually

# From version 4 on, a member without an id gets one and is asked to come again with it (KIP-394).
MEMBER_ID_STEP = 4


class Member:
    """One member: its connection, its id, its generation. Versions are those of each API, the newest by default."""

    def __init__(
        self,
        address: tuple[str, int],
        group_id: str,
        *,
        join_version: int = 9,
        session_timeout_ms: int = 10_000,
        rebalance_timeout_ms: int = 20_000,
        metadata: bytes | None = None,
        client_id: str = "tests",
    ) -> None:
        self.group_id = group_id
        self.member_id = ""
        self.generation_id = -1
        self.leader = ""
        self.assignment = b""
        self.roster: list[str] = []
        self._join_version = join_version
        self._metadata = subscription(group_id) if metadata is None else metadata
        self._timeouts = session_timeout_ms, rebalance_timeout_ms
        self.address = address
        self.client = Client(address, client_id)

    @property
    def is_leader(self) -> bool:
        return bool(self.member_id) and self.leader == self.member_id

    def reconnect(self) -> None:
        self.client.close()
        self.client = Client(self.address, self.client.client_id)

    def start_join(self) -> None:
        """Ask to join, after the member id step where there is one; ``finish_join`` waits for the answer."""
        self._send_join()
        if not self.member_id and self._join_version >= MEMBER_ID_STEP:
            answer = self._receive_join()
            assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED
            self.member_id = answer.member_id
            self._send_join()

    def finish_join(self) -> JoinGroupResponse:
        answer = self._receive_join()
        assert answer.error_code == ErrorCode.NONE, ErrorCode(answer.error_code)
        self.member_id, self.generation_id, self.leader = answer.member_id, answer.generation_id, answer.leader
        self.roster = [member.member_id for member in answer.members]
        return answer

    def sync(self, assignments: Mapping[str, bytes] | None = None, version: int = 5) -> ErrorCode:
        self.start_sync(assignments, version)
        return self.finish_sync()

    def start_sync(self, assignments: Mapping[str, bytes] | None = None, version: int = 5) -> None:
        request = SyncGroupRequest(group_id=self.group_id, generation_id=self.generation_id, member_id=self.member_id)
        if version >= 5:
            request.protocol_type, request.protocol_name = "consumer", "range"
        request.assignments = [
            SyncGroupRequestAssignment(member_id=to, assignment=what) for to, what in (assignments or {}).items()
        ]
        self.client.send(request, version)

    def finish_sync(self) -> ErrorCode:
        answer = self.client.receive()
        assert isinstance(answer, SyncGroupResponse)
        self.assignment = answer.assignment
        return ErrorCode(answer.error_code)

    def heartbeat(self, version: int = 4) -> ErrorCode:
        request = HeartbeatRequest(group_id=self.group_id, generation_id=self.generation_id, member_id=self.member_id)
        return ErrorCode(self.client.ask(request, version, HeartbeatResponse).error_code)

    def await_rebalance(self) -> None:
        """Heartbeat until the coordinator says that the group rebalances."""
        eventually(lambda: self.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS)

    def leave(self, version: int = 5) -> ErrorCode:
        request = LeaveGroupRequest(group_id=self.group_id)
        if version < 3:
            request.member_id = self.member_id
            return ErrorCode(self.client.ask(request, version, LeaveGroupResponse).error_code)
        request.members = [MemberIdentity(member_id=self.member_id)]
        answer = self.client.ask(request, version, LeaveGroupResponse)
        return ErrorCode(answer.error_code or answer.members[0].error_code)

    def commit(self, topic: str, offsets: Mapping[int, int], version: int = 9) -> dict[int, ErrorCode]:
        """The error of each partition."""
        self.send_commit(topic, offsets, version)
        return self.receive_commit()

    def send_commit(self, topic: str, offsets: Mapping[int, int], version: int = 9) -> None:
        partitions = [
            OffsetCommitRequestPartition(partition_index=one, committed_offset=offset) for one, offset in offsets.items()
        ]
        request = OffsetCommitRequest(
            group_id=self.group_id,
            generation_id_or_member_epoch=self.generation_id,
            member_id=self.member_id,
            topics=[OffsetCommitRequestTopic(name=topic, partitions=partitions)],
        )
        self.client.send(request, version)

    def receive_commit(self) -> dict[int, ErrorCode]:
        answer = self.client.receive()
        assert isinstance(answer, OffsetCommitResponse)
        return {one.partition_index: ErrorCode(one.error_code) for topic in answer.topics for one in topic.partitions}

    def _send_join(self) -> None:
        session_timeout_ms, rebalance_timeout_ms = self._timeouts
        request = JoinGroupRequest(
            group_id=self.group_id,
            session_timeout_ms=session_timeout_ms,
            member_id=self.member_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=self._metadata)],
        )
        if self._join_version >= 1:
            request.rebalance_timeout_ms = rebalance_timeout_ms
        self.client.send(request, self._join_version)

    def _receive_join(self) -> JoinGroupResponse:
        answer = self.client.receive()
        assert isinstance(answer, JoinGroupResponse)
        return answer


def join_all(members: Sequence[Member], newcomers: Sequence[Member] = ()) -> None:
    """Take a settled group through one rebalance with newcomers; all are stable in one generation afterwards."""
    for newcomer in newcomers:
        newcomer.start_join()
    for member in members:
        if newcomers:
            member.await_rebalance()
        member.start_join()
    everybody = [*members, *newcomers]
    for member in everybody:
        member.finish_join()
    [leader] = [member for member in everybody if member.is_leader]
    assert sorted(leader.roster) == sorted(member.member_id for member in everybody)
    for member in everybody:
        member.start_sync({one.member_id: share_of(one) for one in everybody} if member is leader else None)
    for member in everybody:
        assert member.finish_sync() == ErrorCode.NONE
        assert member.assignment == share_of(member)


def subscription(topic: str) -> bytes:
    """What a consumer says it wants. Kafka reads it, and leaves a group of type consumer hanging when it can't."""
    return b"\0\0" + encode(ConsumerProtocolSubscription(topics=[topic]), 0)


def share_of(member: Member) -> bytes:
    """What the leader of these groups gives a member."""
    return b"share of " + member.member_id.encode()


def form_group(address: tuple[str, int], group_id: str, count: int, **options: Any) -> list[Member]:
    """A stable group of that many members."""
    first, *others = [Member(address, group_id, **options) for _ in range(count)]
    join_all([], [first])
    if others:
        join_all([first], others)
    return [first, *others]
