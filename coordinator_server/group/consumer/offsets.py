"""Who may commit and read offsets of a consumer group (``ConsumerGroup.validateOffsetCommit`` and ``validateOffsetFetch``).

A member commits with its epoch. While it has not heard of its newest epoch, an older one is good for the partitions that it has had
since then, or from later than that epoch on refused (KIP-1251): its commit depends on each partition.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.member import ConsumerGroupMember
from coordinator_server.group.group_type import CheckPartition
from coordinator_server.group.modern.membership import unknown_member
from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from protocol.plain_commits import CommitShape

FIRST_WITH_MEMBER_EPOCHS: Final = 9


def admit_commit(
    group: ConsumerGroup, request: OffsetCommitRequest | CommitShape, api_version: int, *, is_transactional: bool
) -> CheckPartition | None:
    """Return the check of each partition, or None if all are accepted. Raises CoordinatorError."""
    epoch = request.generation_id_or_member_epoch
    if epoch < 0 and not group.members:
        return None
    if is_transactional and epoch == -1 and not request.member_id and request.group_instance_id is None:
        return None
    member = group.members.get(request.member_id)
    if member is None:
        raise unknown_member(group.group_id, request.member_id)
    is_classic = member.classic_member_metadata is not None
    if not (is_transactional or is_classic) and api_version < FIRST_WITH_MEMBER_EPOCHS:
        reason = "OffsetCommit version 9 or above must be used by members using the consumer group protocol"
        raise CoordinatorError(ErrorCode.UNSUPPORTED_VERSION, reason)
    if epoch == member.member_epoch:
        return None
    error = ErrorCode.ILLEGAL_GENERATION if is_classic or is_transactional else ErrorCode.STALE_MEMBER_EPOCH
    if epoch > member.member_epoch:
        raise CoordinatorError(error)
    return partial(_check_partition, member, epoch, error)


def admit_fetch(group: ConsumerGroup, request: OffsetFetchRequestGroup, committed_offset: int) -> None:
    """Refuse a read by a stranger, or in any epoch but the member's. Requests that name no member are accepted."""
    if request.member_id is None and request.member_epoch < 0:
        return
    member = group.members.get_at(request.member_id or "", committed_offset)
    if member is None:
        raise unknown_member(group.group_id, request.member_id or "")
    if request.member_epoch != member.member_epoch:
        is_classic = member.classic_member_metadata is not None
        raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION if is_classic else ErrorCode.STALE_MEMBER_EPOCH)


def _check_partition(
    member: ConsumerGroupMember, epoch: int, error: ErrorCode, topic_id: bytes, _topic: str, partition: int
) -> None:
    """Refuse a partition that the member does not have, or got after ``epoch``."""
    since = None
    for owned in (member.assigned, member.pending_revocation):
        since = owned.get(topic_id, {}).get(partition)
        if since is not None:
            break
    if since is None or epoch < since:
        raise CoordinatorError(error)
