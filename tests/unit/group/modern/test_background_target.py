"""Target assignments that a child process computes: what holds for the groups of every type of the kernel.

``unit/group/consumer`` and ``unit/group/share`` have what only their groups can do.
"""

from __future__ import annotations

import pytest

from protocol.error_codes import ErrorCode
from tests.support import heartbeats, share_beats, streams_beats

AnyBeats = heartbeats.Beats | share_beats.ShareBeats | streams_beats.StreamsBeats


@pytest.fixture(params=["consumer", "share", "streams"])
def beats(request: pytest.FixtureRequest) -> AnyBeats:
    """A topic with four partitions; every target is left to the child."""
    if request.param == "consumer":
        return heartbeats.Beats(heartbeats.config_of(group_consumer_assignment_inline_max_size="0"), t=4)
    if request.param == "streams":
        return streams_beats.StreamsBeats(streams_beats.config_of(group_streams_assignment_inline_max_size="0"), t=4)
    return share_beats.ShareBeats(share_beats.config_of(group_share_assignment_inline_max_size="0"), t=4)


def test_a_member_that_has_left_gets_no_target(beats: AnyBeats) -> None:
    beats.member("a").join()
    beats.member("b").join()
    beats.log.advance(0)
    beats.member("b").leave()
    beats.log.finish_tasks()

    assert list(beats.group.targets) == ["a"]


def test_a_result_is_written_once(beats: AnyBeats) -> None:
    beats.member("m").join()
    beats.log.advance(0)
    operations = beats.log.executor.computed()
    beats.log.finish_tasks(operations)
    beats.taken()
    beats.log.finish_tasks(operations)

    assert beats.taken() == []


def test_after_a_restart_the_next_heartbeat_begins_again(beats: AnyBeats) -> None:
    beats.member("m").join()
    beats.log.advance(0)
    beats.log.restart()
    beats.member("m").beat()
    beats.log.advance(0)
    beats.log.finish_tasks()

    assert list(beats.group.targets) == ["m"]


def test_a_task_that_fails_is_an_error_for_a_member_without_a_target(beats: AnyBeats) -> None:
    beats.member("m").join()
    beats.log.advance(0)
    beats.log.finish_tasks(beats.log.executor.failed())

    refused = beats.member("m").beat()
    assert refused.error is ErrorCode.UNKNOWN_SERVER_ERROR
    assert refused.message == "Failed to compute a new target assignment for epoch 2: the assignor failed"
    assert beats.log.reports == ["target-refused"]


def test_a_heartbeat_that_was_not_written_starts_no_task(beats: AnyBeats) -> None:
    beats.log.is_holding = True
    beats.member("m").join()
    beats.log.fail()
    beats.log.is_holding = False
    beats.log.advance(0)

    assert beats.log.executor.computed() == []
