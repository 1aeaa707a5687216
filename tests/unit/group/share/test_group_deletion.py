"""Share groups that are deleted: their states first, then the groups, unless somebody uses them meanwhile."""

from __future__ import annotations

import pytest

from protocol.error_codes import ErrorCode
from tests.support.group import FakeReply
from tests.support.share_offsets import ShareWorld

OK, NOT_EMPTY = ErrorCode.NONE, ErrorCode.NON_EMPTY_GROUP


@pytest.fixture
def world() -> ShareWorld:
    return ShareWorld(t=2, u=1)


def results(reply: FakeReply) -> dict[str, int]:
    return {each.group_id: each.error_code for each in reply.response}


def test_the_tombstones_follow_when_all_states_are_gone(world: ShareWorld) -> None:
    for name in ("g", "h"):
        world.alter(name, t={0: 5, 1: 6})
    world.work()
    world.taken()
    world.delete_groups("g", "h")
    assert world.taken() == ["StatePartitionMetadata"] * 2
    assert not world.log.shard.groups.share.by_id["g"].state_topics.value.initialized

    world.log.deliver(world.keep)
    assert world.taken() == []
    world.log.advance(0)
    assert {name.removeprefix("-") for name in world.taken()} == {
        "TargetAssignmentMetadata",
        "StatePartitionMetadata",
        "Metadata",
    }
    assert not world.log.shard.groups.share.by_id


def test_a_group_whose_states_are_left_stays(world: ShareWorld) -> None:
    for name, partition in (("g", 0), ("h", 1)):
        world.alter(name, t={partition: 5})
    world.work()
    world.refused[1] = ErrorCode.UNKNOWN_SERVER_ERROR
    reply = world.delete_groups("g", "h")
    world.work()

    assert results(reply) == {"g": OK, "h": ErrorCode.UNKNOWN_SERVER_ERROR}
    assert list(world.log.shard.groups.share.by_id) == ["h"]
    world.refused.clear()
    again = world.delete_groups("h")
    world.work()
    assert results(again) == {"h": OK}
    world.assert_settled()


def test_a_group_that_gets_a_member_meanwhile_stays(world: ShareWorld) -> None:
    """Its states are gone, and come back."""
    world.alter(t={0: 5, 1: 5})
    world.work()
    reply = world.delete_groups("g")
    world.member("m").join()
    world.work()
    world.settle()

    assert results(reply) == {"g": NOT_EMPTY}
    assert world.member("m").assigned == {"t": [0, 1]}


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_group_whose_offsets_are_set_meanwhile_stays(world: ShareWorld, rounds: int) -> None:
    """Somebody asks for it before the states are asked to go. Whether or not that is done before the group would go: what was to
    be deleted is over, and no state is left behind.
    """
    world.alter(t={0: 5})
    world.work()
    world.log.is_holding = True
    reply = world.delete_groups("g")
    altered_meanwhile = world.alter(u={0: 8})
    world.log.is_holding = False
    world.log.flush()
    for _ in range(rounds):
        world.log.deliver(world.keep)
    world.log.advance(0)
    assert results(reply) == {"g": ErrorCode.COORDINATOR_LOAD_IN_PROGRESS}

    world.work()

    assert altered_meanwhile.is_answered
    assert world.starts() == {"u": {0: 8}}
    world.assert_settled()


def test_tombstones_that_the_log_refuses_end_the_deletion(world: ShareWorld) -> None:
    """The states are gone, and the group stays as one that has none."""
    world.alter(t={0: 5, 1: 6})
    world.work()
    reply = world.delete_groups("g")
    world.log.deliver(world.keep)
    world.log.is_holding = True
    world.log.advance(0)
    world.log.fail(ErrorCode.KAFKA_STORAGE_ERROR)
    world.log.is_holding = False
    assert (reply.error, list(world.log.shard.groups.share.by_id)) == (ErrorCode.KAFKA_STORAGE_ERROR, ["g"])

    world.work()

    world.assert_settled()
    again = world.delete_groups("g")
    world.work()
    assert results(again) == {"g": OK}


def test_a_group_that_is_to_go_again_after_its_tombstones_were_refused_is_left_to_that(world: ShareWorld) -> None:
    """What is deleting now is the intent of the second request."""
    world.alter(t={0: 5})
    world.work()
    world.delete_groups("g")
    world.log.deliver(world.keep)
    world.log.is_holding = True
    world.log.advance(0)
    world.log.fail(ErrorCode.KAFKA_STORAGE_ERROR)
    world.log.is_holding = False
    again = world.delete_groups("g")
    group = world.log.shard.groups.share.by_id["g"]
    world.log.advance(0)
    assert group.state_topics.value.deleting

    world.work()

    assert results(again) == {"g": OK}
    world.assert_settled()


def test_a_group_without_states_keeps_nothing_that_is_about_to_go(world: ShareWorld) -> None:
    """An administrator has set offsets of partitions that do not exist, and nothing else. Its tombstones are refused."""
    world.alter(t={7: 5})
    world.work()
    world.delete_groups("g")
    world.log.is_holding = True
    world.log.advance(0)
    world.log.fail(ErrorCode.KAFKA_STORAGE_ERROR)
    world.log.is_holding = False

    world.work()

    world.assert_settled()
    again = world.delete_groups("g")
    world.work()
    assert results(again) == {"g": OK}
