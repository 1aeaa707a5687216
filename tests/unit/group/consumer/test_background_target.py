"""Target assignments of large groups, which a child process computes while heartbeats go on."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import pytest

from coordinator_server.group.modern.reconciling_group import GroupState
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.machine.timeline import TimelineDict
from protocol.coordinator_records import GROUP_SERDE
from protocol.error_codes import ErrorCode
from tests.support.heartbeats import Beats, config_of

IN_BACKGROUND = {"group_consumer_assignment_inline_max_size": "0"}


@pytest.fixture
def beats() -> Beats:
    """A topic with four partitions; every target is left to the child."""
    return Beats(config_of(**IN_BACKGROUND), t=4)


def compute(beats: Beats) -> None:
    """Let the timer and then the child run."""
    beats.log.advance(0)
    beats.log.finish_tasks()


def owners(beats: Beats) -> dict[str, list[int]]:
    return {name: member.assigned.get("t", []) for name, member in beats.members.items()}


def test_until_the_target_is_there_a_member_has_the_old_one(beats: Beats) -> None:
    member = beats.member("m")
    answer = member.join()

    assert (answer.response.member_epoch, answer.response.assignment.topic_partitions) == (1, [])
    assert beats.taken() == ["MemberMetadata", "Metadata", "CurrentMemberAssignment"]
    assert beats.group.state_at() == GroupState.ASSIGNING
    compute(beats)
    assert beats.taken() == ["TargetAssignmentMember", "TargetAssignmentMetadata"]
    member.beat()
    assert (member.epoch, member.assigned) == (2, {"t": [0, 1, 2, 3]})
    assert beats.settle() == 0


def test_a_target_of_very_many_topics_is_decoded_before_its_member_asks() -> None:
    """In a turn for each such member, which lets others in between; small ones are left to the heartbeat."""
    names = [f"t{number:04}" for number in range(1_500)]
    beats = Beats(config_of(**IN_BACKGROUND), **dict.fromkeys(names, 2))
    for name, topics in (("a", names), ("b", names), ("c", names[:1])):
        beats.member(name, subscribed_topic_names=topics).join()
    compute(beats)

    def encoded() -> list[str]:
        """Return the members whose targets are records still."""
        return [name for name in ("a", "b", "c") if isinstance(beats.group.targets[name].portable, tuple)]

    told = [encoded()]
    while (due := beats.log.timer.pop_due(beats.log.clock.now_ms())) is not None:
        assert not due[1]().records
        told.append(encoded())
    assert [len(each) for each in told] == [3, 2, 1]
    assert told[-1] == ["c"]
    assert beats.settle() > 0


def test_the_group_is_as_if_the_loop_had_computed(beats: Beats) -> None:
    at_once = Beats(config_of(), t=4)
    for each in (beats, at_once):
        for name in ("a", "b", "c"):
            each.member(name).join()
            compute(each)
            each.settle()
        each.member("b").leave()
        each.member("a").beat()
        compute(each)
        each.settle()

    assert owners(beats) == owners(at_once)
    assert {key: target.target for key, target in beats.group.targets.items()} == {
        key: target.target for key, target in at_once.group.targets.items()
    }
    assert beats.group.assignment_epoch == at_once.group.assignment_epoch


@pytest.mark.interpreted
def test_the_loop_leaves_to_the_child_what_takes_time(beats: Beats, monkeypatch: pytest.MonkeyPatch) -> None:
    """It neither decodes the last targets nor sorts the members, and replays all targets at once."""
    puts: list[int] = []
    hashed: list[str] = []

    def put_all(container: TimelineDict[Any, Any], items: dict[Any, Any]) -> None:
        puts.append(len(items))
        real(container, items)

    def hash_text(text: str) -> int:
        hashed.append(text)
        return 0

    def fail(*_: object) -> None:
        raise AssertionError("this takes the loop's time")

    names = [f"m-{number}" for number in range(40)]
    for each in names:
        beats.member(each).join()
    beats.log.advance(0)
    operations = beats.log.executor.computed()
    real = TimelineDict.put_all
    with monkeypatch.context() as patch:
        patch.setattr(TimelineDict, "put_all", put_all)
        beats.log.finish_tasks(operations)
    beats.member("last").join()
    with monkeypatch.context() as patch:
        patch.setattr("coordinator_server.group.assign.order.text_hash", hash_text)
        patch.setattr(type(GROUP_SERDE), "decode", fail)
        beats.log.advance(0)
    beats.log.finish_tasks()

    assert (puts, hashed) == ([40], [])
    assert sorted(beats.group.targets) == sorted([*names, "last"])


def test_a_group_has_one_target_computation_at_a_time(beats: Beats) -> None:
    """Who joins while one runs is in the next target."""
    beats.member("a").join()
    beats.log.advance(0)
    beats.member("b").join()
    beats.log.finish_tasks()
    beats.taken()

    assert list(beats.group.targets) == ["a"]
    assert (beats.group.assignment_epoch, beats.group.group_epoch) == (2, 3)
    beats.member("b").beat()
    compute(beats)
    assert list(beats.group.targets) == ["a", "b"]
    beats.settle()
    assert sorted(chain.from_iterable(owners(beats).values())) == [0, 1, 2, 3]


def test_a_static_member_that_came_back_inherits_and_the_result_is_discarded(beats: Beats) -> None:
    """Else one partition would be in two targets: in the inherited one, and in a new one."""
    beats.member("old", instance_id="i").join()
    compute(beats)
    beats.settle()
    beats.member("b").join()
    beats.log.advance(0)
    beats.member("old").leave(-2)
    beats.member("new", instance_id="i").join()
    beats.taken()
    beats.log.finish_tasks()

    assert beats.taken() == []
    beats.member("b").beat()
    compute(beats)
    given = [each for target in beats.group.targets.values() for numbers in target.target.values() for each in numbers]
    assert sorted(given) == [0, 1, 2, 3]


def test_so_it_is_if_the_group_has_a_new_epoch_by_then(beats: Beats) -> None:
    beats.member("old", instance_id="i").join()
    compute(beats)
    beats.settle()
    beats.member("b").join()
    beats.log.advance(0)
    beats.member("old").leave(-2)
    beats.member("new", instance_id="i").join()
    beats.member("c").join()
    beats.taken()
    beats.log.finish_tasks()

    assert beats.taken() == []


def test_a_result_for_state_that_was_reverted_is_discarded(beats: Beats) -> None:
    """Also if the group has the same epoch again: it is a different one."""
    beats.log.topics.create(u=4)
    beats.member("m").join()
    compute(beats)
    beats.settle()
    beats.log.is_holding = True
    beats.member("m").beat(subscribed_topic_names=["u"])
    beats.log.advance(0)
    beats.log.fail()
    beats.log.is_holding = False
    beats.member("m").beat(subscribed_topic_names=["t", "u"])
    assert beats.group.group_epoch == 3
    beats.taken()
    beats.log.finish_tasks()

    assert beats.taken() == []


def test_a_result_for_a_group_that_was_deleted_is_discarded(beats: Beats) -> None:
    """Also if there is another one of that name, with the same members and epoch."""
    beats.member("m").join()
    beats.log.advance(0)
    operations = beats.log.executor.computed()
    beats.log.executor.clear()
    beats.member("m").leave()
    beats.log.run(GroupShard.delete_groups, ["g"], version=2)
    beats.member("m").join()
    beats.taken()
    beats.log.finish_tasks(operations)

    assert beats.taken() == []


def test_a_target_that_is_too_large_is_refused_to_who_has_none(beats: Beats) -> None:
    """Members that have a target keep it and hear nothing of it. A new epoch is tried again."""
    beats.member("a").join()
    compute(beats)
    beats.settle()
    beats.log.topics.create(t=8)
    beats.member("b").join()
    beats.log.advance(0)
    operations = beats.log.executor.computed()
    beats.taken()
    refuse_appends(beats, operations)

    refused = beats.member("b").beat()
    assert refused.error is ErrorCode.UNKNOWN_SERVER_ERROR
    assert refused.message == "The target assignment for epoch 3 of 2 members is larger than message.max.bytes (1048588)."
    assert beats.log.reports == ["target-refused"]
    kept = beats.member("a").beat()
    assert kept.response.member_epoch == 2
    assert beats.taken() == []
    beats.member("b").leave()
    beats.member("a").beat()
    compute(beats)
    assert beats.group.assignment_epoch == beats.group.group_epoch


def refuse_appends(beats: Beats, operations: list[Callable[[], CoordinatorResult[Any]]]) -> None:
    """The runtime refuses the records of these operations: they do not fit into a batch."""
    beats.log.executor.clear()
    for operation in operations:
        result = operation()
        assert result.records
        assert result.on_append is not None
        result.on_append(ErrorCode.MESSAGE_TOO_LARGE)


def test_small_groups_do_not_wait() -> None:
    beats = Beats(config_of(group_consumer_assignment_inline_max_size="5"), t=4, u=1)
    beats.member("a").join()
    assert beats.member("a").epoch == 2

    beats.member("b", subscribed_topic_names=["t", "u"]).join()
    assert beats.member("b").epoch == 2
    assert list(beats.group.targets) == ["a"]
