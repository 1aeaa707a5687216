"""Who may commit, read and delete offsets of a consumer group, and which of them expire."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from coordinator_server.group.fetch import LatestFetch
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.offsets.commit_topic import PlainTopic
from coordinator_server.offsets.logged_shape import LoggedShape
from protocol.codec import encode
from protocol.error_codes import ErrorCode
from protocol.messages import consumer_group_records as records
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from protocol.plain_commits import CommitReader, PlainCommit
from tests.support.configs import config_with
from tests.support.consumer_group import log_of, write
from tests.support.consumer_records import (
    UNREVOKED,
    Pair,
    current,
    group_epoch,
    left,
    member,
    pair,
    target,
    target_epoch,
)
from tests.support.group import GroupLog

ORDERS, PAYMENTS = (number.to_bytes(16, "big") for number in (1, 2))
OK, STALE, ILLEGAL = None, ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.ILLEGAL_GENERATION
UNKNOWN, OLD_VERSION = ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.UNSUPPORTED_VERSION
HOUR_MS = 3_600_000


def group_of(*, is_classic: bool = False) -> list[Pair]:
    """A member in epoch 7: orders-0 since 7, orders-1 since 5, and payments-2, which it must give up, since 6."""
    of_topics = [(ORDERS, {0: 7, 1: 5})], [(PAYMENTS, {2: 6})]
    return [
        group_epoch("g", 7),
        member("g", "m", is_classic=is_classic),
        target_epoch("g", 7),
        _with_epochs(*of_topics),
    ]


def _with_epochs(assigned: list[tuple[bytes, dict[int, int]]], revoking: list[tuple[bytes, dict[int, int]]]) -> Pair:
    both = [[records.TopicPartitions(each, list(of), list(of.values())) for each, of in part] for part in (assigned, revoking)]
    key = records.ConsumerGroupCurrentMemberAssignmentKey("g", "m")
    return pair(key, records.ConsumerGroupCurrentMemberAssignmentValue(7, 6, UNREVOKED, *both))


def commit(epoch: int, *partitions: tuple[str, int], member_id: str = "m", metadata: str = "") -> OffsetCommitRequest:
    topics = [
        OffsetCommitRequestTopic(
            name, ORDERS if name == "orders" else PAYMENTS, [OffsetCommitRequestPartition(index, 42, -1, metadata)]
        )
        for name, index in partitions
    ]
    return OffsetCommitRequest("g", epoch, member_id, topics=topics)


@pytest.mark.parametrize(
    ("epoch", "partitions", "native", "classic"),
    [
        (7, [("payments", 3)], OK, OK),  # not its own: the epoch is enough
        (8, [("orders", 0)], STALE, ILLEGAL),
        (6, [("orders", 0)], STALE, ILLEGAL),
        (6, [("orders", 1)], OK, OK),
        (5, [("orders", 1)], OK, OK),
        (4, [("orders", 1)], STALE, ILLEGAL),
        (6, [("payments", 2)], OK, OK),
        (5, [("payments", 2)], STALE, ILLEGAL),
        (6, [("payments", 3)], STALE, ILLEGAL),
        (6, [("orders", 1), ("orders", 0)], STALE, ILLEGAL),
        (-1, [("orders", 1)], STALE, ILLEGAL),
    ],
)
def test_a_member_commits_in_its_epoch_or_for_what_it_has_had_since_an_older_one(
    epoch: int, partitions: list[tuple[str, int]], native: ErrorCode | None, classic: ErrorCode | None
) -> None:
    """KIP-1251. If one partition is refused, the whole commit is. In a transaction, every refusal is ILLEGAL_GENERATION."""
    for is_classic, expected in ((False, native), (True, classic)):
        for version in (9, 10):
            log = log_of(*group_of(is_classic=is_classic))
            assert log.run(GroupShard.commit_offsets, commit(epoch, *partitions), version=version).error is expected
            assert bool(log.hard_state()) is (expected is None)
        transactional = log_of(*group_of(is_classic=is_classic)).run(
            GroupShard.commit_in_transaction, commit(epoch, *partitions), version=5
        )
        assert transactional.error is (expected and ILLEGAL)


@pytest.mark.parametrize(("epoch", "error"), [(7, OK), (6, OK), (4, STALE)])
def test_a_plain_commit_is_checked_as_one_that_is_spelled_out(epoch: int, error: ErrorCode | None) -> None:
    """And writes what that writes."""
    read, _ = CommitReader(9, LoggedShape).read(request := encode(commit(epoch, ("orders", 1)), 9), 0)
    assert isinstance(read, PlainCommit), request
    read.shape.log_as([PlainTopic("g", name, ORDERS, partitions) for name, _, partitions in read.shape.topics])
    plain, spelled_out = log_of(*group_of()), log_of(*group_of())

    assert plain.run(GroupShard.commit_plain, read, version=9).error is error
    assert spelled_out.run(GroupShard.commit_offsets, commit(epoch, ("orders", 1)), version=9).error is error

    assert plain.hard_state() == spelled_out.hard_state()
    assert bool(plain.hard_state()) is (error is None)


def test_a_partition_with_too_much_metadata_is_not_checked() -> None:
    """It is refused anyway, alone."""
    log = log_of(*group_of(), config=config_with(offset_metadata_max_bytes=4))

    answer = log.run(GroupShard.commit_offsets, commit(6, ("payments", 3), metadata="12345"), version=9).response

    assert answer.topics[0].partitions[0].error_code == ErrorCode.OFFSET_METADATA_TOO_LARGE


def test_members_of_the_new_protocol_need_a_version_that_knows_epochs() -> None:
    """Classic members do not; nor does anything else come before who the member is."""
    for version in range(2, 9):
        assert log_of(*group_of()).run(GroupShard.commit_offsets, commit(7, ("orders", 0)), version=version).error is OLD_VERSION
        classic = log_of(*group_of(is_classic=True))
        assert classic.run(GroupShard.commit_offsets, commit(7, ("orders", 0)), version=version).error is OK
        stranger = commit(7, ("orders", 0), member_id="n")
        assert log_of(*group_of()).run(GroupShard.commit_offsets, stranger, version=version).error is UNKNOWN


def test_a_commit_without_a_member_needs_an_empty_group_or_a_transaction() -> None:
    anonymous = commit(-1, ("orders", 0), member_id="")
    assert log_of(*group_of()).run(GroupShard.commit_offsets, anonymous, version=9).error is UNKNOWN
    assert log_of(*group_of()).run(GroupShard.commit_in_transaction, anonymous, version=3).error is OK
    assert log_of(group_epoch("g", 3)).run(GroupShard.commit_offsets, anonymous, version=9).error is OK
    for epoch in (0, 3):
        assert (
            log_of(group_epoch("g", 3)).run(GroupShard.commit_offsets, commit(epoch, ("orders", 0)), version=9).error is UNKNOWN
        )
    named = OffsetCommitRequest("g", -1, "", "instance", topics=anonymous.topics)
    for half_anonymous in (commit(-2, ("orders", 0), member_id=""), named):
        assert log_of(*group_of()).run(GroupShard.commit_in_transaction, half_anonymous, version=3).error is UNKNOWN


@pytest.mark.parametrize(
    ("member_id", "epoch", "native", "classic"),
    [
        (None, -1, OK, OK),
        (None, 0, UNKNOWN, UNKNOWN),
        ("", -1, UNKNOWN, UNKNOWN),
        ("m", 7, OK, OK),
        ("m", 6, STALE, ILLEGAL),
        ("m", 8, STALE, ILLEGAL),
        ("n", 7, UNKNOWN, UNKNOWN),
    ],
)
def test_a_member_reads_in_its_epoch(
    member_id: str | None, epoch: int, native: ErrorCode | None, classic: ErrorCode | None
) -> None:
    """At the committed offset, and where the latest offsets are read."""
    request = OffsetFetchRequestGroup("g", member_id, epoch, None)
    for is_classic, expected in ((False, native), (True, classic)):
        log = log_of(*group_of(is_classic=is_classic))
        assert log.run(GroupShard.fetch_latest_offsets, LatestFetch(request), version=9).error is expected
        with nullcontext() if expected is None else pytest.raises(CoordinatorError, match=expected.name):
            log.shard.fetch_offsets(log.committed_offset, request)


def test_offsets_of_topics_that_nobody_consumes_can_be_deleted() -> None:
    """Members or not."""
    log = log_of(*group_of())
    log.run(GroupShard.commit_offsets, commit(7, ("orders", 0), ("payments", 2)), version=9)
    topics = [
        OffsetDeleteRequestTopic(name, [OffsetDeleteRequestPartition(index)]) for name, index in (("orders", 0), ("payments", 2))
    ]

    answer = log.run(GroupShard.delete_offsets, OffsetDeleteRequest("g", topics), version=0).response

    errors = {topic.name: topic.partitions[0].error_code for topic in answer.topics}
    assert errors == {"orders": ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC, "payments": ErrorCode.NONE}


def test_offsets_expire_by_their_commit_unless_their_topic_is_subscribed() -> None:
    """The group ends with its last offset when it has no members."""
    log = log_of(*group_of(), config=config_with(offsets_retention_minutes=60, offsets_retention_check_interval_ms=60_000))
    # The sessions of the members do not end here.
    log.shard.expiry.start()
    log.run(GroupShard.commit_offsets, commit(7, ("orders", 0), ("payments", 2)), version=9)
    assert [each.topic for each in log.shard.expiring(log.end_offset, "g")] == ["payments"]

    log.advance(HOUR_MS + 120_000)
    assert offsets(log) == [("orders", 0)]

    write(log, [left("g", "m"), target("g", "m", None), member("g", "m", None), group_epoch("g", 8)])
    log.advance(120_000)
    assert not log.shard.has_group(log.end_offset, "g")


def offsets(log: GroupLog) -> list[tuple[str, int]]:
    return sorted(log.hard_state()["g"][1])


def test_a_group_is_deleted_when_it_is_empty() -> None:
    log = log_of(*group_of())
    [refused] = log.run(GroupShard.delete_groups, ["g"], version=2).response
    write(log, [current("g", "m", 7, {}), left("g", "m"), member("g", "m", None)])

    [deleted] = log.run(GroupShard.delete_groups, ["g"], version=2).response

    assert (refused.error_code, deleted.error_code) == (ErrorCode.NON_EMPTY_GROUP, ErrorCode.NONE)
    assert not log.shard.has_group(log.end_offset, "g")
