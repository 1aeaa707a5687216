"""Groups of the newer protocols as an import leaves them."""

from __future__ import annotations

import pytest

from coordinator_server.group.describe import GroupFilter
from coordinator_server.group.restore import Restore, RestoredOffset
from coordinator_server.group.shard import GroupShard
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages import consumer_group_records as consumer
from protocol.messages import share_group_records as share
from protocol.messages import streams_group_records as streams
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from tests.support.group import GroupLog

JOIN = JoinGroupRequest("g", 10_000, 30_000, protocol_type="consumer", protocols=[JoinGroupRequestProtocol("range", b"x")])
EMPTY_CONSUMER = (consumer.ConsumerGroupMetadataKey("g"), consumer.ConsumerGroupTargetAssignmentMetadataKey("g"))
EMPTY_STREAMS = (streams.StreamsGroupMetadataKey("g"), streams.StreamsGroupTopologyKey("g"))
WITH_MEMBER = {
    "consumer": (*EMPTY_CONSUMER, consumer.ConsumerGroupMemberMetadataKey("g", "m")),
    "streams": (*EMPTY_STREAMS, streams.StreamsGroupMemberMetadataKey("g", "m")),
    "share": (share.ShareGroupMetadataKey("g"), share.ShareGroupMemberMetadataKey("g", "m")),
}
# Of a streams group, whose topology is not validated yet.
WITH_MEMBER_STATE = {"consumer": "Stable", "streams": "NotReady", "share": "Stable"}
EMPTY_SHARE = (share.ShareGroupMetadataKey("g"),)


def commit(generation_id: int = -1, member_id: str = "") -> OffsetCommitRequest:
    topic = OffsetCommitRequestTopic("orders", partitions=[OffsetCommitRequestPartition(3, 42)])
    return OffsetCommitRequest("g", generation_id, member_id, topics=[topic])


def value_of(key: Message) -> Message:
    _, value = GROUP_SERDE.types[key.kafka.key or 0]
    return value()


def log_of(*keys: Message) -> GroupLog:
    """A shard with a record of each key, as an import leaves it."""
    log = GroupLog()
    for key in keys:
        log.shard.replay(0, CoordinatorRecord(key, value_of(key)))
    return log


def listed(log: GroupLog, types: list[str] | None = None) -> list[tuple[str, str, str]]:
    rows = log.shard.list_groups(log.end_offset, GroupFilter.of((), types or ()))
    return [(row.group_id, row.group_state, row.group_type) for row in rows]


@pytest.mark.parametrize("kind", ["consumer", "share", "streams"])
def test_a_group_exists_while_one_of_its_records_does(kind: str) -> None:
    """Whichever record that is."""
    for key in GroupLog().shard.groups.types[kind].replay:
        log = log_of(key("g"))
        assert [row[::2] for row in listed(log)] == [("g", kind)]
        log.shard.replay(1, CoordinatorRecord(key("g"), None))
        assert listed(log) == []


def test_records_of_two_types_leave_one_group_of_one_type() -> None:
    """Which no sound log has: the first type of the table has it, whatever the order, and the other one when that is gone."""
    share_first, consumer_first = log_of(*EMPTY_SHARE, *EMPTY_CONSUMER), log_of(*EMPTY_CONSUMER, *EMPTY_SHARE)

    assert share_first.shard.groups.type_of("g").name == consumer_first.shard.groups.type_of("g").name == "consumer"
    for key in EMPTY_CONSUMER:
        share_first.shard.replay(9, CoordinatorRecord(key, None))
    assert share_first.shard.groups.type_of("g").name == "share"
    share_first.shard.replay(9, CoordinatorRecord(EMPTY_SHARE[0], None))
    assert share_first.shard.groups.type_of("g").name == "classic"


@pytest.mark.parametrize("kind", ["streams", "share"])
def test_a_group_with_members_lets_no_classic_member_in(kind: str) -> None:
    """INCONSISTENT_GROUP_PROTOCOL, no record, and the group is as it was."""
    log = log_of(*WITH_MEMBER[kind])

    refused = log.run(GroupShard.join_group, JOIN, version=9)

    assert (refused.response.error_code, refused.response.member_id) == (ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "")
    assert log.end_offset == 0
    assert listed(log) == [("g", WITH_MEMBER_STATE[kind], kind)]


def test_an_empty_share_group_does_neither() -> None:
    log = log_of(*EMPTY_SHARE)

    assert log.run(GroupShard.join_group, JOIN, version=9).response.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert listed(log) == [("g", "Empty", "share")]


@pytest.mark.parametrize("keys", [EMPTY_CONSUMER, EMPTY_STREAMS])
def test_an_empty_group_is_taken_over(keys: tuple[Message, ...]) -> None:
    """The first join writes the tombstones of its records and the classic group; offsets stay."""
    log = log_of(*keys)
    log.run(GroupShard.commit_offsets, commit(), version=9)

    log.run(GroupShard.join_group, JOIN, version=9)

    assert listed(log) == [("g", "Empty", "classic")]
    assert not log.shard.groups.others
    fetched = log.shard.fetch_offsets(log.end_offset, OffsetFetchRequestGroup("g", topics=None)).answer()
    assert [one.committed_offset for topic in fetched.topics for one in topic.partitions] == [42]


def test_a_takeover_that_cannot_be_written_is_taken_back() -> None:
    """The group is again what it was, and the next join takes it over."""
    log = log_of(*EMPTY_CONSUMER)
    log.is_holding = True
    log.run(GroupShard.join_group, JOIN, version=3)
    log.fail(ErrorCode.NOT_COORDINATOR)

    assert listed(log) == [("g", "Empty", "consumer")]
    log.is_holding = False
    log.run(GroupShard.join_group, JOIN, version=3)
    assert [row[::2] for row in listed(log)] == [("g", "classic")]


