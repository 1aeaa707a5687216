"""Answers to many members at the end of a phase: no turn of the loop gives more than a few hundred."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from coordinator_server.group.classic import answers
from coordinator_server.group.classic.state import COMPLETING_REBALANCE, STABLE
from coordinator_server.group.shard import GroupShard
from protocol.error_codes import ErrorCode
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.support.configs import config_with
from tests.support.group import FakeReply, GroupLog
from tests.support.members import subscription

MEMBERS = 12
STEP = 5
JOIN_VERSION, SYNC_VERSION = 3, 3


class Joined(NamedTuple):
    """A group whose members have joined, but are not answered yet."""

    log: GroupLog
    replies: list[FakeReply]


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch) -> Joined:
    """The initial delay of a group is over."""
    monkeypatch.setattr(answers, "ANSWERS_PER_STEP", STEP)
    log = GroupLog(config_with(group_initial_rebalance_delay_ms=10))
    protocols = [JoinGroupRequestProtocol("range", subscription("t"))]
    request = JoinGroupRequest("g", 60_000, 60_000, protocol_type="consumer", protocols=protocols)
    replies = [log.run(GroupShard.join_group, request, version=JOIN_VERSION) for _ in range(MEMBERS)]
    log.clock.advance(20)
    for _ in range(2):
        run_timer(log)
    assert not any(reply.is_answered for reply in replies)
    return Joined(log, replies)


def run_timer(log: GroupLog) -> None:
    """One timer that is due: one step."""
    due = log.timer.pop_due(log.clock.now_ms())
    assert due is not None
    due[1]()
    log.clock.advance(10)


def answered(replies: list[FakeReply]) -> int:
    return sum(reply.is_answered for reply in replies)


@pytest.mark.interpreted
def test_a_step_answers_some_members(joined: Joined) -> None:
    """The generation is there at once; each answer says what it would have said then."""
    log, replies = joined
    group = log.shard.groups.classic.find("g")
    assert group is not None
    assert (group.state, group.awaiting_join_count) == (COMPLETING_REBALANCE, 0)
    counts = []
    while answered(replies) < MEMBERS:
        run_timer(log)
        counts.append(answered(replies))

    assert counts == [5, 10, 12]
    assert {reply.response.member_id for reply in replies} == set(group.members)
    assert [len(reply.response.members) for reply in replies] == [MEMBERS] + (MEMBERS - 1) * [0]
    assert {reply.response.generation_id for reply in replies} == {1}


@pytest.mark.interpreted
def test_assignments_go_out_in_steps(joined: Joined) -> None:
    """Those of the moment when they were durable, although a member begins a new rebalance meanwhile."""
    log, replies = joined
    log.advance(0)
    ids = [reply.response.member_id for reply in replies]
    given = [SyncGroupRequestAssignment(each, each.encode()) for each in ids]
    syncs = [
        log.run(GroupShard.sync_group, SyncGroupRequest("g", 1, each, assignments=given), version=SYNC_VERSION)
        for each in reversed(ids)
    ]
    group = log.shard.groups.classic.find("g")
    assert group is not None
    assert (group.state, answered(syncs)) == (STABLE, 0)
    run_timer(log)
    assert answered(syncs) == STEP
    other = [JoinGroupRequestProtocol("range", subscription("u"))]
    request = JoinGroupRequest("g", 60_000, 60_000, ids[0], protocol_type="consumer", protocols=other)
    log.run(GroupShard.join_group, request, version=JOIN_VERSION)
    log.advance(0)

    assert sorted(reply.response.assignment.decode() for reply in syncs) == sorted(ids)
    assert {reply.response.error_code for reply in syncs} == {ErrorCode.NONE}


@pytest.mark.interpreted
def test_who_waits_for_its_assignment_joins_again_in_steps(joined: Joined) -> None:
    """A member with a new subscription ends the sync phase of the others."""
    log, replies = joined
    log.advance(0)
    ids = [reply.response.member_id for reply in replies]
    syncs = [log.run(GroupShard.sync_group, SyncGroupRequest("g", 1, each), version=SYNC_VERSION) for each in ids[1:]]
    other = [JoinGroupRequestProtocol("range", subscription("u"))]
    request = JoinGroupRequest("g", 60_000, 60_000, ids[0], protocol_type="consumer", protocols=other)
    log.run(GroupShard.join_group, request, version=JOIN_VERSION)

    assert answered(syncs) == 0
    run_timer(log)
    assert answered(syncs) == STEP
    log.advance(0)
    assert {reply.response.error_code for reply in syncs} == {ErrorCode.REBALANCE_IN_PROGRESS}


@pytest.mark.interpreted
def test_an_unload_gives_those_that_are_left(joined: Joined) -> None:
    """A timer would not run any more. Another group waits for nothing."""
    log, replies = joined
    run_timer(log)
    log.shard.on_unloaded()

    assert answered(replies) == MEMBERS
    assert ("answers",) not in log.timer.keys
