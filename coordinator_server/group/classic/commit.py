"""OffsetCommit: validates commits to classic groups.

A consumer without a group membership, or an administrator, commits with generation -1. That is allowed while the group is empty,
and creates a simple group if none exists. Any other client must be a member of the present generation; the commit refreshes its
session.
"""

from __future__ import annotations

from coordinator_server.group.classic.context import ClassicContext
from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.classic.rebalance import refresh_session
from coordinator_server.group.classic.state import COMPLETING_REBALANCE, EMPTY
from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.plain_commits import CommitShape

# The first version whose clients know GROUP_ID_NOT_FOUND. Older ones get ILLEGAL_GENERATION.
_FIRST_VERSION_WITH_GROUP_ID_NOT_FOUND = 9


def admit_to_classic(
    classic: ClassicContext, request: OffsetCommitRequest | CommitShape, api_version: int, is_transactional: bool
) -> None:
    """Raise CoordinatorError if the commit is refused."""
    if request.generation_id_or_member_epoch < 0 and classic.groups.is_bare(request.group_id):
        return
    group = classic.groups.find(request.group_id)
    if group is not None:
        _admit_to_group(classic, group, request, is_transactional)
    elif request.generation_id_or_member_epoch >= 0:
        is_known = api_version >= _FIRST_VERSION_WITH_GROUP_ID_NOT_FOUND and not is_transactional
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND if is_known else ErrorCode.ILLEGAL_GENERATION)


def _admit_to_group(
    classic: ClassicContext, group: ClassicGroup, request: OffsetCommitRequest | CommitShape, is_transactional: bool
) -> None:
    generation_id = request.generation_id_or_member_epoch
    if generation_id < 0 and group.state is EMPTY:
        return
    if generation_id < 0 and not request.member_id and request.group_instance_id is None:
        if is_transactional:
            # Producers before KIP-447 do not send the member that they commit for.
            return
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    member = group.validate_member(request.member_id, request.group_instance_id)
    if generation_id != group.generation_id:
        raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
    if is_transactional:
        # Transactional commits are independent of the group's state and do not refresh the member's session.
        return
    if group.state is COMPLETING_REBALANCE:
        # The member has the generation from its JoinGroup answer, but no assignment yet.
        raise CoordinatorError(ErrorCode.REBALANCE_IN_PROGRESS)
    refresh_session(classic, member)
