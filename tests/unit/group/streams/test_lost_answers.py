"""Tasks that were given with an answer that did not arrive are given again. Kafka's are not."""

from __future__ import annotations

import pytest

from protocol.messages.streams_group_heartbeat import TaskIds
from tests.support.streams_beats import StreamsBeats


@pytest.fixture
def beats() -> StreamsBeats:
    return StreamsBeats(t=4)


def test_a_lost_answer_is_given_again(beats: StreamsBeats) -> None:
    """To a member of the epoch before, and to one that says that it has other tasks. Who says nothing is told nothing."""
    first, _ = beats.joined("a", "b")
    epoch, owned = first.epoch, first.active

    assert first.beat_with_tasks(epoch=epoch - 1).response.active_tasks == [TaskIds("0", owned["0"])]
    assert first.beat_with_tasks().response.active_tasks is None
    assert first.beat().response.active_tasks is None
    first.active = {"0": owned["0"][:1]}
    assert first.beat_with_tasks().response.active_tasks == [TaskIds("0", owned["0"])]
    assert first.active == owned


def test_a_member_that_is_to_give_tasks_up_is_told_again(beats: StreamsBeats) -> None:
    """If it says that it has all of them still. One that has begun to give them up has heard of it."""
    [first] = beats.joined("a")
    before = first.active
    beats.member("b").join()
    told = first.beat().response.active_tasks
    kept = first.active

    assert told == [TaskIds("0", kept["0"])]
    first.active = before
    assert first.beat_with_tasks().response.active_tasks == told
    first.active = {"0": before["0"][:-1]}
    assert first.beat_with_tasks().response.active_tasks is None
