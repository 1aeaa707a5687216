"""OffsetCommit: the type of the group decides whether a request may commit. ``offsets.commit`` makes the records."""

from __future__ import annotations

from coordinator_server.group.classic.commit import admit_to_classic
from coordinator_server.group.registry import Groups
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.plain_commits import CommitShape


def admit(groups: Groups, request: OffsetCommitRequest | CommitShape, api_version: int) -> None:
    """Raise CoordinatorError if the whole request is refused."""
    other = groups.others.get(request.group_id)
    if other is None:
        # The common case, without a lookup in the table of types.
        admit_to_classic(groups.classic_context, request, api_version, is_transactional=False)
    else:
        other.admit_commit(request, api_version, is_transactional=False)


def admit_in_transaction(groups: Groups, request: OffsetCommitRequest) -> None:
    """Do the same for a commit in a transaction. Its clients know the errors of the first versions of OffsetCommit only."""
    groups.type_of(request.group_id).admit_commit(request, 0, is_transactional=True)
