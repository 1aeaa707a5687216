"""Terms of leadership beside a coordinator that answers as it is told, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from coordinator_server.client import Election, ElectionSettings, MembershipLost, Term
from protocol.error_codes import ErrorCode
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from tests.support.recording_coordinator import SETTINGS
from tests.support.scripted_coordinator import DISCONNECT, NEVER, ScriptedCoordinator, committed, heartbeat
from tests.support.virtual_time import run_virtual

SESSION_S = 10
Body = Callable[[ScriptedCoordinator, Term], Coroutine[Any, Any, None]]


def play(body: Body) -> None:
    """Run a test with the first term of the only candidate."""

    async def main() -> None:
        server = ScriptedCoordinator()
        server.topics = {"coordination": 2}
        settings = ElectionSettings("e", candidate="one", session_timeout_s=SESSION_S, heartbeat_interval_s=1)
        async with Election(SETTINGS, settings, environment=server.environment) as election:
            async for term in election:
                await body(server, term)
                break
            else:
                pytest.fail("there was no term")

    run_virtual(main())


def test_a_save_that_is_not_answered_ends_with_the_term() -> None:
    """Nobody knows whether the text is kept. What the caller hears is that it does not lead any more."""

    async def body(server: ScriptedCoordinator, term: Term) -> None:
        server.script[OffsetCommitRequest] += [NEVER] * 100
        server.script[HeartbeatRequest] += [NEVER] * 100
        with pytest.raises(MembershipLost):
            await term.save("text")

        assert not term.is_current
        assert term.saved == ""

    play(body)


@pytest.mark.parametrize("trouble", [DISCONNECT, ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.NOT_COORDINATOR])
def test_a_save_is_tried_again_during_the_term(trouble: str | ErrorCode) -> None:
    async def body(server: ScriptedCoordinator, term: Term) -> None:
        answer = trouble if isinstance(trouble, str) else lambda request: committed(request, trouble)
        server.script[OffsetCommitRequest].append(answer)
        await term.save("text")

        [topic] = server.asked(OffsetCommitRequest)[-1].topics
        [partition] = topic.partitions
        assert (partition.committed_offset, partition.committed_metadata) == (term.token, "text")
        assert term.saved == "text"

    play(body)


def test_who_does_not_lead_any_more_saves_nothing() -> None:
    async def body(server: ScriptedCoordinator, term: Term) -> None:
        commits = len(server.asked(OffsetCommitRequest))
        term.end()
        with pytest.raises(MembershipLost):
            await term.save("text")

        assert len(server.asked(OffsetCommitRequest)) == commits

    play(body)


def test_a_candidate_without_an_assignment_does_not_lead() -> None:
    """The group's leader did not know of it."""

    async def main() -> None:
        server = ScriptedCoordinator()
        server.topics = {"coordination": 2}
        server.script[SyncGroupRequest].append(SyncGroupResponse(assignment=b""))
        settings = ElectionSettings("e", session_timeout_s=SESSION_S, heartbeat_interval_s=1)
        async with Election(SETTINGS, settings, environment=server.environment) as election:
            await asyncio.sleep(0.5)
            assert (election.term, election.leader) == (None, None)
            server.script[HeartbeatRequest].append(heartbeat(ErrorCode.REBALANCE_IN_PROGRESS))
            assert (await anext(aiter(election))).is_current

    run_virtual(main())


def test_each_term_of_an_election_is_reported_once() -> None:
    """A candidate that was removed waits for its next term."""

    async def main() -> None:
        server = ScriptedCoordinator()
        server.topics = {"coordination": 2}
        settings = ElectionSettings("e", session_timeout_s=SESSION_S, heartbeat_interval_s=1)
        terms: list[Term] = []
        async with Election(SETTINGS, settings, environment=server.environment) as election:
            async for term in election:
                terms.append(term)
                if len(terms) == 3:
                    break
                server.script[HeartbeatRequest].append(heartbeat(ErrorCode.UNKNOWN_MEMBER_ID))
                async with term:
                    await asyncio.sleep(60)
                assert not term.is_current
                assert election.leader is None

        assert len({id(term) for term in terms}) == 3
        assert asyncio.get_running_loop().time() < 5

    run_virtual(main())
