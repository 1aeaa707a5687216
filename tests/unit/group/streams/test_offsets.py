"""Offsets of streams groups: who may commit, read and delete them, and when they expire (``StreamsGroup.validateOffsetCommit``)."""

from __future__ import annotations

import pytest

from coordinator_server.group.fetch import LatestFetch
from coordinator_server.group.shard import GroupShard
from protocol.error_codes import ErrorCode
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from tests.support.group import FakeReply
from tests.support.streams_beats import StreamsBeats, topology

DAY_MS = 24 * 3_600_000
STALE, UNKNOWN = ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID


@pytest.fixture
def beats() -> StreamsBeats:
    """Two members, each with two of four tasks."""
    found = StreamsBeats(t=4, other=4)
    found.joined("a", "b")
    return found


def commit(beats: StreamsBeats, member_id: str, epoch: int, *partitions: int, topic: str = "t", version: int = 9) -> FakeReply:
    known = beats.log.topics.topic(topic)
    named = OffsetCommitRequestTopic(
        topic,
        b"\0" * 16 if known is None else known.topic_id,
        [OffsetCommitRequestPartition(each, 7) for each in partitions],
    )
    return beats.log.run(GroupShard.commit_offsets, OffsetCommitRequest("g", epoch, member_id, topics=[named]), version=version)


def test_a_member_commits_in_its_epoch(beats: StreamsBeats) -> None:
    """Any partition, as in Kafka. An administrator does not, while there are members."""
    assert commit(beats, "a", 3, 0, 3, topic="other").error is None
    assert commit(beats, "a", 4, 0).error is STALE
    assert commit(beats, "c", 3, 0).error is UNKNOWN
    assert commit(beats, "", -1, 0).error is UNKNOWN


def test_versions_without_member_epochs_are_refused(beats: StreamsBeats) -> None:
    refused = commit(beats, "a", 3, 0, version=8)

    assert refused.error is ErrorCode.UNSUPPORTED_VERSION
    assert refused.message == "OffsetCommit version 9 or above must be used by members using the streams group protocol"


def test_an_older_epoch_is_good_for_tasks_that_the_member_had_then(beats: StreamsBeats) -> None:
    """For those of its topology alone: one partition that is not refuses the whole commit."""
    assert commit(beats, "a", 2, 0, 1).error is None
    assert commit(beats, "a", 2, 0, 3).error is STALE
    assert commit(beats, "b", 2, 2).error is STALE
    assert commit(beats, "a", 2, 0, topic="other").error is STALE
    assert commit(beats, "a", 1, 0).error is STALE


def test_members_read_in_their_epoch(beats: StreamsBeats) -> None:
    """Requests that name no member are accepted."""

    def refusal(member_id: str | None, epoch: int) -> ErrorCode | None:
        request = LatestFetch(OffsetFetchRequestGroup("g", member_id, epoch, topics=None), False)
        return beats.log.run(GroupShard.fetch_latest_offsets, request, version=9).error

    assert refusal(None, -1) is refusal("a", 3) is None
    assert refusal("a", 2) is STALE
    assert refusal("c", 3) is UNKNOWN


def test_offsets_of_topics_that_members_read_are_not_deleted(beats: StreamsBeats) -> None:
    commit(beats, "a", 3, 0)
    commit(beats, "a", 3, 0, topic="other")
    topics = [OffsetDeleteRequestTopic(name, [OffsetDeleteRequestPartition(0)]) for name in ("t", "other")]

    answer = beats.log.run(GroupShard.delete_offsets, OffsetDeleteRequest("g", topics), version=0).response
    assert [topic.partitions[0].error_code for topic in answer.topics] == [ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC, ErrorCode.NONE]


def test_offsets_of_topics_that_members_read_do_not_expire(beats: StreamsBeats) -> None:
    """Those of changelog topics do, and all when the group is empty: then it is deleted with the last one."""
    commit(beats, "a", 3, 0)
    commit(beats, "a", 3, 0, topic="other")
    assert [(each.topic, each.partition) for each in beats.log.shard.expiring(beats.log.end_offset, "g")] == [("other", 0)]
    for member in beats.members.values():
        member.leave()
    assert {each.topic for each in beats.log.shard.expiring(beats.log.end_offset, "g")} == {"t", "other"}

    beats.taken()
    beats.log.advance(8 * DAY_MS)
    assert beats.taken() == ["-OffsetCommit", "-OffsetCommit", "-TargetAssignmentMetadata", "-Metadata", "-Topology"]
    assert "g" not in beats.log.shard.groups.streams.by_id


def test_changelog_topics_are_not_read() -> None:
    """A group consumes them for its hash alone."""
    beats = StreamsBeats(t=1, log=1)
    beats.topology = topology(0, "t", stores=("log",))
    beats.joined("a")
    commit(beats, "a", 2, 0, topic="log")

    assert [each.topic for each in beats.log.shard.expiring(beats.log.end_offset, "g")] == ["log"]
    assert beats.log.shard.groups.types["streams"].is_subscribed_to("g", "t")
    assert not beats.log.shard.groups.types["streams"].is_subscribed_to("g", "log")
