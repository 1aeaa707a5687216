"""ConsumerGroupHeartbeat (KIP-848): what a member may say, what it is told, and what is written."""

from __future__ import annotations

import pytest

from coordinator_server.group.assign.spec import CannotAssign, GroupSpec, Partitions
from coordinator_server.group.consumer.group import NO_EPOCH
from coordinator_server.group.consumer.member import MemberState
from coordinator_server.group.modern.reconciling_group import GroupState
from coordinator_server.group.shard import GroupShard
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from protocol.messages.consumer_group_records import ConsumerGroupPartitionMetadataKey, ConsumerGroupPartitionMetadataValue
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from tests.support.group import FakeReply
from tests.support.heartbeats import Beats, config_of

JOINED = ["MemberMetadata", "Metadata", "TargetAssignmentMember", "TargetAssignmentMetadata", "CurrentMemberAssignment"]
GONE = ["-CurrentMemberAssignment", "-TargetAssignmentMember", "-MemberMetadata"]


def send(beats: Beats, request: ConsumerGroupHeartbeatRequest, version: int = 1) -> FakeReply:
    return beats.log.run(GroupShard.consumer_group_heartbeat, request, version=version)


def joining(**fields: object) -> ConsumerGroupHeartbeatRequest:
    given = {"rebalance_timeout_ms": 60_000, "subscribed_topic_names": ["t"], "topic_partitions": [], **fields}
    return ConsumerGroupHeartbeatRequest("g", "m", 0, **given)  # type: ignore[arg-type]


# --- validation


@pytest.mark.parametrize(
    ("request_", "version", "message"),
    [
        (ConsumerGroupHeartbeatRequest("g", "", 0), 1, "MemberId can't be empty."),
        (ConsumerGroupHeartbeatRequest("g", " \t", 0), 1, "MemberId can't be empty."),
        (ConsumerGroupHeartbeatRequest("g", "", 1), 0, "MemberId can't be empty."),
        (ConsumerGroupHeartbeatRequest("g", "", -1), 0, "MemberId can't be empty."),
        (ConsumerGroupHeartbeatRequest("", "m", 0), 1, "GroupId can't be empty."),
        (ConsumerGroupHeartbeatRequest("g", "m", 0, ""), 1, "InstanceId can't be empty."),
        (ConsumerGroupHeartbeatRequest("g", "m", 0, None, ""), 1, "RackId can't be empty."),
        (joining(rebalance_timeout_ms=-1), 1, "RebalanceTimeoutMs must be provided in first request."),
        (joining(topic_partitions=None), 1, "TopicPartitions must be empty when (re-)joining."),
        (joining(topic_partitions=[TopicPartitions()]), 1, "TopicPartitions must be empty when (re-)joining."),
        (
            joining(subscribed_topic_names=None),
            1,
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        ),
        (ConsumerGroupHeartbeatRequest("g", "m", -2), 1, "InstanceId can't be null."),
        (ConsumerGroupHeartbeatRequest("g", "m", -3), 1, "MemberEpoch is invalid."),
    ],
)
def test_an_invalid_request_is_refused(request_: ConsumerGroupHeartbeatRequest, version: int, message: str) -> None:
    """INVALID_REQUEST with Kafka's message, in its order."""
    beats = Beats(t=1)

    refused = send(beats, request_, version)

    assert (refused.error, refused.message) == (ErrorCode.INVALID_REQUEST, message)
    assert beats.taken() == []


def test_an_unknown_assignor_is_refused() -> None:
    refused = send(Beats(t=1), joining(server_assignor="sticky"))

    assert refused.error is ErrorCode.UNSUPPORTED_ASSIGNOR
    assert refused.message == "ServerAssignor sticky is not supported. Supported assignors: uniform, range."


def test_before_version_1_the_coordinator_chooses_the_id() -> None:
    beats = Beats(t=1)
    request = joining()
    request.member_id = ""

    answer = send(beats, request, 0).response

    assert answer.member_id
    assert list(beats.group.members) == [answer.member_id]