@pytest.mark.parametrize(
    ("keys", "request_", "error"),
    [
        (EMPTY_CONSUMER, commit(), None),
        (EMPTY_STREAMS, commit(), None),
        (EMPTY_CONSUMER, commit(5, "m"), ErrorCode.UNKNOWN_MEMBER_ID),
        (WITH_MEMBER["consumer"], commit(), ErrorCode.UNKNOWN_MEMBER_ID),
        (WITH_MEMBER["streams"], commit(5, "n"), ErrorCode.UNKNOWN_MEMBER_ID),
        (EMPTY_SHARE, commit(), ErrorCode.GROUP_ID_NOT_FOUND),
        (WITH_MEMBER["share"], commit(), ErrorCode.GROUP_ID_NOT_FOUND),
    ],
)
def test_only_administrators_commit_to_empty_imported_groups(
    keys: tuple[Message, ...], request_: OffsetCommitRequest, error: ErrorCode | None
) -> None:
    """An administrator while the group is empty; members could only be told from strangers by who serves them."""
    assert log_of(*keys).run(GroupShard.commit_offsets, request_, version=9).error is error


def test_a_group_that_commits_keeps_its_kind() -> None:
    """It is listed once, as what it is, and not described as a simple group."""
    log = log_of(*EMPTY_CONSUMER)
    log.run(GroupShard.commit_offsets, commit(), version=9)

    assert listed(log) == [("g", "Empty", "consumer")]
    assert listed(log, ["Consumer"]) == [("g", "Empty", "consumer")]
    assert listed(log, ["classic"]) == []
    described = log.run(lambda shard, *_: shard.describe_group(log.end_offset, "g"), JOIN, version=6)
    assert described.error is ErrorCode.GROUP_ID_NOT_FOUND


@pytest.mark.parametrize("keys", [EMPTY_CONSUMER, EMPTY_STREAMS, EMPTY_SHARE])
def test_an_empty_group_can_be_deleted(keys: tuple[Message, ...]) -> None:
    """With its offsets and every record of its own."""
    log = log_of(*keys)
    if keys is not EMPTY_SHARE:
        log.run(GroupShard.commit_offsets, commit(), version=9)

    [result] = log.run(GroupShard.delete_groups, ["g"], version=2).response

    assert result.error_code == ErrorCode.NONE
    assert listed(log) == []
    assert not log.shard.groups.classic.exists("g")


@pytest.mark.parametrize("kind", ["streams", "share"])
def test_a_group_with_members_cannot(kind: str) -> None:
    """A share group has no offsets that could be."""
    log = log_of(*WITH_MEMBER[kind])
    [result] = log.run(GroupShard.delete_groups, ["g"], version=2).response
    request = OffsetDeleteRequest("g", [OffsetDeleteRequestTopic("orders", [OffsetDeleteRequestPartition(3)])])
    offsets = log.run(GroupShard.delete_offsets, request, version=0)

    assert result.error_code == ErrorCode.NON_EMPTY_GROUP
    assert offsets.error is (ErrorCode.GROUP_ID_NOT_FOUND if kind == "share" else None)
    assert listed(log) == [("g", WITH_MEMBER_STATE[kind], kind)]


def test_offsets_of_an_empty_group_can_be_deleted() -> None:
    """The group itself stays."""
    log = log_of(*EMPTY_STREAMS)
    log.run(GroupShard.commit_offsets, commit(), version=9)
    before = log.shard.groups.offsets.by_group.get("g")
    request = OffsetDeleteRequest("g", [OffsetDeleteRequestTopic("orders", [OffsetDeleteRequestPartition(3)])])
    answer = log.run(GroupShard.delete_offsets, request, version=0).response

    assert before is not None
    assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE
    assert "g" not in log.shard.groups.offsets.by_group
    assert listed(log) == [("g", "Empty", "streams")]


RESTORE = Restore("g", [RestoredOffset("orders", 3, 7)], "then")


@pytest.mark.parametrize("kind", ["consumer", "streams"])
def test_offsets_under_members_are_not_restored(kind: str) -> None:
    """The members would not notice, and commit over them."""
    log = log_of(*WITH_MEMBER[kind])

    refused = log.run(GroupShard.restore_offsets, RESTORE, version=0)

    assert refused.error is ErrorCode.NON_EMPTY_GROUP
    assert refused.message == "group g has members: stop them first"
    assert log.end_offset == 0


@pytest.mark.parametrize("keys", [EMPTY_CONSUMER, EMPTY_STREAMS])
def test_offsets_of_an_empty_group_are_restored(keys: tuple[Message, ...]) -> None:
    """It stays what it is."""
    log = log_of(*keys)
    log.run(GroupShard.commit_offsets, commit(), version=9)

    restored = log.run(GroupShard.restore_offsets, RESTORE, version=0).response

    assert (restored.written, restored.deleted) == (1, 0)
    fetched = log.shard.fetch_offsets(log.end_offset, OffsetFetchRequestGroup("g", topics=None)).answer()
    assert [one.committed_offset for topic in fetched.topics for one in topic.partitions] == [7]
    assert not [row for row in listed(log) if row[2] == "classic"]


@pytest.mark.parametrize("keys", [EMPTY_SHARE, WITH_MEMBER["share"]])
def test_a_share_group_has_no_offsets_to_restore(keys: tuple[Message, ...]) -> None:
    """As it may not commit any."""
    refused = log_of(*keys).run(GroupShard.restore_offsets, RESTORE, version=0)

    assert refused.error is ErrorCode.GROUP_ID_NOT_FOUND
    assert refused.message == "group g is a share group, which commits no offsets: nothing to restore"
