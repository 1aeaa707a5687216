"""ShareGroupHeartbeat (KIP-932): what a member may say, what it is told, and what is written."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.group.describe import GroupFilter
from coordinator_server.group.fetch import LatestFetch
from coordinator_server.group.shard import GroupShard
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_delete import OffsetDeleteRequest
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.support.share_beats import ShareBeats, config_of

JOINED = [
    "MemberMetadata",
    "Metadata",
    "TargetAssignmentMember",
    "TargetAssignmentMetadata",
    "CurrentMemberAssignment",
    "StatePartitionMetadata",
]
ASSIGNED = ["Metadata", "TargetAssignmentMember", "TargetAssignmentMetadata", "CurrentMemberAssignment"]
LEFT = ["-CurrentMemberAssignment", "-TargetAssignmentMember", "-MemberMetadata", "Metadata"]
LONGEST_ID = "m" * 36


def joining(**fields: Any) -> ShareGroupHeartbeatRequest:
    return ShareGroupHeartbeatRequest(**{"group_id": "g", "member_id": "m", "subscribed_topic_names": ["t"], **fields})


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (joining(member_id=""), None),
        (joining(member_id=LONGEST_ID + "m"), None),
        (joining(member_id="\U0001f600" * 19), None),
        (joining(member_id=" \t"), "MemberId can't be empty."),
        (joining(group_id=""), "GroupId can't be empty."),
        (joining(rack_id=""), "RackId can't be empty."),
        (joining(subscribed_topic_names=None), "SubscribedTopicNames must be set in first request."),
        (joining(subscribed_topic_names=[]), "SubscribedTopicNames must be set in first request."),
        (joining(member_epoch=-2), "MemberEpoch is invalid."),
    ],
)
def test_an_invalid_request_is_refused(request_: ShareGroupHeartbeatRequest, message: str | None) -> None:
    """INVALID_REQUEST with Kafka's message, in its order."""
    beats = ShareBeats(t=1)

    refused = beats.member("m").send(request_)

    assert (refused.error, refused.message) == (ErrorCode.INVALID_REQUEST, message)
    assert beats.taken() == []


def test_the_longest_member_id_is_accepted() -> None:
    assert ShareBeats(t=1).member(LONGEST_ID).join().error is None


def test_a_first_member_joins_and_has_nothing_yet() -> None:
    """Partitions are assigned when they have a state. Until then the member's assignment is empty."""
    beats = ShareBeats(t=2)
    member = beats.member("m")

    answer = member.join(rack_id="r").response

    assert beats.taken() == JOINED
    assert (answer.member_id, answer.member_epoch, answer.heartbeat_interval_ms) == ("m", 2, 5000)
    assert answer.assignment is not None
    assert answer.assignment.topic_partitions == []
    assert beats.state_topics() == {"initializing": {"t": [0, 1]}, "initialized": {}}
    joined = beats.group.members["m"]
    assert (joined.metadata.rack_id, joined.metadata.client_id, joined.metadata.client_host) == ("r", "client", "/127.0.0.1")
    assert (joined.member_epoch, joined.previous_member_epoch) == (2, 0)


def test_initialized_partitions_are_assigned_at_the_next_heartbeat() -> None:
    beats = ShareBeats(t=2)
    member = beats.member("m")
    member.join()
    beats.taken()
    beats.initialize()
    assert beats.taken() == ["StatePartitionMetadata"]
    assert beats.state_topics() == {"initializing": {}, "initialized": {"t": [0, 1]}}

    answer = member.beat().response

    assert beats.taken() == ASSIGNED
    assert (answer.member_epoch, member.assigned) == (3, {"t": [0, 1]})
    assert member.beat().response.assignment is None
    assert beats.taken() == []


def test_partitions_are_shared() -> None:
    """Each member has one, though there are more members than partitions."""
    beats = ShareBeats(t=2)
    members = beats.joined("a", "b", "c")

    assert sorted(partition for member in members for partition in member.assigned["t"]) in ([0, 0, 1], [0, 1, 1], [0, 0, 1, 1])
    assert all(member.assigned["t"] for member in members)