# --- joins


def test_the_first_member_gets_everything_in_epoch_2() -> None:
    """Its subscription, the group's epoch, the target, and what it has: all in one batch."""
    beats = Beats(t=3)

    answer = beats.member("a").join().response

    assert (answer.member_id, answer.member_epoch, answer.heartbeat_interval_ms) == ("a", 2, 5000)
    assert beats.member("a").assigned == {"t": [0, 1, 2]}
    assert beats.taken() == JOINED
    assert beats.group.state_at() == GroupState.STABLE


@pytest.mark.parametrize("names", [[], ["missing"]])
def test_a_member_without_topics_that_exist(names: list[str]) -> None:
    """Without names the group stays in epoch 1."""
    beats = Beats(t=3)

    answer = beats.member("a", subscribed_topic_names=names).join().response

    assert answer.member_epoch == (2 if names else 1)
    assert answer.assignment.topic_partitions == []


def test_a_steady_heartbeat_writes_nothing() -> None:
    """And is answered without the assignment, at once."""
    beats = Beats(t=3)
    beats.member("a").join()
    beats.taken()
    beats.log.is_holding = True

    answers = [beats.member("a").beat().response for _ in range(3)]

    assert [(each.member_epoch, each.assignment, each.member_id) for each in answers] == [(2, None, "a")] * 3
    assert beats.taken() == []


def test_a_heartbeat_waits_for_records_of_its_own_group_only() -> None:
    beats = Beats(t=3)
    beats.member("a").join()
    beats.log.is_holding = True
    topic = OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 1)])
    beats.log.run(GroupShard.commit_offsets, OffsetCommitRequest("other", topics=[topic]), version=8)
    at_once = beats.member("a").beat()
    beats.member("b").join()
    waiting = beats.member("a").beat()

    assert at_once.is_answered
    assert not waiting.is_answered
    beats.log.flush()
    assert waiting.is_answered


def test_a_full_heartbeat_gets_the_assignment_again() -> None:
    """A client sends everything after an error; nothing is written if nothing has changed."""
    beats = Beats(t=2)
    a = beats.member("a")
    a.join()
    beats.taken()

    full = a.beat(owned=True, rebalance_timeout_ms=60_000, subscribed_topic_names=["t"]).response
    partly = a.beat(owned=True, rebalance_timeout_ms=60_000).response

    assert full.assignment is not None
    assert partly.assignment is None
    assert beats.taken() == []


def test_a_client_that_moves_is_written() -> None:
    """Its new timeout, rack or assignor: one record, and no new epoch of the group."""
    beats = Beats(t=2)
    a = beats.member("a")
    a.join()
    beats.taken()

    a.beat(rebalance_timeout_ms=1000, rack_id="r", server_assignor="range")

    metadata = beats.group.members["a"].metadata
    assert (metadata.rebalance_timeout_ms, metadata.rack_id, metadata.server_assignor) == (1000, "r", "range")
    assert beats.taken() == ["MemberMetadata"]


def test_a_second_member_waits_until_the_first_gives_up() -> None:
    """Member by member: no partition has two owners, and each epoch is that of what is had."""
    beats = Beats(t=2)
    a, b = beats.member("a"), beats.member("b")
    a.join()
    assert b.join().response.member_epoch == 3
    assert b.assigned == {}
    assert beats.group.members["b"].state is MemberState.UNRELEASED_PARTITIONS

    revoking = a.beat().response
    assert revoking.member_epoch == 2
    assert len(a.assigned["t"]) == 1
    assert beats.group.members["a"].state is MemberState.UNREVOKED_PARTITIONS
    assert b.beat().response.assignment is None
    assert a.beat(owned={"t": [0, 1]}).response.member_epoch == 2
    assert a.beat(owned=True).response.member_epoch == 3
    assert b.beat().response.member_epoch == 3
    assert sorted(a.assigned["t"] + b.assigned["t"]) == [0, 1]
    assert beats.group.state_at() == GroupState.STABLE


