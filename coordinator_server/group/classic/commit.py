"""OffsetCommit: who may commit for a classic group.

A generation of -1 comes from a consumer that assigns itself, or from an administrator: it may commit while the group is empty, and makes a
simple group where there was none. Everybody else has to be a member of the present generation, and is refreshed by its commit.
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

# From here on a client knows that the group may be missing; before, it is told that its generation is over.
_FIRST_VERSION_WITH_GROUP_ID_NOT_FOUND = 9


def admit_to_classic(
    classic: ClassicContext, request: OffsetCommitRequest | CommitShape, api_version: int, is_transactional: bool
) -> None:
    """Raises CoordinatorError."""
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
            # Producers of before KIP-447 do not say whom they commit for.
            return
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    member = group.validate_member(request.member_id, request.group_instance_id)
    if generation_id != group.generation_id:
        raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
    if is_transactional:
        # The state does not matter to these, and they say nothing of the member's session.
        return
    if group.state is COMPLETING_REBALANCE:
        # It knows the generation from its JoinGroup, but has no assignment to commit for yet.
        raise CoordinatorError(ErrorCode.REBALANCE_IN_PROGRESS)
    refresh_session(classic, member)