def test_members_that_subscribe_to_different_topics() -> None:
    beats = ShareBeats(t=2, u=1)
    one, both = beats.member("a"), beats.member("b", "t", "u")
    one.join()
    both.join()
    beats.initialize()
    beats.settle()

    assert both.assigned["u"] == [0]
    assert sorted(one.assigned["t"] + both.assigned["t"]) == [0, 1]


def test_a_changed_subscription_changes_the_assignment() -> None:
    beats = ShareBeats(t=1, u=1)
    [member] = beats.joined("m")
    beats.taken()

    member.beat(subscribed_topic_names=["u"])
    beats.initialize()
    member.beat()

    assert member.assigned == {"u": [0]}
    # The state of a topic that nobody subscribes to stays.
    assert beats.state_topics()["initialized"] == {"t": [0], "u": [0]}


def test_a_steady_heartbeat_keeps_the_session_alive() -> None:
    """It takes a short way, as long as nothing has changed that it looks at."""
    beats = ShareBeats(t=1)
    [member] = beats.joined("m")
    for _ in range(3):
        beats.log.advance(40_000)
        assert member.beat().response.assignment is None
    beats.log.own_settings["g"] = {"share.heartbeat.interval.ms": "6000"}

    assert member.beat().response.heartbeat_interval_ms == 6000
    beats.log.topics.extend("t", 2)
    member.beat()
    beats.initialize()
    assert member.beat().response.assignment is not None
    assert member.assigned == {"t": [0, 1]}


def test_a_full_request_gets_the_assignment_again() -> None:
    beats = ShareBeats(t=1)
    [member] = beats.joined("m")
    beats.taken()

    assert member.beat(subscribed_topic_names=["t"]).response.assignment is not None
    assert beats.taken() == []


def test_the_previous_epoch_is_accepted_and_others_are_fenced() -> None:
    """The answer with the newer epoch may have been lost."""
    beats = ShareBeats(t=1)
    [member] = beats.joined("m")
    epoch = member.epoch

    assert member.beat(epoch=epoch - 1).error is None
    older, newer = member.beat(epoch=epoch - 2), member.beat(epoch=epoch + 1)
    assert older.error is newer.error is ErrorCode.FENCED_MEMBER_EPOCH
    assert older.message is not None
    assert f"smaller member epoch ({epoch - 2})" in older.message
    assert f"does not match the previous member epoch ({epoch - 1})" in older.message
    assert newer.message is not None
    assert f"greater member epoch ({epoch + 1})" in newer.message


def test_a_heartbeat_of_an_unknown_share_member_is_refused() -> None:
    beats = ShareBeats(t=1)
    absent, gone = beats.member("m").beat(epoch=1), beats.member("m").leave()
    assert (absent.error, absent.message) == (ErrorCode.GROUP_ID_NOT_FOUND, "Share group g not found.")
    assert (gone.error, gone.message) == (ErrorCode.GROUP_ID_NOT_FOUND, "Group g not found.")
    beats.joined("m")

    for reply in (beats.member("n").beat(epoch=1), beats.member("n").leave()):
        assert (reply.error, reply.message) == (ErrorCode.UNKNOWN_MEMBER_ID, "Member n is not a member of group g.")


def test_a_member_leaves() -> None:
    """Its partitions go to the others, and the last one leaves an empty group, which stays."""
    beats = ShareBeats(t=2)
    one, other = beats.joined("a", "b")
    beats.taken()

    answer = one.leave().response
    assert beats.taken() == LEFT
    assert (answer.member_id, answer.member_epoch) == ("a", -1)
    del beats.members["a"]
    beats.settle()
    assert other.assigned == {"t": [0, 1]}

    other.leave()
    assert not beats.group.members
    [listed] = beats.log.shard.list_groups(beats.log.end_offset, GroupFilter.of(["empty"], ["share"]))
    assert (listed.group_id, listed.protocol_type, listed.group_state, listed.group_type) == ("g", "share", "Empty", "share")
    assert beats.log.shard.expiring(beats.log.end_offset, "g") == []