def test_a_revocation_that_is_not_confirmed_ends_the_member() -> None:
    """After its rebalance timeout, while it goes on sending heartbeats; its partitions are free."""
    beats = Beats(t=2)
    a, b = beats.member("a", rebalance_timeout_ms=20_000), beats.member("b")
    a.join()
    b.join()
    a.beat()
    b.beat()
    beats.taken()

    for _ in range(4):
        beats.log.advance(4999)
        a.beat()
        b.beat()
    assert beats.taken() == []
    beats.log.advance(10)

    assert beats.taken() == [*GONE, "Metadata"]
    assert a.beat().error is ErrorCode.UNKNOWN_MEMBER_ID
    b.beat()
    assert b.assigned == {"t": [0, 1]}


def test_a_session_ends_without_heartbeats() -> None:
    """After the session timeout; every heartbeat begins it anew."""
    beats = Beats(t=2)
    a = beats.member("a")
    a.join()
    beats.log.advance(44_999)
    a.beat()
    beats.log.advance(44_999)
    beats.taken()
    assert "a" in beats.group.members

    beats.log.advance(1)

    assert beats.taken() == [*GONE, "Metadata"]
    assert not beats.group.members
    assert beats.group.group_epoch == 3
    assert a.beat().error is ErrorCode.UNKNOWN_MEMBER_ID


def test_sessions_begin_anew_after_a_restart() -> None:
    """Those of imported members too; and the rebalance timeout of one that has to give up partitions."""
    beats = Beats(t=2)
    a, b = beats.member("a", rebalance_timeout_ms=20_000), beats.member("b")
    a.join()
    b.join()
    a.beat()
    beats.log.advance(19_999)
    beats.log.restart()
    beats.taken()

    beats.log.advance(19_999)
    assert beats.taken() == []
    beats.log.advance(1)
    assert list(beats.group.members) == ["b"]
    beats.log.advance(25_000)
    assert not beats.group.members


# --- epochs


def test_epochs_of_strangers_are_fenced() -> None:
    """A greater one, and an old one; the member itself stays as it is."""
    beats = Beats(t=2)
    a = beats.member("a")
    a.join()
    beats.member("b").join()
    beats.settle()

    for epoch, relation in ((9, "greater"), (1, "smaller")):
        refused = a.beat(epoch=epoch)
        assert refused.error is ErrorCode.FENCED_MEMBER_EPOCH
        assert refused.message == (
            f"The consumer group member has a {relation} member epoch ({epoch}) than the one known by the group coordinator (3). "
            "The member must abandon all its partitions and rejoin."
        )
    assert a.beat().error is None


def test_the_previous_epoch_is_accepted_with_a_subset() -> None:
    """The answer with the new epoch may have been lost. Not if the member owns anything else, or does not say."""
    beats = Beats(t=2)
    a = beats.member("a")
    a.join()
    beats.member("b").join()
    beats.settle()
    [mine] = a.assigned["t"]

    assert a.beat(epoch=2, owned={"t": [1 - mine]}).error is ErrorCode.FENCED_MEMBER_EPOCH
    assert a.beat(epoch=2).error is ErrorCode.FENCED_MEMBER_EPOCH
    assert a.beat(epoch=2, owned={"t": [mine]}).response.member_epoch == 3
    assert a.beat(epoch=2, owned={}).response.member_epoch == 3


def test_a_fenced_member_joins_again_with_its_id() -> None:
    """Epoch 0 is always accepted. What it had is still its own."""
    beats = Beats(t=2)
    a = beats.member("a")
    a.join()
    beats.taken()

    again = a.join().response

    assert (again.member_epoch, a.assigned) == (2, {"t": [0, 1]})
    assert beats.taken() == []


