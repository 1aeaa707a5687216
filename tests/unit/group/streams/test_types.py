"""Streams groups beside groups of other types, in lists and descriptions, and their deletion."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.group.describe import GroupFilter
from coordinator_server.group.shard import GroupShard
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from protocol.messages.leave_group import LeaveGroupRequest
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from protocol.messages.streams_group_describe import TopicInfo as DescribedTopic
from protocol.messages.streams_group_heartbeat import Endpoint, KeyValue, TopicInfo
from protocol.messages.sync_group import SyncGroupRequest
from tests.support.streams_beats import StreamsBeats, config_of, topology

JOIN = JoinGroupRequest("g", 10_000, 30_000, protocol_type="consumer", protocols=[JoinGroupRequestProtocol("range", b"x")])


def listed(beats: StreamsBeats, *states: str) -> list[tuple[str, str, str]]:
    found = beats.log.shard.list_groups(beats.log.end_offset, GroupFilter.of(states, ()))
    return [(each.protocol_type, each.group_state, each.group_type) for each in found]


def described(beats: StreamsBeats) -> Any:
    return beats.log.shard.modern_group_at(beats.log.end_offset, ("streams", "g")).described()


def test_it_is_listed_with_its_state() -> None:
    """The filter calls NotReady ``not_ready``, as Kafka does."""
    beats = StreamsBeats()
    beats.member("a").join()
    assert listed(beats, "Not_Ready") == listed(beats) == [("streams", "NotReady", "streams")]
    assert listed(beats, "NotReady") == []
    beats.log.topics.create(t=1)
    beats.settle()

    assert listed(beats, "stable") == [("streams", "Stable", "streams")]


def test_it_is_described() -> None:
    """With its topology: its internal topics have their partitions once it is ready."""
    beats = StreamsBeats(t=2)
    beats.topology = topology(5, "t", stores=("log", "changes"))
    beats.topology.subtopologies[0].state_changelog_topics[0].topic_configs = [KeyValue("cleanup.policy", "compact")]
    beats.topology.subtopologies[0].repartition_sink_topics = ["z", "y"]
    member = beats.member("a")
    member.join(user_endpoint=Endpoint("h", 1), client_tags=[KeyValue("zone", "b")], rack_id="r")
    group = described(beats)
    [subtopology] = group.topology.subtopologies
    assert (group.group_state, group.topology.epoch) == ("NotReady", 5)
    assert [(each.name, each.partitions) for each in subtopology.state_changelog_topics] == [("changes", 0), ("log", 0)]

    beats.log.topics.create(log=2, changes=2)
    beats.settle()
    group = described(beats)
    [subtopology] = group.topology.subtopologies
    [one] = group.members
    assert (group.group_state, group.group_epoch, group.assignment_epoch) == ("Stable", 3, 3)
    assert subtopology.state_changelog_topics[0] == DescribedTopic("changes", 2, 0, [])
    assert [(each.key, each.value) for each in subtopology.state_changelog_topics[1].topic_configs] == [
        ("cleanup.policy", "compact")
    ]
    assert (subtopology.source_topics, subtopology.repartition_sink_topics) == (["t"], ["y", "z"])
    assert (one.member_id, one.member_epoch, one.process_id, one.topology_epoch, one.rack_id) == ("a", 3, "process-a", 5, "r")
    assert (one.user_endpoint.host, one.user_endpoint.port, one.client_tags[0].value) == ("h", 1, "b")
    assert [(each.subtopology_id, each.partitions) for each in one.assignment.active_tasks] == [("0", [0, 1])]
    assert one.target_assignment.active_tasks == one.assignment.active_tasks
    units = [units for _, units in beats.log.shard.modern_group_at(beats.log.end_offset, ("streams", "g")).described_members()]
    assert units == [4 + 2]


@pytest.mark.parametrize(
    ("operation", "request_", "error"),
    [
        (GroupShard.sync_group, SyncGroupRequest("g", 1, "m"), ErrorCode.UNKNOWN_MEMBER_ID),
        (GroupShard.heartbeat, HeartbeatRequest("g", 1, "m"), ErrorCode.UNKNOWN_MEMBER_ID),
        (GroupShard.leave_group, LeaveGroupRequest("g", "m"), ErrorCode.UNKNOWN_MEMBER_ID),
        (GroupShard.join_group, JOIN, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        (
            GroupShard.consumer_group_heartbeat,
            ConsumerGroupHeartbeatRequest("g", "m", 0, rebalance_timeout_ms=1, subscribed_topic_names=["t"], topic_partitions=[]),
            ErrorCode.GROUP_ID_NOT_FOUND,
        ),
        (
            GroupShard.share_group_heartbeat,
            ShareGroupHeartbeatRequest("g", "m", 0, None, ["t"]),
            ErrorCode.GROUP_ID_NOT_FOUND,
        ),
    ],
)
def test_members_of_other_protocols_are_refused(operation: Any, request_: Any, error: ErrorCode) -> None:
    beats = StreamsBeats(t=1)
    beats.joined("a")
    beats.taken()

    reply = beats.log.run(operation, request_, version=1)
    found = reply.error if reply.error is not None else ErrorCode(reply.response.error_code)
    assert (found, beats.taken()) == (error, [])


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        (
            GroupShard.consumer_group_heartbeat,
            ConsumerGroupHeartbeatRequest("g", "m", 0, rebalance_timeout_ms=1, subscribed_topic_names=["t"], topic_partitions=[]),
        ),
        (GroupShard.share_group_heartbeat, ShareGroupHeartbeatRequest("g", "m", 0, None, ["t"])),
        (GroupShard.join_group, JOIN),
    ],
)
def test_it_does_not_enter_a_group_of_another_type(operation: Any, request_: Any) -> None:
    beats = StreamsBeats(t=1)
    beats.log.run(operation, request_, version=1)
    member = beats.member("a")

    for beat in (member.join, member.leave, lambda: member.beat(epoch=2)):
        refused = beat()
        assert (refused.error, refused.message) == (ErrorCode.GROUP_ID_NOT_FOUND, "Group g is not a streams group.")


def test_there_is_no_group_before_a_join() -> None:
    member = StreamsBeats(t=1).member("a")

    assert member.beat(epoch=1).message == "Streams group g not found."
    assert member.leave().message == "Group g not found."


def test_it_replaces_an_empty_classic_group() -> None:
    """The offsets stay. An empty streams group is replaced by a classic one in turn."""
    beats = StreamsBeats(t=1)
    topic = OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 42)])
    beats.log.run(GroupShard.commit_offsets, OffsetCommitRequest("g", -1, topics=[topic]), version=9)
    beats.taken()
    beats.joined("a")
    assert beats.taken()[:4] == ["-GroupMetadata", "MemberMetadata", "Topology", "Metadata"]
    assert beats.log.shard.newest_commit(beats.log.end_offset, "g") is not None

    beats.member("a").leave()
    beats.taken()
    beats.log.run(GroupShard.join_group, JOIN, version=3)
    assert beats.taken()[:3] == ["-TargetAssignmentMetadata", "-Metadata", "-Topology"]
    assert listed(beats) == [("consumer", "PreparingRebalance", "classic")]


def test_a_group_without_members_is_deleted() -> None:
    """Its records in Kafka's order. A new one waits anew for its first assignment."""
    beats = StreamsBeats(config_of(group_streams_initial_rebalance_delay_ms="3000"), t=1)
    member = beats.member("a")
    member.join()
    [refused] = beats.log.run(GroupShard.delete_groups, ["g"], version=2).response
    assert refused.error_code == ErrorCode.NON_EMPTY_GROUP
    beats.log.advance(2000)
    member.leave()
    beats.taken()

    beats.log.run(GroupShard.delete_groups, ["g"], version=2)
    assert beats.taken() == ["-TargetAssignmentMetadata", "-Metadata", "-Topology"]
    assert not beats.log.shard.groups.streams.subscribed_to("t")
    assert not beats.log.shard.groups.streams_context.delayed
    member.join()
    beats.log.advance(2999)
    member.beat()
    assert member.active == {}
    beats.log.advance(1)
    member.beat()
    assert member.active == {"0": [0]}


def test_no_timer_stays_when_the_shard_is_unloaded() -> None:
    beats = StreamsBeats(config_of(group_streams_initial_rebalance_delay_ms="3000"), t=1)
    beats.member("a").join()

    beats.log.shard.on_unloaded()
    assert {key for key in beats.log.timer.keys if "streams" in str(key)} == set()


def test_a_member_that_is_too_large_is_refused() -> None:
    """So is a topology. Neither writes anything."""
    beats = StreamsBeats(config_of(message_max_bytes="100000"), t=1)
    member = beats.member("a")

    assert member.join(client_tags=[KeyValue(str(each), "v" * 1000) for each in range(200)]).error is ErrorCode.INVALID_REQUEST
    beats.topology = topology(0, "t", stores=tuple(f"store-{each}" for each in range(300)))
    assert member.join().error is ErrorCode.INVALID_REQUEST
    beats.topology.subtopologies[0].state_changelog_topics = [TopicInfo(f"s{each}") for each in range(5001)]
    assert member.join().message == "A member may name 5000 topics."
    assert beats.records == []
