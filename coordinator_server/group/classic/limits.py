"""Limits of what the members of a group may take, in memory and in the group's record.

| what | limit | answer to JoinGroup |
|---|---|---|
| protocols of a member | `group.member.max.protocols` | INVALID_REQUEST |
| a member's entry in the record of its group | `message.max.bytes` | INVALID_REQUEST |
| the entries of all members in the record, without assignments | `message.max.bytes` | GROUP_MAX_SIZE_REACHED |
| members and pending member ids in memory | `group.max.bytes` | GROUP_MAX_SIZE_REACHED; the oldest pending ids are dropped first |
| those of all groups of a loop | `members.max.bytes` | COORDINATOR_NOT_AVAILABLE, which clients retry |

A member that is too much is refused before it exists, and a present one keeps what it had. Otherwise the group's record could not
be written, and in each generation all its members would get errors.
"""

from __future__ import annotations

from coordinator_server.config import Config
from coordinator_server.group.classic.attempt import ID_SUFFIX_BYTES, JoinAttempt
from coordinator_server.group.classic.context import ClassicContext
from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.classic.member import ClassicGroupMember, MemberSize, pending_size
from protocol.error_codes import ErrorCode
from protocol.wire import MAX_STRING

UNKNOWN_MEMBER_ID = ""


def request_error(classic: ClassicContext, attempt: JoinAttempt) -> ErrorCode:
    """Return why no group could have the member of a JoinGroup, or NONE."""
    request, config = attempt.request, classic.config
    is_new = request.member_id == UNKNOWN_MEMBER_ID
    if is_new and len(attempt.id_prefix.encode()) + ID_SUFFIX_BYTES > MAX_STRING:
        # Neither an answer nor a record could have the member's id.
        problem = "member id too long"
    elif len(request.protocols) > config.live.group_member_max_protocols:
        problem = "too many protocols"
    elif attempt.size.record_bytes > _record_limit(config):
        problem = "metadata too large"
    else:
        return ErrorCode.NONE
    classic.report("member-refused", group_id=request.group_id, client_host=attempt.context.client_host, problem=problem)
    return ErrorCode.INVALID_REQUEST


def make_room(
    classic: ClassicContext, group: ClassicGroup, attempt: JoinAttempt, present: ClassicGroupMember | None
) -> ErrorCode:
    """Return NONE if there is room for the member of a JoinGroup, in place of ``present``. Drop old pending ids if that helps."""
    size, before, config = attempt.size, MemberSize(0, 0) if present is None else present.size, classic.config
    own_pending = pending_size(attempt.request.member_id) if attempt.request.member_id in group.pending_joins else 0
    more_memory = size.memory_bytes - before.memory_bytes - own_pending
    more_record = size.record_bytes - before.record_bytes
    excess = group.memory_bytes + more_memory - config.live.group_max_bytes
    is_too_much = more_memory > 0 and excess > group.pending_bytes - own_pending
    if is_too_much or (more_record > 0 and group.record_bytes + more_record > _record_limit(config)):
        classic.report("group-full", group_id=group.group_id, members=len(group.members), memory_bytes=group.memory_bytes)
        return ErrorCode.GROUP_MAX_SIZE_REACHED
    if more_memory > 0 and classic.member_memory.used_bytes + more_memory > config.live.members_max_bytes:
        classic.report("members-full", memory_bytes=classic.member_memory.used_bytes, action="raise members.max.bytes")
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if more_memory > 0 and excess > 0:
        _drop_pending(classic, group, excess, attempt.request.member_id)
    return ErrorCode.NONE


def _drop_pending(classic: ClassicContext, group: ClassicGroup, excess: int, spared: str) -> None:
    """Drop the oldest pending ids. An id that its client still uses is a few milliseconds old."""
    for member_id in [each for each in group.pending_joins if each != spared]:
        if excess <= 0:
            break
        excess -= pending_size(member_id)
        group.remove(member_id)
        classic.timer.cancel(group.session_key(member_id))


def _record_limit(config: Config) -> int:
    # An eighth of the batch is left for assignments and headers.
    return config.log.message_max_bytes - config.log.message_max_bytes // 8
