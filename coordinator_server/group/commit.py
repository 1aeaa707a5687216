"""OffsetCommit: the type of the group says whether it may commit; what is written then is the business of ``offsets.commit``."""

from __future__ import annotations

from coordinator_server.group.classic.commit import admit_to_classic
from coordinator_server.group.registry import Groups
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.plain_commits import CommitShape


def admit(groups: Groups, request: OffsetCommitRequest | CommitShape, api_version: int) -> None:
    """Raise CoordinatorError where the whole request is refused."""
    other = groups.others.get(request.group_id)
    if other is None:
        # Nearly all commits are of classic groups, and go by no table.
        admit_to_classic(groups.classic_context, request, api_version, is_transactional=False)
    else:
        other.admit_commit(request, api_version, is_transactional=False)
