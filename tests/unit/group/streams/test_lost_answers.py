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


def test_a_member_that_gives_tasks_up_is_told_them_once(beats: StreamsBeats) -> None:
    """Until it has given them up it says that it has more than it was given."""
    [first] = beats.joined("a")
    beats.member("b").join()
    before = first.active
    told = first.beat().response.active_tasks

    first.active = before
    assert told is not None
    assert first.beat_with_tasks().response.active_tasks is None
