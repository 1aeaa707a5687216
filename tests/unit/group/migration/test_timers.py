"""The timers of classic members of consumer groups follow what is written: a member that is in time stays, whatever was not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from protocol.error_codes import ErrorCode
from tests.support.classic_members import ClassicMember
from tests.support.heartbeats import Beats, config_of

REBALANCE_MS = 5000
SESSION_MS = 10_000


def mixed(beats: Beats) -> ClassicMember:
    """A classic member that has synced, in a group with a native one."""
    beats.member("m").join()
    member = ClassicMember(beats, rebalance_timeout_ms=REBALANCE_MS, session_timeout_ms=SESSION_MS)
    member.join()
    assert member.sync().error is None
    assert member.heartbeat() is ErrorCode.NONE
    return member


def lose_a_change(beats: Beats, member: ClassicMember) -> None:
    """The member is to be told to join for a change that is not written, nor is it told so."""
    beats.log.is_holding = True
    beats.member("n").join()
    answer = member.ask_to_live()
    assert not answer.is_answered
    beats.log.fail()
    beats.log.is_holding = False
    assert answer.error is ErrorCode.NOT_COORDINATOR


def test_nobody_has_to_join_for_a_change_that_is_not_written() -> None:
    """Though its next heartbeat comes after the time in which it would have had to."""
    beats = Beats(t=2)
    member = mixed(beats)
    lose_a_change(beats, member)

    beats.log.advance(REBALANCE_MS)

    assert member.heartbeat() is ErrorCode.NONE


def test_the_next_change_gives_the_whole_time() -> None:
    beats = Beats(t=2)
    member = mixed(beats)
    lose_a_change(beats, member)
    beats.log.advance(REBALANCE_MS - 1)
    beats.member("n").join()
    assert member.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS

    beats.log.advance(REBALANCE_MS - 1)

    assert member.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS
    beats.log.advance(1)
    assert member.heartbeat() is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_join_that_is_not_written_asks_for_no_sync() -> None:
    """The member is in the generation before, and may live on in it."""
    beats = Beats(t=2)
    member = mixed(beats)
    beats.log.is_holding = True
    reply = member.ask_to_join(session_timeout_ms=SESSION_MS + 1)
    beats.log.fail()
    beats.log.is_holding = False
    assert reply.error is ErrorCode.NOT_COORDINATOR
    assert member.heartbeat() is ErrorCode.NONE

    beats.log.advance(REBALANCE_MS)

    assert member.heartbeat() is ErrorCode.NONE


def test_a_member_that_need_not_join_any_more_may_stay() -> None:
    """It has not heard that it should. After a load a join compares the topics of a group without native members: one is enough."""
    beats = Beats(config_of(group_consumer_migration_policy="upgrade"), t=2)
    members = [mixed(beats), mixed(beats)]
    beats.members["m"].leave()
    while any(member.follow() for member in members):
        pass
    beats.log.restart()
    assert [member.heartbeat() for member in members] == [ErrorCode.REBALANCE_IN_PROGRESS] * 2
    members[0].join()
    members[0].sync()
    assert members[1].heartbeat() is ErrorCode.NONE

    beats.log.advance(REBALANCE_MS)

    assert members[1].heartbeat() is ErrorCode.NONE


def test_a_session_begins_anew_with_the_members_own_time() -> None:
    """After a load, and after a change that was not written. Kafka takes the group's after a load."""
    beats = Beats(config_of(group_consumer_session_timeout_ms="60000"), t=2)
    member = mixed(beats)
    for begin_anew in (beats.log.restart, lambda: lose_a_change(beats, member)):
        begin_anew()
        beats.log.advance(SESSION_MS - 1)
        assert member.heartbeat() is ErrorCode.NONE

    lose_a_change(beats, member)
    beats.log.advance(SESSION_MS)

    assert list(beats.group.members) == ["m"]


def lose(beats: Beats, *changes: Callable[[], object]) -> None:
    """Each is made on top of the one before, and none of them is written."""
    beats.log.is_holding = True
    for change in changes:
        change()
    beats.log.fail()
    beats.log.is_holding = False


def session_timers(beats: Beats, member: ClassicMember) -> set[str]:
    """The names of the session timers that run for a member."""
    return {key[0] for key in beats.log.timer.keys if isinstance(key, tuple) and key[-1] == member.member_id}


@pytest.mark.parametrize("conversions", [1, 2, 3, 4])
def test_sessions_go_on_in_the_consumer_group_when_conversions_are_not_written(conversions: int) -> None:
    """To a classic group, back to a consumer group, and so on: the member leaves, which joins again."""
    beats = Beats(t=2)
    member = mixed(beats)
    changes = [beats.members["m"].leave if number % 2 == 0 else beats.member("m").join for number in range(conversions)]
    lose(beats, *changes)

    assert session_timers(beats, member) == {"consumer-session"}
    beats.log.advance(SESSION_MS)
    assert member.member_id not in beats.group.members


@pytest.mark.parametrize("conversions", [1, 2, 3, 4])
def test_sessions_go_on_in_the_classic_group_when_conversions_are_not_written(conversions: int) -> None:
    beats = Beats(t=2)
    member = mixed(beats)
    beats.members["m"].leave()
    member.join()
    assert member.sync().error is None
    changes = [beats.member("m").join if number % 2 == 0 else beats.member("m").leave for number in range(conversions)]
    lose(beats, *changes)

    assert session_timers(beats, member) == {"session"}
    assert member.heartbeat() is ErrorCode.NONE
    beats.log.advance(SESSION_MS)
    assert member.heartbeat() is ErrorCode.UNKNOWN_MEMBER_ID
