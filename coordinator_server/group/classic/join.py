"""JoinGroup: become a member, or stay one.

The first join of a dynamic member only returns a member id, with which it must join again (KIP-394, from version 4 on). A join
that changes the group starts a rebalance, or takes part in the present one, and is answered at the end of the join phase. A join
that changes nothing is answered at once with the present generation. ``static_join.py`` handles returning static members.
"""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from coordinator_server.group.classic.attempt import JoinAttempt
from coordinator_server.group.classic.context import ClassicContext
from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.classic.limits import UNKNOWN_MEMBER_ID, make_room, request_error
from coordinator_server.group.classic.member import ClassicGroupMember
from coordinator_server.group.classic.rebalance import NOTHING, Result, joined, prepare_or_complete
from coordinator_server.group.classic.records import new_group_record
from coordinator_server.group.classic.sessions import start_pending_session, start_session
from coordinator_server.group.classic.state import COMPLETING_REBALANCE, DEAD, EMPTY, PREPARING_REBALANCE, STABLE
from coordinator_server.group.classic.static_join import replace_static_member
from coordinator_server.group.why import Why
from coordinator_server.machine.errors import CoordinatorError, operation_error
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult
from protocol.error_codes import ErrorCode

# Session timeout of a new member while its first JoinGroup waits: it cannot send heartbeats, and its client may have given up.
NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000


def join_group(classic: ClassicContext, attempt: JoinAttempt) -> Result:
    """Run a JoinGroup, and answer the attempt now or at the end of the join phase."""
    request = attempt.request
    refused = refusal(classic, attempt)
    if refused is not ErrorCode.NONE:
        return _refuse(attempt, refused, request.member_id)
    try:
        other = classic.groups.others.get(request.group_id)
        tombstones = [] if other is None else other.admit_classic_member(request.group_id)
    except CoordinatorError as error:
        return _refuse(attempt, error.error, UNKNOWN_MEMBER_ID)
    is_new_group = bool(tombstones) or not classic.groups.exists(request.group_id)
    group = classic.groups.find(request.group_id)
    if group is None:
        if request.member_id != UNKNOWN_MEMBER_ID:
            return _refuse(attempt, ErrorCode.UNKNOWN_MEMBER_ID, request.member_id)
        group = classic.groups.create(request.group_id)
    result = _join(classic, group, attempt)
    if is_new_group and not result.records:
        # As in Kafka, a group exists from its first join on, even if that was refused. The refusal does not wait for the record.
        on_append = partial(_group_stored, classic, group)
        records = [*tombstones, new_group_record(group)]
        return CoordinatorResult(DEFERRED, records, on_append, attribution=because(Reason(Why.GROUP_CREATED)))
    if tombstones:
        return replace(result, records=[*tombstones, *result.records])
    return result


def refusal(classic: ClassicContext, attempt: JoinAttempt) -> ErrorCode:
    """Return why no group takes a JoinGroup, or NONE."""
    request = attempt.request
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    config = classic.config
    if not config.live.group_min_session_timeout_ms <= request.session_timeout_ms <= config.live.group_max_session_timeout_ms:
        return ErrorCode.INVALID_SESSION_TIMEOUT
    return request_error(classic, attempt)


def _join(classic: ClassicContext, group: ClassicGroup, attempt: JoinAttempt) -> Result:
    request = attempt.request
    member_id = request.member_id
    if not _has_room(group, member_id, classic.config.live.group_max_size):
        group.remove(member_id)
        classic.timer.cancel(group.session_key(member_id))
        return _refuse(attempt, ErrorCode.GROUP_MAX_SIZE_REACHED, UNKNOWN_MEMBER_ID)
    if not group.supports_protocols(request.protocol_type, request.protocols):
        return _refuse(attempt, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, member_id)
    if member_id == UNKNOWN_MEMBER_ID:
        return _join_new_member(classic, group, attempt)
    if member_id in group.pending_joins:
        if request.group_instance_id is not None:
            # Only dynamic members get pending ids. Kafka answers this case with UNKNOWN_SERVER_ERROR too.
            return _refuse(attempt, ErrorCode.UNKNOWN_SERVER_ERROR, UNKNOWN_MEMBER_ID)
        if (full := make_room(classic, group, attempt, None)) is not ErrorCode.NONE:
            return _refuse(attempt, full, UNKNOWN_MEMBER_ID)
        return _add_member(classic, group, member_id, attempt)
    try:
        member = group.validate_member(member_id, request.group_instance_id)
    except CoordinatorError as refused:
        return _refuse(attempt, refused.error, member_id)
    return _rejoin(classic, group, member, attempt)


