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


@pytest.mark.parametrize("has", [[], [0, 1], [0, 1, 2], [0, 1, 2, 3]])
def test_a_member_that_is_to_give_tasks_up_is_told_again(beats: StreamsBeats, has: list[int]) -> None:
    """Whatever it says it has: it may have been given the others, and begin with them if it does not hear that it lost them."""
    [first] = beats.joined("a")
    beats.member("b").join()
    told = first.beat().response.active_tasks

    assert told == [TaskIds("0", [0, 1])]
    first.active = {"0": has}
    assert first.beat_with_tasks().response.active_tasks == told
    # It has given them up by then, and is heard.
    first.beat_with_tasks()
    assert first.beat_with_tasks().response.active_tasks is None
