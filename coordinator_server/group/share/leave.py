"""Members leave: by a heartbeat with epoch -1, or at the end of their session."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from coordinator_server.group.modern.epoch_lines import with_epoch_line
from coordinator_server.group.share.context import ShareContext
from coordinator_server.group.share.group import ShareGroup, topics_after
from coordinator_server.group.share.log_lines import log_expired_session
from coordinator_server.group.share.member import ShareGroupMember
from coordinator_server.group.share.membership import require_member
from coordinator_server.group.share.records import RECORDS
from coordinator_server.group.share.sessions import end_session, restart_session
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult
from protocol.error_codes import ErrorCode
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from protocol.messages.share_group_records import ShareGroupMetadataKey

_NOTHING: Final[CoordinatorResult[Any]] = CoordinatorResult(DEFERRED)


def leave(
    share: ShareContext, group: ShareGroup, request: ShareGroupHeartbeatRequest
) -> CoordinatorResult[ShareGroupHeartbeatResponse]:
    """Remove a member. Raises UNKNOWN_MEMBER_ID."""
    member = require_member(group, request.member_id)
    response = ShareGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)
    return _fence(share, group, member, Why.MEMBER_LEFT, response)


def expire_session(share: ShareContext, group_id: str, member_id: str) -> CoordinatorResult[Any]:
    """Remove a member whose session has ended."""
    group = share.groups.by_id.get(group_id)
    member = None if group is None else group.members.get(member_id)
    if group is None or member is None:
        end_session(share, group_id, member_id)
        return _NOTHING
    log_expired_session(share, group_id, member)
    return _fence(share, group, member, Why.SESSION_TIMEOUT, DEFERRED)


def _fence(share: ShareContext, group: ShareGroup, member: ShareGroupMember, why: Why, response: Any) -> CoordinatorResult[Any]:
    """Remove a member: the group gets a new epoch."""
    group_id, member_id = group.group_id, member.member_id
    epoch = group.group_epoch + 1
    metadata_hash = share.hashes.of_group(topics_after(group, member.metadata.subscribed_topic_names, ()))
    records = [*RECORDS.member_tombstones(group_id, member_id), RECORDS.epoch(group_id, epoch, metadata_hash)]
    group.compared_epoch = epoch
    end_session(share, group_id, member_id)
    reason = Reason(why, member_id)
    on_append = partial(_take_back, share, group_id, member_id)
    result = CoordinatorResult(response, records, on_append, attribution=because(reason))
    return with_epoch_line(share, ShareGroupMetadataKey, result, [reason])


def _take_back(share: ShareContext, group_id: str, member_id: str, error: ErrorCode | None) -> None:
    if error is not None:
        restart_session(share, group_id, member_id)
