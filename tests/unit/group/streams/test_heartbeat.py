"""StreamsGroupHeartbeat (KIP-1071): what a member may say, what it is told, and what is written."""

from __future__ import annotations

import pytest

from coordinator_server.group.streams.status import (
    ASSIGNMENT_DELAYED,
    MISSING_INTERNAL_TOPICS,
    MISSING_SOURCE_TOPICS,
    SHUTDOWN_APPLICATION,
    STALE_TOPOLOGY,
)
from protocol.error_codes import ErrorCode
from protocol.messages.streams_group_heartbeat import Endpoint, TaskIds
from tests.support.streams_beats import StreamsBeats, config_of, topology

JOINED = [
    "MemberMetadata",
    "Topology",
    "Metadata",
    "TargetAssignmentMember",
    "TargetAssignmentMetadata",
    "CurrentMemberAssignment",
]


@pytest.fixture
def beats() -> StreamsBeats:
    return StreamsBeats(t=4)


def test_the_first_member_makes_the_group(beats: StreamsBeats) -> None:
    """Its records are those of all newer groups, with the topology. It gets all tasks at once."""
    [member] = beats.joined("a")

    assert beats.taken() == JOINED
    assert (member.epoch, member.active, member.standby, member.warmup, member.status) == (2, {"0": [0, 1, 2, 3]}, {}, {}, [])
    assert beats.group.state_at() == "Stable"
    assert beats.log.news[0] == ("rebalanced", {"group_id": "g", "epoch": 2, "members": 1, "reasons": ["member-joined a"]})
    metadata = beats.group.epoch_value
    assert (metadata.epoch, metadata.validated_topology_epoch) == (2, 0)
    assert [(each.key, each.value) for each in metadata.last_assignment_configs or ()] == [("num.standby.replicas", "0")]


def test_a_steady_heartbeat_writes_nothing(beats: StreamsBeats) -> None:
    """It renews the session. The second one takes a short way, until something changes."""
    [member] = beats.joined("a")
    beats.taken()
    response = member.beat().response

    assert (response.member_epoch, response.active_tasks, beats.taken()) == (2, None, [])
    member.beat()
    assert beats.log.was_repeat
    beats.log.advance(44_000)
    member.beat()
    beats.log.advance(44_000)
    assert beats.log.was_repeat
    beats.log.topics.extend("t", 5)
    member.beat()
    assert (beats.log.was_repeat, member.epoch) == (False, 3)


def test_the_short_way_ends_with_a_wish_to_shut_down(beats: StreamsBeats) -> None:
    """And with new end points, which are soft state like that."""
    first, second = beats.joined("a", "b")
    for _ in range(2):
        first.beat()
    assert beats.log.was_repeat
    second.beat(shutdown_application=True)
    first.beat()
    assert (beats.log.was_repeat, first.status) == (False, [SHUTDOWN_APPLICATION])


def test_an_identical_rejoin_changes_nothing(beats: StreamsBeats) -> None:
    """The member gets its tasks again. Any change of what it says raises the epoch."""
    [member] = beats.joined("a")
    beats.taken()

    assert member.join().response.active_tasks == [TaskIds("0", [0, 1, 2, 3])]
    assert beats.taken() == []
    member.join(rack_id="r")
    assert (member.epoch, beats.taken()[:2]) == (3, ["MemberMetadata", "Metadata"])


def test_tasks_move_one_after_the_other(beats: StreamsBeats) -> None:
    """The first member gives tasks up before the second gets them: no task is active twice."""
    [first] = beats.joined("a")
    second = beats.member("b")
    second.join()
    assert (second.active, beats.group.state_at()) == ({}, "Reconciling")

    first.beat_with_tasks()
    assert (first.epoch, first.active) == (2, {"0": [0, 1]})
    second.beat_with_tasks()
    assert second.active == {}
    first.beat_with_tasks()
    second.beat_with_tasks()
    assert (first.epoch, second.epoch, second.active) == (3, 3, {"0": [2, 3]})