def test_a_share_group_member_expires_after_its_session_timeout() -> None:
    """On the server's own time, with the group's timeout; a heartbeat begins it anew."""
    beats = ShareBeats(t=1)
    beats.log.own_settings["g"] = {"share.session.timeout.ms": "50000", "share.heartbeat.interval.ms": "6000"}
    [member] = beats.joined("m")
    beats.taken()
    beats.log.advance(40_000)
    assert member.beat().response.heartbeat_interval_ms == 6000
    beats.log.advance(49_999)
    assert beats.taken() == []

    beats.log.advance(1)

    assert beats.taken() == LEFT
    assert [name for name, _ in beats.log.news][-2:] == ["session-expired", "rebalanced"]
    assert member.beat().error is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_full_group_takes_nobody_else() -> None:
    beats = ShareBeats(config_of(group_share_max_size="1"), t=1)
    [member] = beats.joined("m")

    refused = beats.member("n").join()

    assert refused.error is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert refused.message == "The share group has reached its maximum capacity of 1 members."
    assert member.join().error is None


def test_an_assignment_waits_for_the_interval() -> None:
    """No timer applies it: the next heartbeat after the interval does."""
    beats = ShareBeats(config_of(group_share_assignment_interval_ms="1000"), t=2)
    member = beats.member("m")
    member.join()
    beats.initialize()
    beats.taken()
    member.beat()
    assert (beats.taken(), member.assigned) == (["Metadata"], {})
    beats.log.advance(999)
    member.beat()
    assert beats.taken() == []

    beats.log.advance(1)
    member.beat()

    assert (beats.taken(), member.assigned) == (ASSIGNED[1:], {"t": [0, 1]})


def test_topics_that_change_are_seen_at_the_next_heartbeat() -> None:
    """A new partition gets a state before it is assigned; a topic that is gone is assigned no longer."""
    beats = ShareBeats(t=1)
    [member] = beats.joined("m")
    beats.taken()

    beats.log.topics.extend("t", 2)
    member.beat()
    assert beats.state_topics() == {"initializing": {"t": [1]}, "initialized": {"t": [0]}}
    beats.initialize()
    beats.settle()
    assert member.assigned == {"t": [0, 1]}

    beats.log.topics.delete("t")
    beats.settle()
    assert member.assigned == {}

    beats.log.topics.create(t=1)
    beats.settle()
    assert member.assigned == {"t": [0]}


def test_other_types_do_not_become_share_groups() -> None:
    """Even if they are empty."""
    beats = ShareBeats(t=1)
    consumer = ConsumerGroupHeartbeatRequest("g", "c", 0, None, None, 60_000, ["t"], None, None, [])
    leaving = ConsumerGroupHeartbeatRequest("g", "c", -1)
    beats.log.run(GroupShard.consumer_group_heartbeat, consumer, version=1)
    beats.log.run(GroupShard.consumer_group_heartbeat, leaving, version=1)
    commit = OffsetCommitRequest("s", topics=[OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 1)])])
    beats.log.run(GroupShard.commit_offsets, commit, version=9)

    for group_id in ("g", "s"):
        for epoch in (0, 1, -1):
            refused = beats.member("m").send(joining(group_id=group_id, member_epoch=epoch))
            assert (refused.error, refused.message) == (
                ErrorCode.GROUP_ID_NOT_FOUND,
                f"Group {group_id} is not a share group.",
            )