@pytest.mark.parametrize("name", "ab")
def test_a_member_joins_again_in_the_middle_of_a_change(name: str) -> None:
    """One that has to give up partitions has given up all; one that waits for partitions goes on waiting."""
    beats = Beats(t=2)
    a, b = beats.member("a"), beats.member("b")
    a.join()
    b.join()
    a.beat()
    assert (beats.group.members["a"].state, beats.group.members["b"].state) == (
        MemberState.UNREVOKED_PARTITIONS,
        MemberState.UNRELEASED_PARTITIONS,
    )

    answer = beats.member(name).join().response

    assert (answer.member_epoch, len(beats.member(name).assigned)) == (3, int(name == "a"))
    beats.settle()
    assert sorted(a.assigned["t"] + b.assigned["t"]) == [0, 1]


@pytest.mark.parametrize("name", "ab")
def test_a_full_heartbeat_in_the_middle_of_a_change_is_answered_in_full(name: str) -> None:
    """Again and again: the answer may have been lost."""
    beats = Beats(t=2)
    beats.member("a").join()
    beats.member("b").join()
    beats.member("a").beat()
    member = beats.member(name)
    owned = {"t": [0, 1]} if name == "a" else {}
    member.beat(owned=owned)
    beats.taken()

    for _ in range(2):
        answer = member.beat(owned=owned, rebalance_timeout_ms=60_000, subscribed_topic_names=["t"]).response
        assert [topic.partitions for topic in answer.assignment.topic_partitions] == list(member.assigned.values())
    assert beats.taken() == []


def test_members_and_groups_that_do_not_exist() -> None:
    beats = Beats(t=1)
    unknown = beats.member("a").beat(epoch=5)
    assert (unknown.error, unknown.message) == (ErrorCode.GROUP_ID_NOT_FOUND, "Consumer group g not found.")
    leaving = beats.member("a").leave()
    assert (leaving.error, leaving.message) == (ErrorCode.GROUP_ID_NOT_FOUND, "Group g not found.")
    beats.member("a").join()
    for refused in (beats.member("b").beat(epoch=5), beats.member("b").leave()):
        assert (refused.error, refused.message) == (ErrorCode.UNKNOWN_MEMBER_ID, "Member b is not a member of group g.")


def test_a_full_group_takes_nobody_else() -> None:
    """Not even in the place of a static member. Its own members may go on, and join again."""
    beats = Beats(config_of(group_consumer_max_size="1"), t=1)
    beats.member("a", instance_id="i").join()
    beats.member("a").leave(-2)
    assert beats.member("c", instance_id="i").join().error is ErrorCode.GROUP_MAX_SIZE_REACHED

    refused = beats.member("b").join()

    assert refused.error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert refused.message == "The consumer group has reached its maximum capacity of 1 members."
    assert beats.member("a").join().error is beats.member("a").beat().error is None


# --- leaving


def test_a_member_leaves() -> None:
    """At once: its partitions are the others'."""
    beats = Beats(t=2)
    a, b = beats.member("a"), beats.member("b")
    a.join()
    b.join()
    beats.settle()
    beats.taken()

    left = a.leave().response

    assert (left.member_id, left.member_epoch, left.heartbeat_interval_ms) == ("a", -1, 0)
    assert beats.taken() == [*GONE, "Metadata"]
    assert beats.group.group_epoch == 4
    b.beat()
    assert (b.epoch, b.assigned) == (4, {"t": [0, 1]})
    b.leave()
    assert beats.group.state_at() == GroupState.EMPTY
    assert beats.log.timer.keys == {("expire-offsets",)}


def test_a_leave_whose_write_fails_keeps_member_and_session() -> None:
    """The member stays, and its session goes on."""
    beats = Beats(t=2)
    a = beats.member("a")
    a.join()
    beats.log.is_holding = True
    refused = a.leave()
    beats.log.fail()
    beats.log.is_holding = False
    beats.taken()

    assert refused.error is ErrorCode.NOT_COORDINATOR
    a.epoch = 2
    assert a.beat().response.member_epoch == 2
    beats.log.advance(45_000)
    assert not beats.group.members


