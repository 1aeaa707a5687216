"""The message that ends a transaction at a group's shard."""

from __future__ import annotations

import pytest

from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.shard import Producer
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.hosting.transaction_messages import MARKERS
from coordinator_server.transaction.markers import Marker
from protocol.error_codes import ErrorCode
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from tests.support.group_runtime import GroupRuntime
from tests.support.runtime import CONTEXT, Outcome

PRODUCER = Producer(9, 1)
COMMIT = WriteOperation("commit-in-transaction", GroupShard.commit_in_transaction)


def ended(log: GroupRuntime, epoch: int, *, is_commit: bool = True, version: int = 2) -> Outcome:
    outcome = Outcome()
    MARKERS.run(log.runtime, 0, CONTEXT, Marker("tx", PRODUCER.id, epoch, is_commit, version), outcome)
    log.finish()
    return outcome


@pytest.fixture
def log() -> GroupRuntime:
    """A group with an offset in the open transaction of PRODUCER."""
    log = GroupRuntime()
    topics = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 5)])]
    request = OffsetCommitRequest("g", topics=topics)
    log.runtime.write(0, COMMIT, CONTEXT, request, Outcome(), log.runtime.claim(0, PRODUCER, bumps_epoch=True))
    log.finish()
    return log


@pytest.mark.parametrize(("is_commit", "committed"), [(True, {("t", 0): 5}), (False, {})])
def test_a_marker_commits_or_drops_the_offsets_of_a_transaction(
    log: GroupRuntime, committed: dict[tuple[str, int], int], *, is_commit: bool
) -> None:
    answer = ended(log, PRODUCER.epoch + 1, is_commit=is_commit)

    assert (answer.response, log.committed("g")) == (True, committed)


def test_the_same_marker_again_changes_nothing(log: GroupRuntime) -> None:
    """Its answer was lost: the coordinator does not know whether it is durable."""
    ended(log, PRODUCER.epoch + 1)
    again = ended(log, PRODUCER.epoch + 1)

    assert (again.response, log.committed("g")) == (False, {("t", 0): 5})


@pytest.mark.parametrize(("version", "error"), [(2, ErrorCode.INVALID_PRODUCER_EPOCH), (1, None)])
def test_the_epoch_of_the_records_is_enough_in_version_1(log: GroupRuntime, version: int, error: ErrorCode | None) -> None:
    assert ended(log, PRODUCER.epoch, version=version).error is error
