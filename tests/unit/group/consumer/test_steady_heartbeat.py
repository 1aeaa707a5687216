"""The short way of heartbeats that change nothing: everything that may change leads off it.

``GroupLog`` tries it before each request, and compares.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.shard import RequestContext
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from tests.support.group import FakeReply
from tests.support.heartbeats import Beating, Beats


def steady() -> tuple[Beats, Beating]:
    """A member whose last heartbeat changed nothing."""
    beats = Beats(t=3)
    member = beats.member("a")
    member.join()
    member.beat()
    member.beat()
    assert beats.log.was_repeat
    beats.taken()
    return beats, member


CHANGES: dict[str, tuple[Callable[[Beats, Beating], object], list[str]]] = {
    "topics": (
        lambda beats, _: beats.log.topics.extend("t", 4),
        ["Metadata", "TargetAssignmentMember", "TargetAssignmentMetadata", "CurrentMemberAssignment"],
    ),
    "another member": (lambda beats, _: (beats.member("b").join(), beats.taken()), ["CurrentMemberAssignment"]),
    "a request that says more": (lambda _, member: member.beat(rack_id="r"), ["MemberMetadata"]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_noticed(change: str) -> None:
    """By the first heartbeat after it."""
    beats, member = steady()
    do, expected = CHANGES[change]
    do(beats, member)

    member.beat()

    assert not beats.log.was_repeat
    assert beats.taken() == expected


def test_a_failed_write_leaves_the_last_heartbeat_answer_valid() -> None:
    """The group is again the one of the last answer, and so is the next answer."""
    beats, member = steady()
    beats.log.is_holding = True
    beats.member("b").join()
    beats.log.fail()
    beats.log.is_holding = False
    beats.taken()

    assert member.beat().response.member_epoch == 2
    assert beats.taken() == []


def test_an_answer_that_waits_for_the_log_is_no_repeat() -> None:
    """It depends on a record of the group that is not durable."""
    beats, member = steady()
    beats.log.is_holding = True
    beats.member("b").join()

    member.beat()
    assert not beats.log.was_repeat


def test_a_static_member_is_steady_until_it_is_replaced() -> None:
    """It says which instance it is each time."""
    beats = Beats(t=3)
    member = beats.member("a", instance_id="i")
    member.join()
    replies = [member.beat() for _ in range(2)]
    assert beats.log.was_repeat
    member.leave(-2)
    beats.member("b", instance_id="i").join()

    assert [reply.error for reply in replies] == [None, None]
    assert member.beat(epoch=2).error is ErrorCode.FENCED_INSTANCE_ID
    assert not beats.log.was_repeat


def test_a_group_with_a_regular_expression_is_never_steady() -> None:
    """Its topics may have to be found again."""
    beats = Beats(t=3)
    member = beats.member("a", subscribed_topic_names=None, subscribed_topic_regex="t.*")
    member.join()
    for _ in range(4):
        beats.log.advance(1000)
        member.beat()

    assert not beats.log.was_repeat


def test_a_heartbeat_of_a_new_connection_is_checked_once() -> None:
    """A client id is a part of the member's record."""
    beats, member = steady()
    request = ConsumerGroupHeartbeatRequest("g", "a", member.epoch)

    beats.log.run(GroupShard.consumer_group_heartbeat, request, version=1, client_id="other")
    assert beats.taken() == ["MemberMetadata"]
    beats.log.run(GroupShard.consumer_group_heartbeat, request, version=1, client_id="other")
    assert (beats.taken(), beats.log.was_repeat) == ([], False)
    beats.log.run(GroupShard.consumer_group_heartbeat, request, version=1, client_id="other")
    assert beats.log.was_repeat


def test_a_new_heartbeat_interval_is_told() -> None:
    beats, member = steady()
    beats.log.own_settings["g"] = {"consumer.heartbeat.interval.ms": "7000"}

    assert member.beat().response.heartbeat_interval_ms == 7000
    assert not beats.log.was_repeat


def test_a_member_that_left_is_not_steady() -> None:
    """Nor is a wrong epoch, or one without its instance."""
    beats, member = steady()
    assert member.beat(epoch=1).error is ErrorCode.FENCED_MEMBER_EPOCH
    assert member.beat(instance_id="i").error is ErrorCode.UNKNOWN_MEMBER_ID
    member.leave()

    assert beats.member("a").beat(epoch=2).error is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_repeated_heartbeat_keeps_the_session() -> None:
    """The short way alone does."""
    beats, member = steady()
    context, request = RequestContext("client", "127.0.0.1", 68, 1), ConsumerGroupHeartbeatRequest("g", "a", member.epoch)
    again = beats.log.shard.consumer_group_heartbeat(context, request, FakeReply(1)).again
    assert again is not None
    for _ in range(5):
        beats.log.advance(44_999)
        assert again(beats.log.committed_offset)
    beats.log.advance(45_000)

    assert not beats.log.shard.groups.consumer.by_id["g"].members
    assert not again(beats.log.committed_offset)