def test_a_join_that_is_not_written_leaves_nothing() -> None:
    beats = Beats(t=2)
    beats.log.is_holding = True
    refused = beats.member("a").join()
    beats.log.fail()
    beats.log.is_holding = False

    assert refused.error is ErrorCode.NOT_COORDINATOR
    assert "g" not in beats.log.shard.groups.consumer.by_id
    assert beats.log.timer.keys == {("expire-offsets",)}
    assert beats.member("a").join().response.member_epoch == 2


# --- static members


def test_a_static_member_goes_for_a_while() -> None:
    """It keeps its partitions and the group its epoch; its own heartbeats are fenced meanwhile."""
    beats = Beats(t=2)
    a, b = beats.member("a", instance_id="i"), beats.member("b")
    a.join()
    b.join()
    beats.settle()
    beats.taken()

    away = a.leave(-2).response

    assert (away.member_id, away.member_epoch) == ("a", -2)
    assert beats.taken() == ["CurrentMemberAssignment"]
    assert beats.group.group_epoch == 3
    assert beats.group.state_at() == GroupState.RECONCILING
    assert a.beat(epoch=3).error is ErrorCode.FENCED_MEMBER_EPOCH
    assert b.beat().response.member_epoch == 3


def test_a_new_instance_takes_the_place_of_one_that_is_away() -> None:
    """With its partitions, under its own id. No new epoch, so nobody else notices."""
    beats = Beats(t=2)
    a = beats.member("a", instance_id="i")
    a.join()
    a.leave(-2)
    beats.taken()

    new = beats.member("a2", instance_id="i")
    answer = new.join().response

    assert (answer.member_id, answer.member_epoch, new.assigned) == ("a2", 2, {"t": [0, 1]})
    assert beats.taken() == [
        *GONE,
        "MemberMetadata",
        "TargetAssignmentMember",
        "CurrentMemberAssignment",
        "CurrentMemberAssignment",
    ]
    assert list(beats.group.members) == ["a2"]
    assert beats.group.group_epoch == 2
    beats.log.advance(44_999)
    assert new.beat().response.member_epoch == 2
    beats.log.advance(44_999)
    assert list(beats.group.members) == ["a2"]


def test_a_static_member_may_come_back_with_other_topics() -> None:
    """Then the group gets a new epoch."""
    beats = Beats(t=1, u=1)
    a = beats.member("a", instance_id="i")
    a.join()
    a.leave(-2)

    new = beats.member("a2", instance_id="i", subscribed_topic_names=["u"])
    assert new.join().response.member_epoch == 3
    assert new.assigned == {"u": [0]}


def test_an_instance_that_is_not_away_keeps_its_place() -> None:
    beats = Beats(t=2)
    beats.member("a", instance_id="i").join()

    refused = beats.member("b", instance_id="i").join()

    assert refused.error is ErrorCode.UNRELEASED_INSTANCE_ID
    assert refused.message == (
        "Static member b with instance id i cannot join the group because the instance id is owned by a member."
    )


def test_a_replaced_instance_is_fenced() -> None:
    """In heartbeats and leaves; an unknown instance is told so."""
    beats = Beats(t=2)
    a = beats.member("a", instance_id="i")
    a.join()
    a.leave(-2)
    beats.member("b", instance_id="i").join()

    for refused in (a.beat(epoch=2), a.leave(), a.leave(-2)):
        assert refused.error is ErrorCode.FENCED_INSTANCE_ID
        assert refused.message == "Static member a with instance id i was fenced by member b."
    stranger = beats.member("c", instance_id="j")
    for refused in (stranger.beat(epoch=2), stranger.leave(-2)):
        assert (refused.error, refused.message) == (ErrorCode.UNKNOWN_MEMBER_ID, "Instance id j is unknown.")


def test_an_instance_that_does_not_come_back_is_removed() -> None:
    beats = Beats(t=2)
    a = beats.member("a", instance_id="i")
    a.join()
    beats.log.advance(1000)
    a.leave(-2)
    beats.log.advance(44_000)

    assert not beats.group.members