def test_a_member_that_gives_nothing_up_is_removed(beats: StreamsBeats) -> None:
    """After its rebalance timeout; its tasks are free then."""
    [first] = beats.joined("a")
    second = beats.member("b")
    second.join()
    first.beat_with_tasks()
    for _ in range(3):
        beats.log.advance(20_000)
        first.beat()
        second.beat()

    assert first.beat().error is ErrorCode.UNKNOWN_MEMBER_ID
    second.beat_with_tasks()
    assert second.active == {"0": [0, 1, 2, 3]}


def test_a_session_ends(beats: StreamsBeats) -> None:
    first, second = beats.joined("a", "b")
    beats.taken()
    beats.log.advance(44_999)
    first.beat()
    beats.log.advance(1)

    assert beats.taken() == ["-CurrentMemberAssignment", "-TargetAssignmentMember", "-MemberMetadata", "Metadata"]
    assert second.beat().error is ErrorCode.UNKNOWN_MEMBER_ID
    assert list(beats.group.members) == ["a"]


def test_a_member_leaves(beats: StreamsBeats) -> None:
    """The others get its tasks. The topology stays, so that the group is ready for the next member."""
    first, second = beats.joined("a", "b")
    beats.taken()
    response = second.leave().response

    assert (response.member_epoch, response.status) == (-1, [])
    assert beats.taken() == ["-CurrentMemberAssignment", "-TargetAssignmentMember", "-MemberMetadata", "Metadata"]
    first.beat_with_tasks()
    assert first.active == {"0": [0, 1, 2, 3]}
    first.leave()
    assert (beats.group.state_at(), beats.group.epoch_value.validated_topology_epoch) == ("Empty", 0)


@pytest.mark.parametrize("epoch", [1, -1])
def test_a_stranger_is_refused(beats: StreamsBeats, epoch: int) -> None:
    beats.joined("a")

    refused = beats.member("b").beat(epoch=epoch)

    assert (refused.error, refused.message) == (ErrorCode.UNKNOWN_MEMBER_ID, "Member b is not a member of group g.")


def test_epochs_are_checked(beats: StreamsBeats) -> None:
    """The previous epoch counts if the member owns no other tasks than its own: the answer with the new one may be lost."""
    first, _ = beats.joined("a", "b")
    epoch, owned = first.epoch, first.active

    assert first.beat(epoch=epoch + 1).message == (
        f"The streams group member has a greater member epoch ({epoch + 1}) than the one known by the group coordinator ({epoch}). "
        "The member must abandon all its partitions and rejoin."
    )
    assert first.beat(epoch=epoch - 1).error is ErrorCode.FENCED_MEMBER_EPOCH
    assert first.beat_with_tasks(epoch=epoch - 1).response.member_epoch == epoch
    first.active = {"0": [*owned["0"], 3]}
    assert first.beat_with_tasks(epoch=epoch - 1).error is ErrorCode.FENCED_MEMBER_EPOCH
    first.active = {"1": []}
    assert first.beat_with_tasks(epoch=epoch - 1).error is ErrorCode.FENCED_MEMBER_EPOCH


def test_unknown_tasks_are_refused(beats: StreamsBeats) -> None:
    [member] = beats.joined("a")

    member.active = {"1": [0]}
    assert member.beat_with_tasks().message == "Subtopology 1 does not exist in the topology."
    member.active = {"0": [4]}
    assert member.beat_with_tasks().message == "Task 4 for subtopology 0 is invalid. Number of tasks for this subtopology: 4"


def test_a_full_group_refuses_every_join() -> None:
    """That of its own member too."""
    beats = StreamsBeats(config_of(group_streams_max_size="1"), t=4)
    beats.joined("a")

    for name in "ab":
        refused = beats.member(name).join()
        assert refused.error is ErrorCode.GROUP_MAX_SIZE_REACHED
        assert refused.message == "The streams group has reached its maximum capacity of 1 members."


