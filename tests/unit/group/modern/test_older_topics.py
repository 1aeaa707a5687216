"""A loop that takes a shard over may know older topics than those that the groups' records were made from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coordinator_server.group.shard import GroupShard
from protocol.error_codes import ErrorCode
from tests.support import heartbeats, share_beats, streams_beats
from tests.support.classic_members import ClassicMember, assignment
from tests.support.heartbeats import Beats
from tests.support.share_beats import ShareBeats
from tests.support.streams_beats import StreamsBeats

WAITS = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
ALL_OF_T = [0, 1, 2, 3]


def consumers() -> Beats:
    """Two members that subscribe to different topics, which is what the uniform assignor divides in another way."""
    beats = Beats(heartbeats.config_of(), t=4, u=2)
    for name, topics in (("a", ["t"]), ("b", ["t", "u"])):
        beats.member(name, subscribed_topic_names=topics).join()
    beats.settle()
    return beats


def shares() -> ShareBeats:
    beats = ShareBeats(share_beats.config_of(), t=4)
    beats.joined("a", "b")
    return beats


def streams() -> StreamsBeats:
    beats = StreamsBeats(streams_beats.config_of(), t=4)
    beats.joined("a", "b")
    return beats


FAMILIES = pytest.mark.parametrize("group_of_two", [consumers, shares, streams])


def assigned(beats: Any) -> dict[str, Any]:
    return {name: member.active if isinstance(beats, StreamsBeats) else member.assigned for name, member in beats.members.items()}


def of_t(beats: Any) -> list[int]:
    """The partitions of the topic, or its tasks, that members have."""
    return sorted(partition for each in assigned(beats).values() for partition in (each.get("t") or each.get("0") or ()))


def take_over(beats: Any, lacks: str = "has_all") -> None:
    """The shard is loaded by a loop that may not have all topics of now."""
    setattr(beats.log.topics, lacks, False)
    beats.log.restart()
    beats.records.clear()


def catch_up(beats: Any) -> None:
    """The loop gets what it lacked: t has four partitions."""
    beats.log.topics.unknown.clear()
    beats.log.topics.extend("t", 4)
    beats.log.topics.is_current = beats.log.topics.has_all = True


@FAMILIES
@pytest.mark.parametrize("lacks", ["is_current", "has_all"])
@pytest.mark.parametrize("known", [0, 2])
def test_a_group_waits_for_topics_that_its_records_were_made_from(
    group_of_two: Callable[[], Any], lacks: str, known: int
) -> None:
    """Without some partitions, or without the topic, its members would lose them, and get them again."""
    beats = group_of_two()
    before, epoch = assigned(beats), beats.group.group_epoch
    beats.log.topics.extend("t", known)
    beats.log.topics.unknown.update([] if known else ["t"])
    take_over(beats, lacks)

    assert [member.beat().error for member in beats.members.values()] == [WAITS, WAITS]
    assert beats.member("c").join().error is WAITS
    assert not beats.records
    del beats.members["c"]
    catch_up(beats)
    beats.settle()
    assert (assigned(beats), beats.group.group_epoch) == (before, epoch)


@FAMILIES
def test_a_group_whose_topics_are_those_of_its_records_goes_on(group_of_two: Callable[[], Any]) -> None:
    """Whatever other topics there may be: a new member gets its part."""
    beats = group_of_two()
    take_over(beats)

    assert beats.member("c").join().error is None
    beats.settle()
    assert beats.group.assignment_epoch == beats.group.group_epoch
    assert (set(of_t(beats)), len(beats.group.members)) == (set(ALL_OF_T), 3)


@FAMILIES
def test_members_may_leave_meanwhile(group_of_two: Callable[[], Any]) -> None:
    """Also at the end of their sessions. That the topics may be older is not forgotten: the other member waits."""
    beats = group_of_two()
    beats.log.topics.extend("t", 2)
    take_over(beats)

    assert beats.members.pop("a").leave().error is None
    assert list(beats.group.members) == ["b"]
    assert beats.members["b"].beat().error is WAITS
    beats.log.advance(60_000)
    assert not beats.group.members
    assert beats.members["b"].join().error is WAITS
    catch_up(beats)
    beats.members["b"].join()
    beats.settle()
    assert of_t(beats) == ALL_OF_T


@FAMILIES
def test_newer_topics_are_used_when_it_is_known_that_they_are(group_of_two: Callable[[], Any]) -> None:
    beats = group_of_two()
    beats.log.topics.extend("t", 6)
    take_over(beats)

    assert beats.members["a"].beat().error is WAITS
    beats.log.topics.has_all = True
    beats.settle()
    assert set(of_t(beats)) == {*ALL_OF_T, 4, 5}
    # Once known, for as long as the shard is here.
    beats.log.topics.has_all = beats.log.topics.is_current = False
    beats.log.topics.extend("t", 7)
    beats.settle()
    assert set(of_t(beats)) == {*ALL_OF_T, 4, 5, 6}


def test_a_classic_member_joins_again_for_an_assignment_that_cannot_be_named() -> None:
    """It would go on without the partitions of a topic that is not known here, and nobody else would have them."""
    beats = consumers()
    member = ClassicMember(beats, "t")
    member.join()
    beats.log.topics.unknown.add("t")
    take_over(beats)

    assert member.sync().error is ErrorCode.REBALANCE_IN_PROGRESS
    assert member.ask_to_join().error is WAITS
    catch_up(beats)
    assert member.join().response.error_code == ErrorCode.NONE
    assert member.sync().response.error_code == ErrorCode.NONE


def test_a_classic_group_is_converted_when_the_topics_are_known() -> None:
    """What its members have may be of a topic that is not known here yet: two would own it."""
    beats = Beats(heartbeats.config_of(), t=4)
    member = ClassicMember(beats, "t")
    member.join()
    member.sync((member, assignment({"t": ALL_OF_T})))
    beats.log.topics.unknown.add("t")
    take_over(beats)

    assert beats.member("a").join().error is WAITS
    catch_up(beats)
    beats.member("a").join()
    assert beats.member("a").assigned == {}
    assert {topic_id: list(has) for each in beats.group.members.values() for topic_id, has in each.assigned.items()} == {
        (1).to_bytes(16, "big"): ALL_OF_T
    }


@pytest.mark.parametrize("group_of_two", [consumers, streams])
def test_a_group_that_is_back_is_compared_with_topics_that_changed_meanwhile(group_of_two: Callable[[], Any]) -> None:
    """Its deletion was not written: when the topic changed, the group was not there."""
    beats = group_of_two()
    beats.log.is_holding = True
    beats.log.advance(60_000)
    beats.log.run(GroupShard.delete_groups, ["g"], version=2)
    beats.log.topics.extend("t", 6)
    beats.log.fail()
    beats.log.is_holding = False

    beats.settle()
    assert set(of_t(beats)) == {*ALL_OF_T, 4, 5}