# --- topics and subscriptions


def test_a_new_subscription_is_a_new_epoch() -> None:
    beats = Beats(t=1, u=1)
    a = beats.member("a")
    a.join()
    beats.taken()

    a.beat(subscribed_topic_names=["u", "t", "u"], owned=True)

    assert a.assigned == {"t": [0], "u": [0]}
    assert beats.group.members["a"].metadata.subscribed_topic_names == ["t", "u"]
    assert (a.epoch, beats.taken()) == (3, JOINED)
    a.beat(subscribed_topic_names=["t", "u"])
    assert beats.taken() == []


def test_partitions_of_a_topic_that_is_left_are_revoked_at_once() -> None:
    """Also when the new target has to wait for the assignment interval."""
    beats = Beats(config_of(group_consumer_assignment_interval_ms="10000"), t=1, u=1)
    a = beats.member("a", subscribed_topic_names=["t", "u"])
    a.join()

    answer = a.beat(subscribed_topic_names=["t"], owned=True).response

    assert (answer.member_epoch, a.assigned) == (2, {"t": [0]})
    assert beats.group.members["a"].state is MemberState.UNREVOKED_PARTITIONS
    a.beat(owned=True)
    assert beats.group.partition_epoch(beats.log.topics.all_topics()[1].topic_id, 0) == NO_EPOCH


def test_topics_that_change_are_noticed_at_the_next_heartbeat() -> None:
    """Created, extended, deleted: a new epoch with a new hash, and the new target."""
    beats = Beats(t=1)
    a = beats.member("a", subscribed_topic_names=["t", "u"])
    a.join()
    before = beats.group.metadata_hash

    beats.log.topics.create(u=2)
    a.beat()
    assert (a.epoch, a.assigned) == (3, {"t": [0], "u": [0, 1]})
    beats.log.topics.extend("t", 2)
    a.beat()
    assert (a.epoch, a.assigned) == (4, {"t": [0, 1], "u": [0, 1]})
    beats.log.topics.extend("t", 2)
    beats.log.topics.create(other=3)
    a.beat()
    assert a.epoch == 4
    beats.log.topics.delete("u")
    beats.log.topics.delete("t")
    beats.settle()
    assert (a.epoch, a.assigned, beats.group.metadata_hash) == (5, {}, 0)
    assert before != 0


def test_a_change_of_topics_that_is_not_written_is_found_again() -> None:
    beats = Beats(t=1)
    a = beats.member("a")
    a.join()
    beats.log.topics.extend("t", 2)
    beats.log.is_holding = True
    a.beat()
    beats.log.fail()
    beats.log.is_holding = False

    a.beat()

    assert (a.epoch, a.assigned) == (3, {"t": [0, 1]})


def test_topics_are_compared_once_after_a_load() -> None:
    """They may have changed while nobody looked."""
    beats = Beats(t=1)
    a = beats.member("a")
    a.join()
    a.beat()
    beats.log.topics.tell = lambda _names: None
    beats.log.topics.extend("t", 2)
    a.beat()
    assert a.epoch == 2

    beats.log.restart()
    a.beat()

    assert (a.epoch, a.assigned) == (3, {"t": [0, 1]})


def test_the_record_that_the_hash_replaced_is_removed() -> None:
    """By the next heartbeat that compares the topics: Kafka before 4.1 wrote it."""
    beats = Beats(t=1)
    a = beats.member("a")
    a.join()
    legacy = CoordinatorRecord(ConsumerGroupPartitionMetadataKey("g"), ConsumerGroupPartitionMetadataValue())
    beats.log.shard.replay(beats.log.end_offset, legacy)
    beats.log.committed.append(legacy)
    beats.log.restart()
    beats.taken()

    a.beat()

    assert beats.taken() == ["-PartitionMetadata"]
    assert not beats.group.has_partition_metadata


# --- the assignment interval