def test_a_share_group_does_not_become_another() -> None:
    """Even if it is empty, and it has no offsets of its own."""
    beats = ShareBeats(t=1)
    [member] = beats.joined("m")
    member.leave()
    log = beats.log
    consumer = ConsumerGroupHeartbeatRequest("g", "c", 0, None, None, 60_000, ["t"], None, None, [])
    join = JoinGroupRequest("g", 10_000, 30_000, protocol_type="consumer", protocols=[JoinGroupRequestProtocol("range", b"x")])

    refused = log.run(GroupShard.consumer_group_heartbeat, consumer, version=1)
    assert (refused.error, refused.message) == (ErrorCode.GROUP_ID_NOT_FOUND, "Group g is not a consumer group.")
    assert log.run(GroupShard.join_group, join, version=3).response.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert log.run(GroupShard.commit_offsets, OffsetCommitRequest("g"), version=9).error is ErrorCode.GROUP_ID_NOT_FOUND
    assert log.run(GroupShard.delete_offsets, OffsetDeleteRequest("g"), version=0).error is ErrorCode.GROUP_ID_NOT_FOUND
    fetched = log.run(GroupShard.fetch_latest_offsets, LatestFetch(OffsetFetchRequestGroup("g")), version=9)
    assert (fetched.error, fetched.response.answer().topics) == (None, [])
    described = log.run(lambda shard, *_: shard.describe_group(log.end_offset, "g"), None, version=6)
    assert (described.error, described.message) == (ErrorCode.GROUP_ID_NOT_FOUND, "Group g is not a classic group.")


def test_a_group_is_described() -> None:
    """As of the committed offset. Partitions of topics that are gone are left out."""
    beats = ShareBeats(t=2)
    beats.joined("m")
    log = beats.log
    undescribed = log.shard.modern_group_at(log.committed_offset, ("share", "g"))
    [(member, _)] = list(undescribed.described_members())

    head = undescribed.head
    assert (head.group_state, head.group_epoch, head.assignment_epoch, head.assignor_name) == ("Stable", 3, 3, "simple")
    assert (member.member_id, member.member_epoch, member.client_id, member.client_host) == ("m", 3, "client", "/127.0.0.1")
    assert member.subscribed_topic_names == ["t"]
    assert [(each.topic_name, each.partitions) for each in member.assignment.topic_partitions] == [("t", [0, 1])]

    log.topics.delete("t")
    [(member, _)] = list(log.shard.modern_group_at(log.committed_offset, ("share", "g")).described_members())
    assert member.assignment.topic_partitions == []


def test_who_is_not_a_share_group_is_not_described() -> None:
    log = ShareBeats(t=1).log
    commit = OffsetCommitRequest("s", topics=[OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 1)])])
    log.run(GroupShard.commit_offsets, commit, version=9)

    def describe(group_id: str) -> tuple[ErrorCode | None, str | None]:
        reply = log.run(lambda shard, *_: shard.modern_group_at(log.end_offset, ("share", group_id)), None, version=1)
        return reply.error, reply.message

    assert describe("none") == (ErrorCode.GROUP_ID_NOT_FOUND, "Group none not found.")
    assert describe("s") == (ErrorCode.GROUP_ID_NOT_FOUND, "Group s is not a share group.")


def test_a_heartbeat_that_is_not_written_is_forgotten() -> None:
    """The member has no session, and nothing is asked of other shards."""
    beats = ShareBeats(t=1)
    beats.log.is_holding = True
    member = beats.member("m")
    reply = member.join()
    beats.log.fail()

    assert reply.error is ErrorCode.NOT_COORDINATOR
    assert ("share-session", "g", "m") not in beats.log.timer.keys
    assert beats.log.outbox.messages == {}
    assert "g" not in beats.log.shard.groups.share.by_id


def test_too_many_topics_are_refused() -> None:
    beats = ShareBeats(t=1)

    refused = beats.member("m", *(f"t{number}" for number in range(5_001))).join()

    assert refused.error is ErrorCode.INVALID_REQUEST
    assert beats.log.reports == ["member-refused"]


def test_the_memory_of_members_is_bounded() -> None:
    beats = ShareBeats(config_of(group_max_bytes="65536"), t=1)
    for name in "ab":
        beats.member(name).join(rack_id="r" * 30_000)

    refused = beats.member("c").join(rack_id="r" * 30_000)

    assert (refused.error, beats.log.reports) == (ErrorCode.GROUP_MAX_SIZE_REACHED, ["group-full"])
    assert refused.message == "The members of the share group take too much memory."
