"""Target assignments of large share groups, which a child process computes (``modern/background_target.py``)."""

from __future__ import annotations

import pytest

from tests.support.share_beats import ShareBeats, config_of

ALL = [0, 1, 2, 3]


@pytest.fixture
def beats() -> ShareBeats:
    """A topic with four partitions; every target is left to the child."""
    return ShareBeats(config_of(group_share_assignment_inline_max_size="0"), t=4)


def compute(beats: ShareBeats) -> None:
    """Let the timer and then the child run."""
    beats.log.advance(0)
    beats.log.finish_tasks()


def settle(beats: ShareBeats) -> None:
    for _ in range(4):
        compute(beats)
        beats.settle()


def test_until_the_target_is_there_a_member_has_the_old_one(beats: ShareBeats) -> None:
    member = beats.member("m")
    answer = member.join()

    assert (answer.response.member_epoch, answer.response.assignment.topic_partitions) == (1, [])
    assert beats.taken() == ["MemberMetadata", "Metadata", "CurrentMemberAssignment", "StatePartitionMetadata"]
    compute(beats)
    assert beats.taken() == ["TargetAssignmentMember", "TargetAssignmentMetadata"]
    beats.initialize()
    settle(beats)
    assert (member.epoch, member.assigned) == (3, {"t": ALL})


def test_the_group_is_as_if_the_loop_had_computed(beats: ShareBeats) -> None:
    at_once = ShareBeats(config_of(), t=4)
    for each in (beats, at_once):
        for name in ("a", "b", "c"):
            each.member(name).join()
            settle(each)
        each.member("b").leave()
        each.member("b").epoch = -1
        each.member("a").beat()
        settle(each)

    assert {key: target.target for key, target in beats.group.targets.items()} == {
        key: target.target for key, target in at_once.group.targets.items()
    }
    assert {name: member.assigned for name, member in beats.members.items()} == {
        name: member.assigned for name, member in at_once.members.items()
    }
    assert beats.group.assignment_epoch == beats.group.group_epoch == at_once.group.group_epoch


def test_only_initialized_partitions_are_assigned(beats: ShareBeats) -> None:
    """The child is told which they are."""
    beats.member("m").join()
    compute(beats)

    assert beats.group.target("m") == {}
    beats.initialize()
    beats.member("m").beat()
    compute(beats)
    assert list(beats.group.target("m").values()) == [ALL]


def test_small_groups_do_not_wait() -> None:
    """The size is that of the members and partitions, and of the subscriptions if they differ."""
    beats = ShareBeats(config_of(group_share_assignment_inline_max_size="5"), t=4, u=1)
    beats.joined("a")
    assert beats.member("a").assigned == {"t": ALL}

    beats.member("b", "t", "u").join()
    assert "b" not in beats.group.targets