def test_a_target_waits_for_the_interval() -> None:
    """No timer applies it: the first heartbeat after it does (KIP-1263)."""
    beats = Beats(config_of(group_consumer_assignment_interval_ms="1000"), t=2)
    a, b = beats.member("a"), beats.member("b")
    a.join()
    beats.log.advance(999)
    assert b.join().response.member_epoch == 2
    assert (beats.group.group_epoch, beats.group.assignment_epoch) == (3, 2)
    assert beats.group.state_at() == GroupState.ASSIGNING
    beats.log.advance(1)
    assert beats.group.assignment_epoch == 2

    a.beat()

    assert beats.group.assignment_epoch == 3


@pytest.mark.parametrize("name", ["b", "y"])
def test_a_member_that_subscribes_to_nothing_takes_nothing_away(name: str) -> None:
    """Its join makes no new epoch, and may be the request that computes the target. Kafka does not count it then."""
    beats = Beats(config_of(group_consumer_assignment_interval_ms="1000"), t=2)
    member, passing = beats.member("m"), beats.member("p")
    member.join()
    passing.join()
    passing.leave()
    beats.log.advance(1000)

    beats.member(name).join(subscribed_topic_names=[])

    assert beats.group.assignment_epoch == beats.group.group_epoch == 4
    assert [list(each) for each in beats.group.target("m").values()] == [[0, 1]]


def test_a_clock_that_is_set_back_stalls_no_group() -> None:
    """Kafka would wait until the clock is again where it was."""
    beats = Beats(config_of(group_consumer_assignment_interval_ms="1000"), t=2)
    beats.member("a").join()
    beats.log.clock.jump_wall(-3_600_000)

    beats.member("b").join()

    assert beats.group.assignment_epoch == 3


def test_the_interval_is_a_setting_of_the_group() -> None:
    beats = Beats(config_of(group_consumer_assignment_interval_ms="1000"), t=2)
    beats.log.own_settings["g"] = {"consumer.assignment.interval.ms": "0", "consumer.heartbeat.interval.ms": "7000"}
    beats.member("a").join()

    answer = beats.member("b").join().response

    assert (answer.member_epoch, answer.heartbeat_interval_ms) == (3, 7000)


# --- assignors


def test_the_assignor_of_most_members_is_used() -> None:
    """Ranges of two topics are alike; the uniform assignor, the default, balances their sum."""
    beats = Beats(t=1, u=1)
    a, b = (beats.member(name, subscribed_topic_names=["t", "u"], server_assignor="range") for name in "ab")
    a.join()
    b.join()
    beats.settle()
    assert sorted(len(member.assigned) for member in (a, b)) == [0, 2]

    a.beat(server_assignor="uniform", subscribed_topic_names=["t"])
    b.beat(server_assignor="uniform")
    a.beat(subscribed_topic_names=["t", "u"])
    beats.settle()
    assert sorted(len(member.assigned) for member in (a, b)) == [1, 1]


def test_an_assignor_that_fails_is_told_to_the_member() -> None:
    """Nothing of the request is written; the next heartbeat tries again."""
    beats = Beats(t=1)
    a = beats.member("a")
    a.join()
    beats.taken()

    def fail(_group: GroupSpec) -> dict[str, Partitions]:
        raise CannotAssign("no")

    assignors = beats.log.shard.groups.consumer_context.assignors
    good = assignors["uniform"]
    assignors["uniform"] = fail
    beats.log.topics.extend("t", 2)
    refused = a.beat()
    assert (refused.error, refused.message) == (
        ErrorCode.UNKNOWN_SERVER_ERROR,
        "Failed to compute a new target assignment for epoch 3: no",
    )
    assert beats.taken() == []

    assignors["uniform"] = good
    a.beat()
    assert a.assigned == {"t": [0, 1]}


# --- regular expressions