def test_the_first_assignment_waits_for_more_members() -> None:
    """Members stay at epoch 1 without tasks. A timer computes the target, and each gets its part with its next heartbeat."""
    beats = StreamsBeats(config_of(group_streams_initial_rebalance_delay_ms="3000"), t=4)
    first, second = beats.member("a"), beats.member("b")
    first.join()
    assert (first.epoch, first.active, first.status) == (1, {}, [ASSIGNMENT_DELAYED])
    beats.log.advance(2000)
    # The group is another object since its records were replayed: it has not been configured yet.
    first.beat()
    second.join()
    beats.taken()
    beats.log.advance(999)
    assert beats.taken() == []
    beats.log.advance(1)

    assert beats.taken() == ["TargetAssignmentMember", "TargetAssignmentMember", "TargetAssignmentMetadata"]
    first.beat()
    second.beat()
    assert (first.active, second.active, first.status) == ({"0": [0, 2]}, {"0": [1, 3]}, [])


def test_assignments_have_an_interval() -> None:
    beats = StreamsBeats(config_of(group_streams_assignment_interval_ms="1000"), t=4)
    [first] = beats.joined("a")
    second = beats.member("b")
    second.join()
    assert (second.status, beats.group.state_at()) == ([ASSIGNMENT_DELAYED], "Assigning")
    beats.log.advance(1000)

    second.beat()
    assert (second.status, beats.group.assignment_epoch) == ([], 3)
    assert first.active


def test_missing_source_topics_are_told() -> None:
    """The group is not ready, and its members have no tasks until the topic exists."""
    beats = StreamsBeats()
    member = beats.member("a")
    response = member.join().response
    [status] = response.status

    assert (status.status_code, status.status_detail) == (MISSING_SOURCE_TOPICS, "Source topics t are missing.")
    assert (member.active, beats.group.state_at(), beats.group.epoch_value.validated_topology_epoch) == ({}, "NotReady", -1)
    beats.log.topics.create(t=2)
    beats.settle()
    assert (member.active, member.status, beats.group.state_at()) == ({"0": [0, 1]}, [], "Stable")


def test_missing_internal_topics_are_to_be_created(beats: StreamsBeats) -> None:
    """With the partitions that the source topics have. The answer says that they are missing."""
    beats.topology = topology(0, "t", stores=("g-store-changelog",))
    member = beats.member("a")
    member.join()
    assert (member.status, member.missing, member.active) == ([MISSING_INTERNAL_TOPICS], ["g-store-changelog"], {})
    assert beats.group.state_at() == "NotReady"
    beats.log.topics.create(**{"g-store-changelog": 4})

    beats.settle()
    assert (member.active, member.status, member.missing) == ({"0": [0, 1, 2, 3]}, [], [])


def test_standby_replicas_are_a_setting() -> None:
    """Another number of them raises the epoch. A stateful task has a replica in a different process."""
    beats = StreamsBeats(t=2, log=2)
    beats.topology = topology(0, "t", stores=("log",))
    first, second = beats.joined("a", "b")
    assert (first.standby, second.standby) == ({}, {})
    beats.taken()

    beats.log.own_settings["g"] = {"streams.num.standby.replicas": "1"}
    first.beat()
    assert beats.taken()[0] == "Metadata"
    beats.settle()
    assert (first.active, second.active) == ({"0": [0]}, {"0": [1]})
    assert (first.standby, second.standby) == ({"0": [1]}, {"0": [0]})


def test_a_topology_never_changes(beats: StreamsBeats) -> None:
    """An older one is accepted, whatever it has: its member is told so."""
    beats.topology = topology(3)
    beats.joined("a")
    other = beats.member("b")

    assert other.join(topology=topology(3, "u")).message == "Topology updates are not supported yet."
    assert other.join(topology=topology(4)).error is ErrorCode.INVALID_REQUEST
    response = other.join(topology=topology(2, "u")).response
    [status] = response.status
    assert (status.status_code, status.status_detail) == (
        STALE_TOPOLOGY,
        "The member's topology epoch 2 is behind the group's topology epoch 3.",
    )


