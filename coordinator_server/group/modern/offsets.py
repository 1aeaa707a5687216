"""Who may commit and read offsets of a group whose members have epochs (``validateOffsetCommit`` and ``validateOffsetFetch``).

A member commits with its epoch. While it has not heard of its newest epoch, an older one is good for the partitions that it has had
since then, or from later than that epoch on refused (KIP-1251): its commit depends on each partition.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from coordinator_server.group.group_type import CheckPartition
from coordinator_server.group.modern.group import ModernGroup
from coordinator_server.group.modern.membership import unknown_member
from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from protocol.plain_commits import CommitShape

FIRST_WITH_MEMBER_EPOCHS: Final = 9

Since = Callable[[Any, bytes, str, int], int | None]
"""Returns since which epoch a member has a partition, by id and name of the topic and its number; None if it does not have it."""


def admit_commit(
    group: ModernGroup[Any, Any],
    request: OffsetCommitRequest | CommitShape,
    api_version: int,
    since: Since,
    *,
    is_transactional: bool,
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
    if not (is_transactional or member.is_classic) and api_version < FIRST_WITH_MEMBER_EPOCHS:
        raise CoordinatorError(
            ErrorCode.UNSUPPORTED_VERSION,
            f"OffsetCommit version 9 or above must be used by members using the {group.records.type_name} group protocol",
        )
    if epoch == member.member_epoch:
        return None
    error = _stale(member.is_classic or is_transactional)
    if epoch > member.member_epoch:
        raise CoordinatorError(error)
    return partial(_check_partition, partial(since, member), epoch, error)


def admit_fetch(group: ModernGroup[Any, Any], request: OffsetFetchRequestGroup, committed_offset: int) -> None:
    """Refuse a read by a stranger, or in any epoch but the member's. Requests that name no member are accepted."""
    if request.member_id is None and request.member_epoch < 0:
        return
    member: Any = group.members.get_at(request.member_id or "", committed_offset)
    if member is None:
        raise unknown_member(group.group_id, request.member_id or "")
    if request.member_epoch != member.member_epoch:
        raise CoordinatorError(_stale(member.is_classic))


def _stale(is_classic: bool) -> ErrorCode:
    """Return the error of a wrong epoch, as clients of the protocol know it."""
    return ErrorCode.ILLEGAL_GENERATION if is_classic else ErrorCode.STALE_MEMBER_EPOCH


def _check_partition(
    since: Callable[[bytes, str, int], int | None], epoch: int, error: ErrorCode, topic_id: bytes, topic: str, partition: int
) -> None:
    """Refuse a partition that the member does not have, or got after ``epoch``."""
    assigned_in = since(topic_id, topic, partition)
    if assigned_in is None or epoch < assigned_in:
        raise CoordinatorError(error)