def test_a_regular_expression_is_resolved_after_the_join() -> None:
    """In epoch 1 without partitions at first, in the next one with those of all topics that match."""
    beats = Beats(ta=1, tb=1, u=1)
    a = beats.member("a", subscribed_topic_names=None, subscribed_topic_regex="t.*")
    assert a.join().response.member_epoch == 1
    beats.log.advance(0)

    a.beat()

    assert (a.epoch, a.assigned) == (2, {"ta": [0], "tb": [0]})
    beats.taken()
    beats.log.advance(10_001)
    beats.log.topics.create(tc=1)
    a.beat()
    beats.log.advance(0)
    a.beat()
    assert (a.epoch, sorted(a.assigned)) == (3, ["ta", "tb", "tc"])


def test_the_version_of_a_different_cluster_does_not_count() -> None:
    """An imported group has one, which may be greater than any that is to come here for long."""
    beats = Beats(t=1)
    topics = beats.log.topics
    topics.version = topics.version_of_newest = 1_000_000
    a = beats.member("a", subscribed_topic_names=None, subscribed_topic_regex="t")
    a.join()
    beats.log.advance(0)
    assert beats.group.regexes["t"].version == 1_000_000

    topics.version = topics.version_of_newest = 1
    beats.log.advance(10_001)
    a.beat()
    beats.log.advance(0)

    assert beats.group.regexes["t"].version == 1


def test_an_invalid_expression_is_refused() -> None:
    beats = Beats(t=1)

    refused = beats.member("a", subscribed_topic_names=None, subscribed_topic_regex="[").join()

    assert refused.error is ErrorCode.INVALID_REGULAR_EXPRESSION
    assert refused.message is not None
    assert refused.message.startswith("SubscribedTopicRegex `[` is not a valid regular expression: ")
    assert beats.taken() == []


def test_an_expression_that_nobody_has_is_forgotten() -> None:
    """Whether its last member changes it, or leaves."""
    beats = Beats(t=1, u=1)
    a, b = (beats.member(name, subscribed_topic_names=None, subscribed_topic_regex="t") for name in "ab")
    a.join()
    b.join()
    beats.log.advance(0)
    assert set(beats.group.regexes) == {"t"}
    a.beat(subscribed_topic_regex="")
    assert set(beats.group.regexes) == {"t"}

    b.leave()

    assert not beats.group.regexes
    assert not beats.group.subscribed_topics


# --- groups of other kinds


def test_an_empty_classic_group_is_replaced() -> None:
    """Its offsets stay. If that cannot be written, it is there again."""
    beats = Beats(t=1)
    topic = OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 7)])
    beats.log.run(GroupShard.commit_offsets, OffsetCommitRequest("g", topics=[topic]), version=8)
    assert beats.member("a").beat(epoch=3).message == "Group g is not a consumer group."
    beats.log.is_holding = True
    beats.member("a").join()
    beats.log.fail()
    beats.log.is_holding = False
    beats.taken()

    beats.member("a").join()

    assert beats.taken() == ["-GroupMetadata", *JOINED]
    assert beats.log.shard.groups.type_of("g").name == "consumer"
    assert beats.log.shard.groups.offsets_of("g") == 1


def test_every_step_replays_to_the_same_state() -> None:
    """Live state is what the log says, after each of many requests."""
    beats = Beats(t=5, u=3)
    for number, name in enumerate("abcd"):
        beats.member(name, subscribed_topic_names=["t", "u"][: number % 2 + 1], instance_id=name if number > 1 else None).join()
        beats.settle()
    beats.member("c").leave(-2)
    beats.member("e", instance_id="c", subscribed_topic_names=["u"]).join()
    beats.member("a").leave()
    beats.member("a").epoch = beats.member("c").epoch = -1
    beats.settle()

    owners = [
        (topic, partition)
        for member in beats.members.values()
        if member.epoch > 0
        for topic in member.assigned
        for partition in member.assigned[topic]
    ]
    assert len(owners) == len(set(owners)) == 8
    live = beats.log.shard.digest(beats.log.committed_offset, 10**9)
    beats.log.restart()
    assert beats.log.shard.digest(beats.log.committed_offset, 10**9) == live
