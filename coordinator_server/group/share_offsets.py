"""AlterShareGroupOffsets and DeleteShareGroupOffsets: which group they are about."""

from __future__ import annotations

from coordinator_server.group.registry import Groups
from coordinator_server.group.share import offsets
from coordinator_server.group.share.group import ShareGroup
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import CoordinatorResult, Reply
from coordinator_server.machine.timeline import LATEST
from protocol.error_codes import ErrorCode
from protocol.messages.alter_share_group_offsets import AlterShareGroupOffsetsRequest, AlterShareGroupOffsetsResponse
from protocol.messages.delete_share_group_offsets import DeleteShareGroupOffsetsRequest, DeleteShareGroupOffsetsResponse


def alter_offsets(
    groups: Groups, request: AlterShareGroupOffsetsRequest, reply: Reply[AlterShareGroupOffsetsResponse]
) -> CoordinatorResult[AlterShareGroupOffsetsResponse]:
    """Set start offsets of a group, which is created if there is none. Raises CoordinatorError."""
    group = _share_group(groups, request.group_id) or groups.share.absent(request.group_id)
    return offsets.alter_offsets(groups.share_context, group, request.topics, reply)


def delete_offsets(
    groups: Groups, request: DeleteShareGroupOffsetsRequest, reply: Reply[DeleteShareGroupOffsetsResponse]
) -> CoordinatorResult[DeleteShareGroupOffsetsResponse]:
    """Delete the offsets of topics. Raises CoordinatorError."""
    group = _share_group(groups, request.group_id)
    if group is None:
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {request.group_id} not found.")
    return offsets.delete_offsets(groups.share_context, group, [topic.topic_name for topic in request.topics], reply)


def _share_group(groups: Groups, group_id: str) -> ShareGroup | None:
    """Return a share group, or None if there is no group. Raises GROUP_ID_NOT_FOUND for a group of another type."""
    group = groups.share.by_id.get(group_id)
    if group is None and groups.exists_at(group_id, LATEST):
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a share group.")
    return group