def test_a_member_has_all_shut_down(beats: StreamsBeats) -> None:
    """Its wish is told to every member until the group is empty. That of the member which makes the group is lost."""
    first = beats.member("a")
    first.join(shutdown_application=True)
    assert first.status == [SHUTDOWN_APPLICATION]
    first.beat()
    assert first.status == []

    first.beat(shutdown_application=True)
    second = beats.member("b")
    [status] = second.join().response.status
    assert status.status_detail == (
        "Streams group member a encountered a fatal error and requested a shutdown for the entire application."
    )
    first.leave()
    second.beat()
    assert second.status == [SHUTDOWN_APPLICATION]
    second.leave()
    second.join()
    second.beat()
    assert second.status == []


def test_a_stranger_may_have_all_shut_down(beats: StreamsBeats) -> None:
    """Its leave is refused, and counts."""
    [member] = beats.joined("a")

    assert beats.member("b").leave(shutdown_application=True).error is ErrorCode.UNKNOWN_MEMBER_ID
    member.beat()
    assert member.status == [SHUTDOWN_APPLICATION]


def test_members_are_told_the_end_points_of_all(beats: StreamsBeats) -> None:
    """When the tasks of a member with one were sent. The first heartbeat of a group keeps no epoch of them."""
    first, second = beats.member("a"), beats.member("b")
    response = first.join(user_endpoint=Endpoint("one", 1)).response
    assert response.endpoint_information_epoch == 0
    [known] = response.partitions_by_user_endpoint
    assert (known.user_endpoint, [(each.topic, each.partitions) for each in known.active_partitions]) == (
        Endpoint("one", 1),
        [("t", [0, 1, 2, 3])],
    )
    assert first.beat().response.partitions_by_user_endpoint is None

    second.join(user_endpoint=Endpoint("two", 2))
    beats.settle()
    response = first.beat(endpoint_information_epoch=0).response
    assert response.endpoint_information_epoch > 0
    assert {
        each.user_endpoint.host: [part.partitions for part in each.active_partitions]
        for each in response.partitions_by_user_endpoint
    } == {"one": [[0, 1]], "two": [[2, 3]]}
    assert first.beat(endpoint_information_epoch=response.endpoint_information_epoch).response.partitions_by_user_endpoint is None


def test_an_end_point_before_the_topology_is_configured_is_an_error() -> None:
    """As in Kafka: nothing is written."""
    beats = StreamsBeats()

    assert beats.member("a").join(user_endpoint=Endpoint("one", 1)).error is ErrorCode.UNKNOWN_SERVER_ERROR
    assert beats.records == []


def test_a_topic_that_grows_gets_more_tasks(beats: StreamsBeats) -> None:
    [member] = beats.joined("a")
    beats.taken()
    beats.log.topics.extend("t", 6)
    beats.settle()

    assert beats.taken()[0] == "Metadata"
    assert (member.epoch, member.active) == (3, {"0": [0, 1, 2, 3, 4, 5]})


def test_a_failed_append_is_taken_back(beats: StreamsBeats) -> None:
    """The session of the member lives, if it was one before, and the next heartbeat does the same."""
    [first] = beats.joined("a")
    beats.log.is_holding = True
    second = beats.member("b")
    second.join()
    beats.log.fail(ErrorCode.NOT_COORDINATOR)
    beats.log.is_holding = False
    assert list(beats.group.members) == ["a"]

    second.join()
    beats.settle()
    assert (first.active, second.active) == ({"0": [0, 1]}, {"0": [2, 3]})


def test_a_restart_keeps_the_state(beats: StreamsBeats) -> None:
    """Sessions begin anew; the topology is configured again, without a new epoch."""
    first, _ = beats.joined("a", "b")
    beats.log.restart()
    beats.taken()

    first.beat()
    assert (beats.taken(), first.status, beats.group.state_at()) == ([], [], "Stable")
    beats.log.advance(45_000)
    assert beats.group.state_at() == "Empty"