def _has_room(group: ClassicGroup, member_id: str, max_size: int) -> bool:
    """Return whether ``group.max.size`` allows the join. If it was lowered, the last members to rejoin are refused."""
    member = group.members.get(member_id)
    if group.state is PREPARING_REBALANCE:
        return group.awaiting_join_count < max_size or (member is not None and member.awaiting_join is not None)
    return member is not None or len(group.members) < max_size


def _join_new_member(classic: ClassicContext, group: ClassicGroup, attempt: JoinAttempt) -> Result:
    instance_id = attempt.request.group_instance_id
    known = None if instance_id is None else group.static_members.get(instance_id)
    present = None if known is None else group.members[known]
    if (full := make_room(classic, group, attempt, present)) is not ErrorCode.NONE:
        return _refuse(attempt, full, UNKNOWN_MEMBER_ID)
    member_id = f"{attempt.id_prefix}-{classic.new_id()}"
    if present is not None:
        return replace_static_member(classic, group, present, member_id, attempt)
    if instance_id is None and attempt.requires_member_id:
        group.add_pending(member_id)
        start_pending_session(classic, group, member_id, attempt.request.session_timeout_ms)
        return _refuse(attempt, ErrorCode.MEMBER_ID_REQUIRED, member_id)
    return _add_member(classic, group, member_id, attempt)


def _add_member(classic: ClassicContext, group: ClassicGroup, member_id: str, attempt: JoinAttempt) -> Result:
    context, request = attempt.context, attempt.request
    # The host has Java's format of an address without a host name.
    member = ClassicGroupMember(member_id, request.group_instance_id, context.client_id, f"/{context.client_host}")
    member.session_key = group.session_key(member_id)
    member.rebalance_timeout_ms = attempt.rebalance_timeout_ms
    member.session_timeout_ms = request.session_timeout_ms
    member.protocol_type = request.protocol_type
    member.protocols = request.protocols
    member.is_new = True
    if group.state is PREPARING_REBALANCE and group.previous_state is EMPTY:
        group.has_new_member = True
    group.add(member)
    group.await_join(member, attempt)
    start_session(classic, group, member, NEW_MEMBER_JOIN_TIMEOUT_MS)
    return prepare_or_complete(classic, group, attempt.reason(Why.MEMBER_JOINED, member_id))


def _rejoin(classic: ClassicContext, group: ClassicGroup, member: ClassicGroupMember, attempt: JoinAttempt) -> Result:
    request = attempt.request
    is_leader = group.leader_id == member.member_id
    has_changed = member.protocols != request.protocols
    if has_changed and (full := make_room(classic, group, attempt, member)) is not ErrorCode.NONE:
        return _refuse(attempt, full, member.member_id)
    # The leader of a stable group may request a rebalance, for example because of new partitions.
    if group.state is PREPARING_REBALANCE or has_changed or (group.state is STABLE and is_leader):
        classic.timer.heard(member.session_key)
        group.update(member, request.protocols, attempt.rebalance_timeout_ms, request.session_timeout_ms)
        group.await_join(member, attempt)
        return prepare_or_complete(classic, group, attempt.reason(Why.MEMBER_REJOINED, member.member_id))
    # The member may have missed the answer: send the present generation again.
    members = group.described_members() if is_leader and group.state is COMPLETING_REBALANCE else None
    attempt.complete(joined(group, member.member_id, members))
    return NOTHING


def _refuse(attempt: JoinAttempt, error: ErrorCode, member_id: str) -> Result:
    attempt.refuse(error, member_id)
    return NOTHING


def _group_stored(classic: ClassicContext, group: ClassicGroup, error: ErrorCode | None) -> None:
    if error is not None and group.state is not DEAD:
        classic.groups.drop(group, operation_error(error))
