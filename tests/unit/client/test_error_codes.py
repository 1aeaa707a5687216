"""What a member makes of each error, as Kafka's clients do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from coordinator_server.client import (
    ClientError,
    FencedInstance,
    MembershipLost,
    RebalanceInProgress,
    Refused,
    TimedOut,
    TopicPartition,
)
from protocol.error_codes import ErrorCode
from protocol.messages.find_coordinator import Coordinator as FoundCoordinator
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse, OffsetFetchResponseGroup
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from tests.support.recording_coordinator import RecordingCoordinator
from tests.support.scripted_coordinator import NEVER, ScriptedCoordinator, committed, heartbeat
from tests.support.virtual_time import run_virtual

POSITION = TopicPartition("t", 0)
Body = Callable[[ScriptedCoordinator, RecordingCoordinator], Coroutine[Any, Any, None]]


def play(body: Body) -> None:
    """Run a test with a server and a member of its group."""

    async def main() -> None:
        server = ScriptedCoordinator()
        async with RecordingCoordinator(environment=server.environment) as member:
            await member.ensure_active_group()
            member.events.clear()
            await body(server, member)

    run_virtual(main())


@pytest.mark.parametrize("code", [ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE])
def test_a_heartbeat_at_the_wrong_server_looks_for_the_right_one(code: ErrorCode) -> None:
    async def body(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
        server.script[HeartbeatRequest].append(heartbeat(code))
        await member.wait_for_rejoin(10)

        assert len(server.asked(FindCoordinatorRequest)) == 2
        assert member.generation_if_stable is not None
        assert member.names() == []

    play(body)


@pytest.mark.parametrize("code", [ErrorCode.GROUP_AUTHORIZATION_FAILED, ErrorCode.UNKNOWN_SERVER_ERROR])
def test_an_error_of_heartbeats_that_no_retry_cures_reaches_the_owner(code: ErrorCode) -> None:
    """Once; the call after that sends heartbeats again."""

    async def body(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
        server.script[HeartbeatRequest].append(heartbeat(code))
        assert await member.wait_for_rejoin(10)
        with pytest.raises(Refused) as refused:
            await member.ensure_active_group()
        assert refused.value.code is code
        await member.ensure_active_group()
        before = len(server.asked(HeartbeatRequest))
        await member.wait_for_rejoin(10)

        assert len(server.asked(HeartbeatRequest)) > before

    play(body)


@pytest.mark.parametrize(
    ("code", "member_id", "is_lost"),
    [
        (ErrorCode.UNKNOWN_MEMBER_ID, "", True),
        (ErrorCode.ILLEGAL_GENERATION, "member-1", True),
        (ErrorCode.REBALANCE_IN_PROGRESS, "member-1", False),
        (ErrorCode.NOT_COORDINATOR, "member-1", False),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "member-1", False),
    ],
)
def test_an_error_of_sync_leads_to_another_join(code: ErrorCode, member_id: str, is_lost: bool) -> None:
    async def body(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
        server.script[SyncGroupRequest].append(SyncGroupResponse(error_code=code))
        member.request_rejoin("to be refused")
        joins = len(server.asked(JoinGroupRequest))
        await member.ensure_active_group()

        assert server.asked(JoinGroupRequest)[joins + 1].member_id == member_id
        assert ("on_lost" in member.names()) is is_lost

    play(body)


@pytest.mark.parametrize("code", [ErrorCode.GROUP_AUTHORIZATION_FAILED, ErrorCode.UNKNOWN_SERVER_ERROR, 9999])
def test_an_error_of_sync_that_no_retry_cures_is_raised(code: int) -> None:
    async def body(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
        server.script[SyncGroupRequest].append(SyncGroupResponse(error_code=code))
        member.request_rejoin("to be refused")
        with pytest.raises(Refused):
            await member.ensure_active_group()

    play(body)


@pytest.mark.parametrize(
    ("request_type", "answer"),
    [
        (
            JoinGroupRequest,
            JoinGroupResponse(generation_id=2, protocol_type="consumer", protocol_name="first", member_id="member-1"),
        ),
        (SyncGroupRequest, SyncGroupResponse(protocol_type="consumer")),
        (SyncGroupRequest, SyncGroupResponse(protocol_name="second")),
    ],
)
def test_answers_of_a_different_protocol_are_refused(request_type: Any, answer: Any) -> None:
    """KIP-559."""

    async def body(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
        server.script[request_type].append(answer)
        member.request_rejoin("to be confused")
        with pytest.raises(Refused) as refused:
            await member.ensure_active_group()

        assert refused.value.code is ErrorCode.INCONSISTENT_GROUP_PROTOCOL

    play(body)


@pytest.mark.parametrize(
    ("request_type", "answer", "member_id"),
    [
        (JoinGroupRequest, JoinGroupResponse(error_code=ErrorCode.GROUP_MAX_SIZE_REACHED), ""),
        (JoinGroupRequest, JoinGroupResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED), "member-1"),
        (SyncGroupRequest, SyncGroupResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED), "member-1"),
    ],
)
def test_a_member_that_is_refused_has_lost_what_it_had(request_type: Any, answer: Any, member_id: str) -> None:
    """The group goes on without it: a full group may refuse a member that it had."""

    async def body(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
        server.script[request_type].append(answer)
        member.request_rejoin("a rebalance")
        with pytest.raises(Refused):
            await member.ensure_active_group()

        assert member.events[-1][0] == "on_lost"
        assert member.member_id == member_id

    play(body)


def test_a_fenced_join_is_an_end_of_the_membership() -> None:
    async def body(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
        server.script[JoinGroupRequest].append(JoinGroupResponse(error_code=ErrorCode.FENCED_INSTANCE_ID))
        member.request_rejoin("to be fenced")
        with pytest.raises(FencedInstance):
            await member.ensure_active_group()

        assert member.events[-1] == ("on_lost", 1, "member-1", "FENCED_INSTANCE_ID")

    play(body)


def test_a_generation_that_ends_while_it_is_joined_is_joined_again() -> None:
    """Heartbeats hear that the member is unknown before its assignment comes."""

    async def body(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
        late: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        server.script[SyncGroupRequest].append(late)
        server.script[HeartbeatRequest].append(heartbeat(ErrorCode.UNKNOWN_MEMBER_ID))
        member.request_rejoin("to be disturbed")
        asyncio.get_running_loop().call_later(4, late.set_result, SyncGroupResponse(assignment=b"late"))
        await member.ensure_active_group()

        assert member.generation.generation_id == 3
        assert all(event[-1] != b"late" for event in member.events)
        assert [name for name in member.names() if name == "on_lost"] == ["on_lost"]

    play(body)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (ErrorCode.ILLEGAL_GENERATION, MembershipLost),
        (ErrorCode.FENCED_INSTANCE_ID, FencedInstance),
        (ErrorCode.OFFSET_METADATA_TOO_LARGE, Refused),
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, Refused),
        (ErrorCode.REBALANCE_IN_PROGRESS, RebalanceInProgress),
    ],
)
def test_errors_of_a_commit(code: ErrorCode, error: type[ClientError]) -> None:
    async def body(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
        server.script[OffsetCommitRequest].append(lambda request: committed(request, code))
        with pytest.raises(error) as raised:
            await member.commit({POSITION: 7})

        assert raised.value.code is code
        assert len(server.asked(OffsetCommitRequest)) == 1

    play(body)


def test_a_commit_while_joining_says_so_at_once() -> None:
    """The server would hold it back behind JoinGroup."""

    async def body(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
        server.script[JoinGroupRequest].append(NEVER)
        member.request_rejoin("a rebalance")
        with pytest.raises(TimedOut):
            await member.ensure_active_group(timeout_s=1)
        with pytest.raises(RebalanceInProgress):
            await member.commit({POSITION: 7})

        assert not server.asked(OffsetCommitRequest)

    play(body)


@pytest.mark.parametrize("version", [5, 7, 8])
def test_reads_wait_for_transactions_and_follow_the_coordinator(version: int) -> None:
    """Unstable offsets are asked for again."""

    async def body(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
        await member.close()
        server.limit(OffsetFetch=version)
        for code in (ErrorCode.UNSTABLE_OFFSET_COMMIT, ErrorCode.NOT_COORDINATOR):
            group = [OffsetFetchResponseGroup("g", error_code=code)] if version == 8 else []
            server.script[OffsetFetchRequest].append(OffsetFetchResponse(error_code=0 if version == 8 else code, groups=group))
        async with RecordingCoordinator(environment=server.environment) as reader:
            assert await reader.committed([POSITION]) == {}
            server.script[OffsetFetchRequest].append(refused(version))
            with pytest.raises(Refused):
                await reader.committed()

        assert len(server.asked(OffsetFetchRequest)) == 4
        assert server.asked(OffsetFetchRequest)[0].require_stable is (version >= 7)

    play(body)


def refused(version: int) -> OffsetFetchResponse:
    code = ErrorCode.GROUP_AUTHORIZATION_FAILED
    if version == 8:
        return OffsetFetchResponse(groups=[OffsetFetchResponseGroup("g", error_code=code)])
    return OffsetFetchResponse(error_code=code)


def test_a_group_that_may_not_be_found_is_an_error() -> None:
    async def body(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
        server.cut()
        code = ErrorCode.GROUP_AUTHORIZATION_FAILED
        answer = FindCoordinatorResponse(coordinators=[FoundCoordinator("g", error_code=code)])
        server.script[FindCoordinatorRequest] += [answer, answer]
        with pytest.raises(Refused) as raised:
            await member.ensure_active_group()

        assert raised.value.code is code

    play(body)


def test_a_server_that_does_not_let_a_member_go_is_left_all_the_same() -> None:
    async def body(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
        server.script[LeaveGroupRequest].append(LeaveGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID))
        await member.close()

        assert not server.connections

    play(body)
