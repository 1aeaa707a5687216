"""The rules of Kafka's AbstractCoordinator, in virtual time, with a coordinator that answers as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import wraps
from itertools import pairwise
from typing import Any

import pytest

from coordinator_server.client import (
    NO_GENERATION,
    Closed,
    FencedInstance,
    Generation,
    GroupMember,
    GroupSettings,
    MembershipLost,
    RebalanceInProgress,
    Refused,
    TimedOut,
    TopicPartition,
    Unavailable,
    UnsupportedVersion,
)
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.api_versions import ApiVersionsRequest
from protocol.messages.create_topics import CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from protocol.messages.leave_group import LeaveGroupRequest
from protocol.messages.metadata import MetadataRequest
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.messages.offset_fetch import OffsetFetchRequest
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from tests.support.recording_coordinator import GROUP, RecordingCoordinator
from tests.support.scripted_coordinator import DISCONNECT, NEVER, ScriptedCoordinator, committed, heartbeat
from tests.support.virtual_time import run_virtual

REBALANCE = ["on_join_prepare", "metadata", "perform_assignment", "on_join_complete"]
STATIC = GroupSettings("g", group_instance_id="i", session_timeout_s=10)
POSITION = TopicPartition("t", 0)

Body = Callable[[ScriptedCoordinator, RecordingCoordinator], Coroutine[Any, Any, None]]


def in_virtual_time(group: GroupSettings = GROUP) -> Callable[[Body], Callable[[], None]]:
    """Run a test with a server and a member, and close the member."""

    def decorate(body: Body) -> Callable[[], None]:
        async def main() -> None:
            server = ScriptedCoordinator()
            member = RecordingCoordinator(group=group, environment=server.environment)
            try:
                await body(server, member)
            finally:
                await member.close()
            assert not server.connections, "connections are left"

        @wraps(body)
        def run() -> None:
            run_virtual(main())

        # pytest looks for fixtures in the signature of what is wrapped.
        del run.__dict__["__wrapped__"]
        return run

    return decorate


@in_virtual_time()
async def test_callbacks_come_in_order_once_per_rebalance(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    """A new member joins with the id that the coordinator gives it (KIP-394), and prepares only once for that."""
    await member.ensure_active_group()

    assert member.events == [
        ("on_join_prepare", -1, ""),
        ("metadata",),
        ("metadata",),
        ("perform_assignment", "member-1", "first"),
        ("on_join_complete", 1, "member-1", "first", b"for member-1"),
    ]
    assert member.generation == member.generation_if_stable == Generation(1, "member-1", "first")
    assert member.is_leader
    first, second = server.asked(JoinGroupRequest)
    assert (first.member_id, second.member_id) == ("", "member-1")


@in_virtual_time()
async def test_nothing_happens_while_the_group_is_stable(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    await member.ensure_active_group()
    member.names()

    for _ in range(3):
        await member.ensure_active_group()

    assert member.names() == []


@in_virtual_time()
async def test_a_rebalance_of_others_is_joined_with_the_same_id(
    server: ScriptedCoordinator, member: RecordingCoordinator
) -> None:
    """The heartbeat says so; the callback gets the generation that ends."""
    await member.ensure_active_group()
    member.events.clear()
    server.script[HeartbeatRequest].append(heartbeat(ErrorCode.REBALANCE_IN_PROGRESS))

    assert await member.wait_for_rejoin(20)
    await member.ensure_active_group()

    assert member.events[0] == ("on_join_prepare", 1, "member-1")
    assert member.names() == REBALANCE
    assert server.asked(JoinGroupRequest)[-1].reason == "group is already rebalancing"


@in_virtual_time()
async def test_a_failed_on_join_complete_is_called_again_first(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    """With the same assignment, before a rebalance that has begun meanwhile."""
    member.failures["on_join_complete"] = ValueError("mine")
    with pytest.raises(ValueError, match="mine"):
        await member.ensure_active_group()
    [*_, failed] = member.events
    member.events.clear()
    server.script[HeartbeatRequest].append(heartbeat(ErrorCode.REBALANCE_IN_PROGRESS))
    await asyncio.sleep(4)

    await member.ensure_active_group()

    assert member.events[0] == failed
    assert member.names() == ["on_join_complete", *REBALANCE]


@in_virtual_time()
async def test_a_cancelled_on_join_complete_is_called_again(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    member.hold.clear()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await member.ensure_active_group()
    member.hold.set()
    member.names()

    await member.ensure_active_group()

    assert member.names() == ["on_join_complete"]


@in_virtual_time()
async def test_a_failed_on_join_prepare_is_not_repeated(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    member.failures["on_join_prepare"] = ValueError("mine")
    with pytest.raises(ValueError, match="mine"):
        await member.ensure_active_group()
    assert member.names() == ["on_join_prepare"]

    await member.ensure_active_group()

    assert "on_join_prepare" not in member.names()


@pytest.mark.parametrize("name", ["metadata", "perform_assignment"])
def test_failures_of_other_callbacks_reach_the_caller(name: str) -> None:
    """The next call begins a new attempt, without preparing again."""

    @in_virtual_time()
    async def play(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
        member.failures[name] = ValueError("mine")
        with pytest.raises(ValueError, match="mine"):
            await member.ensure_active_group()
        member.names()

        await member.ensure_active_group()

        assert member.names()[-2:] == ["perform_assignment", "on_join_complete"]
        assert "rebalance failed due to ValueError" in {each.reason for each in server.asked(JoinGroupRequest)}

    play()


@in_virtual_time()
async def test_a_join_survives_its_caller(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    """A caller that is cancelled leaves the rebalance running: the next one continues it."""
    server.needs_member_id = False
    answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
    server.script[JoinGroupRequest].append(answer)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await member.ensure_active_group()
    with pytest.raises(TimedOut):
        await member.ensure_active_group(timeout_s=1)

    answer.set_result(server.joined(server.asked(JoinGroupRequest)[0]))
    await member.ensure_active_group()

    assert len(server.asked(JoinGroupRequest)) == 1
    assert member.names() == REBALANCE


@in_virtual_time()
async def test_a_leader_that_is_told_to_skips_the_assignment(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    """KIP-814: the coordinator keeps the assignment that it has."""
    server.script[JoinGroupRequest] += [server.plain_answer, lambda request: server.joined(request, skip_assignment=True)]
    server.script[SyncGroupRequest].append(SyncGroupResponse(assignment=b"kept"))

    await member.ensure_active_group()

    told = [name for name, *_ in member.events]
    assert told == ["on_join_prepare", "metadata", "metadata", "on_assignment_kept", "on_join_complete"]
    assert member.events[3] == ("on_assignment_kept", "member-1", "first", 1)
    assert member.events[-1][-1] == b"kept"
    assert server.asked(SyncGroupRequest)[0].assignments == []
    assert member.is_leader


def test_a_leader_that_is_removed_while_it_assigns_joins_again() -> None:
    """Its assignment is of a generation that is over: it sends none."""

    class Slow(RecordingCoordinator):
        async def perform_assignment(self, leader_id: str, protocol: str, members: Sequence[GroupMember]) -> Mapping[str, bytes]:
            await asyncio.sleep(GROUP.heartbeat_interval_s + 1)
            return await super().perform_assignment(leader_id, protocol, members)

    async def main() -> None:
        server = ScriptedCoordinator()
        server.script[HeartbeatRequest].append(heartbeat(ErrorCode.UNKNOWN_MEMBER_ID))
        async with Slow(environment=server.environment) as member:
            await member.ensure_active_group()

        assert [each.generation_id for each in server.asked(SyncGroupRequest)] == [2]

    run_virtual(main())


@in_virtual_time()
async def test_a_follower_assigns_nothing(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    server.script[JoinGroupRequest] += [server.plain_answer, lambda request: server.joined(request, leader="other")]

    await member.ensure_active_group()

    assert "perform_assignment" not in member.names()
    assert not member.is_leader


@pytest.mark.parametrize(("code", "member_id"), [(ErrorCode.UNKNOWN_MEMBER_ID, ""), (ErrorCode.ILLEGAL_GENERATION, "member-1")])
def test_lost_membership_is_no_rebalance(code: ErrorCode, member_id: str) -> None:
    """The owner is notified of what it has lost, before it prepares for a rebalance in which it has no generation."""

    @in_virtual_time()
    async def play(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
        await member.ensure_active_group()
        member.events.clear()
        server.script[HeartbeatRequest].append(heartbeat(code))
        assert await member.wait_for_rejoin(20)
        assert member.generation_if_stable is None

        await member.ensure_active_group()

        assert member.events[:2] == [("on_lost", 1, "member-1", code.name), ("on_join_prepare", -1, member_id)]
        assert member.events[-1][0] == "on_join_complete"

    play()


@in_virtual_time()
async def test_a_failed_on_lost_is_not_repeated(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    await member.ensure_active_group()
    server.script[HeartbeatRequest].append(heartbeat(ErrorCode.UNKNOWN_MEMBER_ID))
    await member.wait_for_rejoin(20)
    member.failures["on_lost"] = ValueError("mine")
    with pytest.raises(ValueError, match="mine"):
        await member.ensure_active_group()
    member.names()

    await member.ensure_active_group()

    assert "on_lost" not in member.names()


@in_virtual_time(STATIC)
async def test_a_fenced_member_is_told_so(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    """By its heartbeats, after it has given up what it had."""
    await member.ensure_active_group()
    member.events.clear()
    server.script[HeartbeatRequest].append(heartbeat(ErrorCode.FENCED_INSTANCE_ID))
    await member.wait_for_rejoin(20)

    with pytest.raises(FencedInstance):
        await member.ensure_active_group()

    assert member.events == [("on_lost", 1, "member-1", "FENCED_INSTANCE_ID")]


@in_virtual_time()
async def test_an_owner_that_does_not_call_is_given_up(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    """``max_poll_interval``: heartbeats stop, and the member leaves with the reason (KIP-800)."""
    await member.ensure_active_group()
    member.events.clear()
    await asyncio.sleep(GROUP.max_poll_interval_s - 1)
    assert not server.asked(LeaveGroupRequest)
    await asyncio.sleep(2)

    [leave] = server.asked(LeaveGroupRequest)
    assert leave.members[0].member_id == "member-1"
    assert "has not called" in str(leave.members[0].reason)
    beats = len(server.asked(HeartbeatRequest))
    await asyncio.sleep(30)
    assert len(server.asked(HeartbeatRequest)) == beats
    await member.ensure_active_group()
    assert member.names()[0] == "on_lost"


@in_virtual_time()
async def test_an_owner_that_waits_or_polls_is_alive(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    await member.ensure_active_group()

    assert not await member.wait_for_rejoin(3 * GROUP.max_poll_interval_s)
    for _ in range(5):
        member.poll()
        await asyncio.sleep(GROUP.max_poll_interval_s / 2)

    assert not server.asked(LeaveGroupRequest)


@in_virtual_time()
async def test_heartbeats_go_out_at_their_interval(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    await member.ensure_active_group()
    await member.wait_for_rejoin(30.5)

    times = server.times(HeartbeatRequest)

    assert len(times) in {9, 10}
    assert all(2.9 < later - earlier < 3.2 for earlier, later in pairwise(times))


@in_virtual_time()
async def test_heartbeats_go_out_while_an_assignment_is_awaited(
    server: ScriptedCoordinator, member: RecordingCoordinator
) -> None:
    """Over a connection of their own: the server holds back what is behind a parked SyncGroup."""
    answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
    server.script[SyncGroupRequest].append(answer)
    with pytest.raises(TimedOut):
        await member.ensure_active_group(timeout_s=10)

    [sync] = [number for _, number, each in server.requests if isinstance(each, SyncGroupRequest)]
    beats = {number for _, number, each in server.requests if isinstance(each, HeartbeatRequest)}
    assert len(beats) == 1
    assert sync not in beats
    answer.set_result(SyncGroupResponse(assignment=b"late"))
    await member.ensure_active_group()
    assert member.events[-1][-1] == b"late"


@in_virtual_time()
async def test_a_broken_connection_keeps_the_membership(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    """The heartbeats find the coordinator again, and no rebalance follows."""
    await member.ensure_active_group()
    member.names()
    server.cut()
    await member.wait_for_rejoin(7)

    assert len(server.asked(FindCoordinatorRequest)) == 2
    assert server.times(HeartbeatRequest)[-1] > 3
    await member.ensure_active_group()
    assert member.names() == []


@in_virtual_time()
async def test_a_coordinator_that_is_silent_is_given_up(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    """It is looked for again over a new connection, no later than after a session."""
    await member.ensure_active_group()
    server.script[HeartbeatRequest].append(NEVER)

    await member.wait_for_rejoin(13)

    assert len(server.asked(FindCoordinatorRequest)) == 2
    assert len(server.asked(HeartbeatRequest)) > 1


@in_virtual_time()
async def test_a_coordinator_that_moves_is_followed(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    server.script[JoinGroupRequest] += [
        JoinGroupResponse(error_code=ErrorCode.NOT_COORDINATOR),
        JoinGroupResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
        DISCONNECT,
    ]

    await member.ensure_active_group()

    assert len(server.asked(FindCoordinatorRequest)) == 3
    assert member.events[-1][0] == "on_join_complete"


@in_virtual_time()
async def test_retries_wait_longer_each_time(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    """From ``retry_backoff_s`` up to its maximum, within 20 %; a request that succeeds begins anew."""
    refusals = [FindCoordinatorResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)] * 7
    server.limit(FindCoordinator=3)
    server.script[FindCoordinatorRequest] += refusals

    await member.ensure_active_group()

    times = server.times(FindCoordinatorRequest)
    waits = [later - earlier for earlier, later in pairwise(times)]
    assert [round(wait, 1) for wait in waits] == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0]


@in_virtual_time()
async def test_a_server_that_refuses_for_ever_is_not_asked_all_the_time(
    server: ScriptedCoordinator, member: RecordingCoordinator
) -> None:
    server.script[JoinGroupRequest] += [JoinGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID)] * 1000

    with pytest.raises(TimedOut):
        await member.ensure_active_group(timeout_s=10)

    assert len(server.asked(JoinGroupRequest)) < 20
    server.script[JoinGroupRequest].clear()


@pytest.mark.parametrize(
    "code",
    [ErrorCode.INCONSISTENT_GROUP_PROTOCOL, ErrorCode.GROUP_AUTHORIZATION_FAILED, ErrorCode.GROUP_MAX_SIZE_REACHED,
     ErrorCode.INVALID_GROUP_ID],
)  # fmt: skip
def test_what_no_retry_cures_reaches_the_caller(code: ErrorCode) -> None:
    @in_virtual_time()
    async def play(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
        server.script[JoinGroupRequest].append(JoinGroupResponse(error_code=code))
        with pytest.raises(Refused) as refused:
            await member.ensure_active_group()

        assert refused.value.code is code

    play()


@in_virtual_time()
async def test_no_server_is_an_error_in_time(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    server.is_down = True

    with pytest.raises(Unavailable, match="is a server running there"):
        await member.ensure_active_group(timeout_s=7)

    assert asyncio.get_running_loop().time() == pytest.approx(7)


@in_virtual_time()
async def test_a_rejoin_that_is_requested_during_a_join_is_not_lost(
    server: ScriptedCoordinator, member: RecordingCoordinator
) -> None:
    """Its metadata was sent before the request."""

    def change(request: JoinGroupRequest) -> JoinGroupResponse:
        member.request_rejoin("metadata has changed")
        return server.joined(request)

    server.script[JoinGroupRequest] += [server.plain_answer, change]

    await member.ensure_active_group()

    assert member.generation.generation_id == 2
    assert server.asked(JoinGroupRequest)[-1].reason == "metadata has changed"


@in_virtual_time()
async def test_close_leaves_the_group(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    await member.ensure_active_group()
    member.names()
    await member.close()
    await member.close()

    [leave] = server.asked(LeaveGroupRequest)
    assert (leave.members[0].member_id, leave.members[0].reason) == ("member-1", "the client is being closed")
    assert member.names() == ["on_leave_prepare"]
    assert member.generation == NO_GENERATION
    with pytest.raises(Closed):
        await member.ensure_active_group()


@pytest.mark.parametrize(("leave", "count"), [(None, 0), (True, 1)])
def test_a_static_member_stays_unless_it_is_to_leave(leave: bool | None, count: int) -> None:
    @in_virtual_time(STATIC)
    async def play(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
        await member.ensure_active_group()
        await member.close(leave=leave)

        assert len(server.asked(LeaveGroupRequest)) == count
        assert {each.group_instance_id for each in server.asked(JoinGroupRequest)} == {"i"}

    play()


@in_virtual_time()
async def test_close_during_a_join_ends_the_call_that_waits(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    """The member leaves over a different connection: nothing is answered behind the parked request."""
    server.script[JoinGroupRequest] += [server.plain_answer, NEVER]
    waiting = asyncio.create_task(member.ensure_active_group())
    await asyncio.sleep(1)
    await member.close()

    with pytest.raises(Closed):
        await waiting
    assert len(server.asked(LeaveGroupRequest)) == 1


@in_virtual_time()
async def test_close_while_no_server_is_there(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    server.is_down = True
    waiting = asyncio.create_task(member.ensure_active_group())
    await asyncio.sleep(1)
    began = asyncio.get_running_loop().time()
    await member.close()

    with pytest.raises(Closed):
        await waiting
    assert asyncio.get_running_loop().time() - began < 1


@in_virtual_time()
async def test_close_waits_for_a_callback(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    """Never two callbacks at a time."""
    member.hold.clear()
    waiting = asyncio.create_task(member.ensure_active_group())
    await asyncio.sleep(1)
    closing = asyncio.create_task(member.close())
    await asyncio.sleep(1)
    assert ("on_leave_prepare",) not in member.events
    member.hold.set()

    await closing
    assert member.events[-1] == ("on_leave_prepare",)
    await asyncio.wait({waiting})
    assert isinstance(waiting.exception(), Closed | None)


@in_virtual_time()
async def test_close_after_a_loss_tells_it(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    await member.ensure_active_group()
    server.script[HeartbeatRequest].append(heartbeat(ErrorCode.UNKNOWN_MEMBER_ID))
    await member.wait_for_rejoin(20)
    member.names()
    await member.close()

    assert member.names() == ["on_lost", "on_leave_prepare"]
    assert not server.asked(LeaveGroupRequest)


@in_virtual_time()
async def test_cancelled_close_leaves_nothing_behind(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    await member.ensure_active_group()
    server.script[LeaveGroupRequest].append(NEVER)
    closing = asyncio.create_task(member.close())
    await asyncio.sleep(1)
    closing.cancel()
    await asyncio.wait({closing})

    assert not server.connections


@in_virtual_time()
async def test_a_second_caller_waits_for_the_first(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    """In time, too; and what it waited for is done then."""
    member.hold.clear()
    first = asyncio.create_task(member.ensure_active_group())
    await asyncio.sleep(1)
    with pytest.raises(TimedOut):
        await member.ensure_active_group(timeout_s=2)
    second = asyncio.create_task(member.ensure_active_group())
    await asyncio.sleep(1)
    member.hold.set()
    await asyncio.gather(first, second)

    assert member.names().count("on_join_complete") == 1


@pytest.mark.parametrize("turns", range(6))
def test_close_may_be_cancelled_anywhere(turns: int) -> None:
    """Also before it has begun to leave; the loop fails if a task is left."""

    @in_virtual_time()
    async def play(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
        await member.ensure_active_group()
        server.script[JoinGroupRequest].append(NEVER)
        member.request_rejoin("to be disturbed")
        waiting = asyncio.create_task(member.ensure_active_group())
        await asyncio.sleep(1)
        closing = asyncio.create_task(member.close())
        for _ in range(turns):
            await asyncio.sleep(0)
        closing.cancel()
        await asyncio.gather(closing, waiting, return_exceptions=True)

        assert not server.connections or turns == 0

    play()


@in_virtual_time()
async def test_run_goes_on_when_a_callback_finds_the_membership_lost(
    server: ScriptedCoordinator, member: RecordingCoordinator
) -> None:
    """Its commit was refused: the member rejoins."""
    running = asyncio.create_task(member.run())
    await asyncio.sleep(5)
    server.script[HeartbeatRequest].append(heartbeat(ErrorCode.REBALANCE_IN_PROGRESS))
    member.failures["on_join_prepare"] = MembershipLost("found by a commit")
    await asyncio.sleep(5)

    assert not running.done()
    assert member.generation_if_stable is not None
    assert member.generation.generation_id == 2
    await member.close()
    await running


@in_virtual_time()
async def test_run_stays_in_the_group(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    """Through rebalances, losses and servers that are gone, until the coordinator is closed."""
    running = asyncio.create_task(member.run())
    await asyncio.sleep(5)
    server.script[HeartbeatRequest] += [heartbeat(ErrorCode.REBALANCE_IN_PROGRESS), heartbeat(ErrorCode.UNKNOWN_MEMBER_ID)]
    await asyncio.sleep(20)
    server.is_down = True
    server.cut()
    await asyncio.sleep(200)
    server.is_down = False
    server.script[HeartbeatRequest].append(heartbeat(ErrorCode.UNKNOWN_MEMBER_ID))
    await asyncio.sleep(20)

    assert [each for each in member.events if each[0] == "on_lost"] == [
        ("on_lost", 2, "member-1", "UNKNOWN_MEMBER_ID"),
        ("on_lost", 3, "member-1", "UNKNOWN_MEMBER_ID"),
    ]
    assert member.generation_if_stable is not None
    await member.close()
    await running


@in_virtual_time()
async def test_commits_carry_the_generation(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    await member.ensure_active_group()
    await member.commit({POSITION: 7}, "text")

    [commit] = server.asked(OffsetCommitRequest)
    assert (commit.generation_id_or_member_epoch, commit.member_id) == (1, "member-1")
    [partition] = commit.topics[0].partitions
    assert (partition.committed_offset, partition.committed_metadata) == (7, "text")


@pytest.mark.parametrize("code", [ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND])
def test_who_is_no_member_commits_nothing(code: ErrorCode) -> None:
    """The whole group may be gone: it was empty, and was deleted."""

    @in_virtual_time()
    async def play(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
        with pytest.raises(MembershipLost):
            await member.commit({POSITION: 7})
        await member.ensure_active_group()
        server.script[OffsetCommitRequest].append(lambda request: committed(request, code))
        with pytest.raises(MembershipLost):
            await member.commit({POSITION: 7})

        assert member.generation == NO_GENERATION
        await member.ensure_active_group()
        assert ("on_lost", 1, "member-1", code.name) in member.events

    play()


@in_virtual_time()
async def test_a_commit_during_a_rebalance_says_so(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    await member.ensure_active_group()
    server.script[OffsetCommitRequest].append(lambda request: committed(request, ErrorCode.REBALANCE_IN_PROGRESS))
    with pytest.raises(RebalanceInProgress):
        await member.commit({POSITION: 7})

    assert await member.wait_for_rejoin(0.1)
    await member.ensure_active_group()
    assert member.generation.generation_id == 2


@in_virtual_time()
async def test_a_commit_that_is_answered_after_a_loss_is_of_a_rebalance(
    server: ScriptedCoordinator, member: RecordingCoordinator
) -> None:
    """The owner has been told of the loss by then: the next commit may succeed."""
    await member.ensure_active_group()
    late: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
    server.script[OffsetCommitRequest].append(late)
    server.script[HeartbeatRequest].append(heartbeat(ErrorCode.ILLEGAL_GENERATION))
    server.script[JoinGroupRequest].append(NEVER)
    committing = asyncio.create_task(member.commit({POSITION: 7}))
    assert await member.wait_for_rejoin(4)
    rejoining = asyncio.create_task(member.ensure_active_group(timeout_s=3))
    await asyncio.sleep(0.5)
    late.set_result(committed(server.asked(OffsetCommitRequest)[0], ErrorCode.ILLEGAL_GENERATION))

    with pytest.raises(RebalanceInProgress):
        await committing
    with pytest.raises(TimedOut):
        await rejoining


@in_virtual_time()
async def test_a_late_answer_to_a_heartbeat_loses_no_later_generation(
    server: ScriptedCoordinator, member: RecordingCoordinator
) -> None:
    await member.ensure_active_group()
    late: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
    server.script[HeartbeatRequest].append(late)
    await asyncio.sleep(GROUP.heartbeat_interval_s + 0.1)
    assert len(server.asked(HeartbeatRequest)) == 1
    member.request_rejoin("while the heartbeat waits")
    await member.ensure_active_group()
    late.set_result(heartbeat(ErrorCode.UNKNOWN_MEMBER_ID))
    await asyncio.sleep(1)

    assert member.generation_if_stable == Generation(2, "member-1", "first")
    assert "on_lost" not in member.names()


@in_virtual_time()
async def test_a_sync_says_which_protocol_it_is_for(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    """KIP-559."""
    await member.ensure_active_group()

    [sync] = server.asked(SyncGroupRequest)
    assert (sync.protocol_type, sync.protocol_name) == ("recording", "first")


@in_virtual_time()
async def test_the_coordinator_is_asked_over_the_connection_that_found_it(
    server: ScriptedCoordinator, member: RecordingCoordinator
) -> None:
    """Unless it is a different server."""
    await member.ensure_active_group()

    assert {number for _, number, _ in server.requests} == {1}


@in_virtual_time()
async def test_offsets_are_waited_for_as_long_as_asked(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    await member.ensure_active_group()
    for timeout_s in (2, None):
        server.script[OffsetFetchRequest] += [NEVER] * 100
        server.script[HeartbeatRequest] += [NEVER] * 100
        began_s = asyncio.get_running_loop().time()
        with pytest.raises(TimedOut):
            await member.committed(timeout_s=timeout_s)

        waited_s = asyncio.get_running_loop().time() - began_s
        assert waited_s == pytest.approx(timeout_s or member.connection.api_timeout_s, abs=0.1)


@in_virtual_time()
async def test_a_topic_is_created_with_what_was_asked_for(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    """Nothing is asked about no topics."""
    created = CreateTopicsResponse(topics=[CreatableTopicResult("t", error_code=ErrorCode.TOPIC_ALREADY_EXISTS)])
    server.script[CreateTopicsRequest].append(created)
    assert await member.ensure_topic("t", 3) == 3
    asked = len(server.asked(MetadataRequest))
    assert await member.partition_counts([]) == {}

    [request] = server.asked(CreateTopicsRequest)
    [topic] = request.topics
    assert (topic.name, topic.num_partitions, topic.replication_factor, request.timeout_ms) == ("t", 3, -1, 5000)
    assert len(server.asked(MetadataRequest)) == asked


@in_virtual_time()
async def test_commits_are_tried_again(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    await member.ensure_active_group()
    server.script[OffsetCommitRequest] += [
        lambda request: committed(request, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
        lambda request: committed(request, ErrorCode.NOT_COORDINATOR),
        DISCONNECT,
    ]
    await member.commit({POSITION: 7})

    assert len(server.asked(OffsetCommitRequest)) == 4
    server.script[OffsetCommitRequest] += [lambda request: committed(request, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)] * 1000
    with pytest.raises(TimedOut, match="UNKNOWN_TOPIC_OR_PARTITION"):
        await member.commit({POSITION: 7}, timeout_s=5)


@in_virtual_time()
async def test_a_commit_is_not_repeated_in_a_later_generation(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    """What it commits may be another member's by then."""
    await member.ensure_active_group()
    server.script[OffsetCommitRequest].append(lambda request: committed(request, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
    commit = asyncio.create_task(member.commit({POSITION: 7}))
    await asyncio.sleep(0.01)
    member.request_rejoin("a test")
    await member.ensure_active_group()
    with pytest.raises(RebalanceInProgress):
        await commit

    assert member.generation.generation_id == 2
    assert len(server.asked(OffsetCommitRequest)) == 1


@in_virtual_time()
async def test_a_session_counts_from_when_a_request_was_sent(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    """And a rebalance timeout from the last answer before which none had begun."""
    await member.ensure_active_group()
    await member.wait_for_rejoin(7)
    last = server.times(HeartbeatRequest)[-1]
    assert member.surely_member_until_s == pytest.approx(last + GROUP.session_timeout_s, abs=0.01)
    server.is_down = True
    server.cut()
    await asyncio.sleep(20)

    assert member.surely_member_until_s == pytest.approx(last + GROUP.session_timeout_s, abs=0.01)


def test_old_brokers_are_served() -> None:
    """Those of Kafka 2.0: no ids in advance, no static members, one key per FindCoordinator."""

    @in_virtual_time()
    async def play(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
        server.limit(ApiVersions=2, FindCoordinator=2, JoinGroup=3, SyncGroup=2, Heartbeat=2, LeaveGroup=2)
        server.limit(OffsetCommit=5, OffsetFetch=5, Metadata=6)
        server.needs_member_id = False
        await member.ensure_active_group()
        await member.commit({POSITION: 7})
        assert await member.committed() == {}
        await member.close()

        assert member.events[-2][0] == "on_join_complete"
        assert server.asked(LeaveGroupRequest)[0].member_id == "member-1"
        assert server.asked(ApiVersionsRequest)
        assert server.asked(MetadataRequest)

    play()


@in_virtual_time(STATIC)
async def test_what_a_broker_cannot_do_is_an_error(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    server.limit(JoinGroup=4)

    with pytest.raises(UnsupportedVersion, match="JoinGroup"):
        await member.ensure_active_group()


@in_virtual_time()
async def test_what_was_done_can_be_committed_before_leaving(server: ScriptedCoordinator, member: RecordingCoordinator) -> None:
    """In ``on_leave_prepare``; not after that."""
    await member.ensure_active_group()
    member.on_leave_prepare = lambda: member.commit({POSITION: 7})  # type: ignore[method-assign,assignment]
    await member.close()

    assert len(server.asked(OffsetCommitRequest)) == 1
    with pytest.raises(Closed):
        await member.commit({POSITION: 8})
