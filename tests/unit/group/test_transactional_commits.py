"""TxnOffsetCommit at the group's shard: who may commit, what is written, and when it counts."""

from __future__ import annotations

import pytest

from coordinator_server.group.classic.state import COMPLETING_REBALANCE
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.shard import Producer, TransactionResult
from coordinator_server.runtime.producers import EndOfTransaction
from coordinator_server.runtime.runtime import WriteOperation
from protocol.error_codes import ErrorCode
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.sync_group import SyncGroupRequest
from tests.support.group import GroupLog
from tests.support.group_runtime import GroupRuntime
from tests.support.runtime import CONTEXT, Outcome

PRODUCER = Producer(9, 1)
COMMIT = WriteOperation("commit-in-transaction", GroupShard.commit_in_transaction)
SESSION_MS = 10_000


def commit(
    offset: int = 5, *, generation: int = -1, member: str = "", instance: str | None = None, metadata: str = ""
) -> OffsetCommitRequest:
    """A commit of one offset and of the one after it."""
    partitions = [OffsetCommitRequestPartition(index, offset + index, 3, metadata if index else "") for index in range(2)]
    topics = [OffsetCommitRequestTopic("t", b"i" * 16, partitions)]
    return OffsetCommitRequest("g", generation, member, instance, topics=topics)


@pytest.fixture
def log() -> GroupLog:
    return GroupLog()


def joined(log: GroupLog, instance: str | None = None, *, is_synced: bool = True) -> str:
    """The only member of ``g``, of generation 1."""
    protocols = [JoinGroupRequestProtocol("range", b"")]
    request = JoinGroupRequest("g", SESSION_MS, 2 * SESSION_MS, "", instance, "consumer", protocols)
    found = log.run(GroupShard.join_group, request, version=3 if instance is None else 5)
    log.advance(0)
    member: str = found.response.member_id
    if is_synced:
        log.run(GroupShard.sync_group, SyncGroupRequest("g", 1, member, instance), version=3)
    return member


def error_of(log: GroupLog, request: OffsetCommitRequest) -> ErrorCode | None:
    return log.run(GroupShard.commit_in_transaction, request, version=3).error


def test_the_records_are_those_of_a_commit_without_topic_ids(log: GroupLog) -> None:
    answer = log.run(GroupShard.commit_in_transaction, commit(metadata="m"), version=3)
    now_ms = log.clock.wall_ms()

    assert [(one.partition_index, one.error_code) for one in answer.response.topics[0].partitions] == [(0, 0), (1, 0)]
    assert [(record.key, record.value) for record in log.committed] == [
        (OffsetCommitKey("g", "t", 0), OffsetCommitValue(5, 3, "", now_ms)),
        (OffsetCommitKey("g", "t", 1), OffsetCommitValue(6, 3, "m", now_ms)),
    ]


def test_metadata_that_is_too_long_is_refused_alone(log: GroupLog) -> None:
    answer = log.run(GroupShard.commit_in_transaction, commit(metadata="m" * 5_000), version=3)

    assert [one.error_code for one in answer.response.topics[0].partitions] == [0, ErrorCode.OFFSET_METADATA_TOO_LARGE]
    assert len(log.committed) == 1


def test_a_group_that_does_not_exist_has_no_generation(log: GroupLog) -> None:
    assert error_of(log, commit(generation=1, member="m")) is ErrorCode.ILLEGAL_GENERATION


@pytest.mark.parametrize(
    ("generation", "member", "instance", "error"),
    [
        (1, "other", None, ErrorCode.UNKNOWN_MEMBER_ID),
        (7, "other", None, ErrorCode.UNKNOWN_MEMBER_ID),
        (1, "", "other", ErrorCode.UNKNOWN_MEMBER_ID),
        (1, "other", "i", ErrorCode.FENCED_INSTANCE_ID),
        (-1, "other", None, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_strangers_are_refused(log: GroupLog, generation: int, member: str, instance: str | None, error: ErrorCode) -> None:
    joined(log, "i")

    assert error_of(log, commit(generation=generation, member=member, instance=instance)) is error


def test_members_of_the_generation_commit_in_any_state(log: GroupLog) -> None:
    """Also before they have an assignment; others not."""
    member = joined(log, is_synced=False)
    state = log.shard.groups.classic_context.groups.find("g")
    errors = [error_of(log, commit(generation=generation, member=member)) for generation in (0, 1, 2)]

    assert state is not None
    assert state.state is COMPLETING_REBALANCE
    assert errors == [ErrorCode.ILLEGAL_GENERATION, None, ErrorCode.ILLEGAL_GENERATION]


def test_a_producer_that_names_no_member_may_commit_for_a_group_with_members(log: GroupLog) -> None:
    """Before KIP-447 the request had none."""
    joined(log)

    assert error_of(log, commit()) is None


def test_the_session_of_the_member_is_not_refreshed(log: GroupLog) -> None:
    """It ends as if there had been no commit."""
    member = joined(log)
    log.advance(SESSION_MS - 1)
    log.run(GroupShard.commit_in_transaction, commit(generation=1, member=member), version=3)
    log.advance(1)

    assert log.run(GroupShard.heartbeat, HeartbeatRequest("g", 1, member), version=3).error is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("result", TransactionResult)
def test_the_offsets_count_when_the_transaction_commits(result: TransactionResult) -> None:
    log = GroupRuntime()
    outcome = Outcome()
    log.runtime.write(0, COMMIT, CONTEXT, commit(), outcome, log.runtime.claim(0, PRODUCER, bumps_epoch=False))
    log.finish()
    before = log.committed("g")
    log.runtime.complete_transaction(0, EndOfTransaction(PRODUCER, result, 1), Outcome())
    log.finish()

    assert outcome.response is not None
    assert before == {}
    assert log.committed("g") == ({("t", 0): 5, ("t", 1): 6} if result is TransactionResult.COMMIT else {})
    assert log.replayed() == {("g", *position): offset for position, offset in log.committed("g").items()}
