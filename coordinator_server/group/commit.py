"""OffsetCommit: who may commit. What is written then is the business of ``offsets.commit``.

A generation of -1 comes from a consumer that assigns itself, or from an administrator: it may commit while the group is empty, and makes a
simple group where there was none. Everybody else has to be a member of the present generation, and is refreshed by its commit.
"""

from __future__ import annotations

from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.classic.rebalance import refresh_session
from coordinator_server.group.classic.state import COMPLETING_REBALANCE, EMPTY
from coordinator_server.group.groups import Groups
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import CoordinatorResult, RequestContext
from coordinator_server.offsets.commit import commit_offsets
from coordinator_server.offsets.commit import commit_rows as offsets_commit_rows
from protocol.error_codes import ErrorCode
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from protocol.plain_commits import AcceptedCommit, CommitShape, PlainCommit

# From here on a client knows that the group may be missing; before, it is told that its generation is over.
_FIRST_VERSION_WITH_GROUP_ID_NOT_FOUND = 9


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
    groups.unserved.admit_commit(request.group_id, request.generation_id_or_member_epoch)
    group = groups.find(request.group_id)
    if group is not None:
        _admit_to(groups, group, request)
    elif request.generation_id_or_member_epoch >= 0:
        is_known = context.api_version >= _FIRST_VERSION_WITH_GROUP_ID_NOT_FOUND
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND if is_known else ErrorCode.ILLEGAL_GENERATION)


def _admit_to(groups: Groups, group: ClassicGroup, request: OffsetCommitRequest | CommitShape) -> None:
    generation_id = request.generation_id_or_member_epoch
    if generation_id < 0 and group.state is EMPTY:
        return
    if generation_id < 0 and not request.member_id and request.group_instance_id is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    member = group.validate_member(request.member_id, request.group_instance_id)
    if generation_id != group.generation_id:
        raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
    if group.state is COMPLETING_REBALANCE:
        # It knows the generation from its JoinGroup, but has no assignment to commit for yet.
        raise CoordinatorError(ErrorCode.REBALANCE_IN_PROGRESS)
    refresh_session(groups, member)
