"""How large a target assignment is, which decides whether a child process computes it."""

from __future__ import annotations

import pytest

from coordinator_server.group.streams.status import ASSIGNMENT_DELAYED
from tests.support.streams_beats import StreamsBeats, config_of, topology


@pytest.mark.parametrize(("stores", "is_left_to_child"), [((), False), (("log",), True)])
def test_replicas_of_tasks_with_state_count(stores: tuple[str, ...], is_left_to_child: bool) -> None:
    """Five tasks and a member, and five replicas if the tasks have state."""
    size = {"group_streams_assignment_inline_max_size": "6"}
    beats = StreamsBeats(config_of(group_streams_num_standby_replicas="1", **size), t=5, log=5)
    beats.topology = topology(0, "t", stores=stores)
    member = beats.member("a")

    member.join()

    assert (ASSIGNMENT_DELAYED in member.status) is is_left_to_child
    assert bool(member.active) is not is_left_to_child


@pytest.mark.parametrize(("limit", "is_left_to_child"), [("7", False), ("6", True)])
def test_each_member_counts(limit: str, is_left_to_child: bool) -> None:
    """Two of them have five tasks when a third one joins."""
    beats = StreamsBeats(config_of(group_streams_assignment_inline_max_size=limit), t=5)
    beats.joined("a")
    beats.member("b").join()

    third = beats.member("c")
    third.join()

    assert (ASSIGNMENT_DELAYED in third.status) is is_left_to_child
