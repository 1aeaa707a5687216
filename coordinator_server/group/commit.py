"""OffsetCommit: the group's type admits it; what is written then is the business of ``offsets.commit``."""

from __future__ import annotations

from coordinator_server.group.classic.commit import admit_commit
from coordinator_server.group.registry import Groups
from coordinator_server.machine.shard import CoordinatorResult, RequestContext
from coordinator_server.offsets.commit import commit_offsets
from coordinator_server.offsets.commit import commit_rows as offsets_commit_rows
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from protocol.plain_commits import AcceptedCommit, CommitShape, PlainCommit


def commit_offset(
    groups: Groups, context: RequestContext, request: OffsetCommitRequest
) -> CoordinatorResult[OffsetCommitResponse]:
    """Raises CoordinatorError where the whole request is refused."""
    _admit(groups, context, request)
    return commit_offsets(groups.offsets, request, groups.clock.wall_ms(), groups.config.offset_metadata_max_bytes)


def commit_rows(groups: Groups, context: RequestContext, request: PlainCommit) -> CoordinatorResult[AcceptedCommit]:
    """The same for a plain request."""
    _admit(groups, context, request.shape)
    return offsets_commit_rows(groups.offsets, request, groups.clock.wall_ms())


def _admit(groups: Groups, context: RequestContext, request: OffsetCommitRequest | CommitShape) -> None:
    other = groups.others.get(request.group_id)
    if other is None:
        # Nearly all commits are of classic groups, and go by no table.
        admit_commit(groups.classic, request, context.api_version, is_transactional=False)
    else:
        other.admit_commit(request, context.api_version, is_transactional=False)
