"""OffsetCommit: the type of the group decides whether a request may commit. ``offsets.commit`` makes the records."""

from __future__ import annotations

from typing import Final

from coordinator_server.group.classic.commit import admit_to_classic
from coordinator_server.group.group_type import CheckPartition
from coordinator_server.group.registry import Groups
from coordinator_server.machine.shard import Report, RequestContext
from coordinator_server.offsets.commit import is_too_long
from coordinator_server.offsets.logged_shape import LoggedShape
from protocol.error_codes import ErrorCode
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.plain_commits import CommitShape

COMMIT_REFUSED: Final = "commit-refused"


def tell_refused(tell: Report, context: RequestContext, request: OffsetCommitRequest | CommitShape, error: ErrorCode) -> None:
    """Report that a commit is refused."""
    tell(COMMIT_REFUSED, context=context, request=request, error=error)


def admit(groups: Groups, request: OffsetCommitRequest | CommitShape, api_version: int) -> CheckPartition | None:
    """Raise CoordinatorError if the whole request is refused. Return what to check of each partition, or None."""
    other = groups.others.get(request.group_id)
    if other is None:
        # The common case, without a lookup in the table of types.
        admit_to_classic(groups.classic_context, request, api_version, is_transactional=False)
        return None
    return other.admit_commit(request, api_version, is_transactional=False)


def admit_in_transaction(groups: Groups, request: OffsetCommitRequest) -> CheckPartition | None:
    """Do the same for a commit in a transaction. Its clients know the errors of the first versions of OffsetCommit only."""
    return groups.type_of(request.group_id).admit_commit(request, 0, is_transactional=True)


def check_partitions(request: OffsetCommitRequest, check: CheckPartition, metadata_max: int) -> None:
    """Check the partitions that would be committed. Raises CoordinatorError."""
    for topic in request.topics:
        for partition in topic.partitions:
            if not is_too_long(partition.committed_metadata or "", metadata_max):
                check(topic.topic_id, topic.name, partition.partition_index)


def check_plain(shape: LoggedShape, check: CheckPartition) -> None:
    """Do the same for a plain request."""
    for topic, (_, _, partitions) in zip(shape.commit_topics, shape.topics, strict=True):
        for partition in partitions.indexes():
            check(topic.topic_id, topic.name, partition)
