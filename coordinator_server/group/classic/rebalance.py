"""The two phases of a rebalance: members join, then wait for the leader's assignments.

    prepare_rebalance ──► join phase ──all joined | join timer──► complete_join_phase ──► sync phase ──► SyncGroup of the leader
                          (of an empty group: only the timer,                             (sync timer: remove members
                          extended while members join)                                    that did not sync)

Each step returns a CoordinatorResult, often without records, which the calling operation or timer returns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from msgspec.structs import replace

from coordinator_server.group.classic.answers import Answer
from coordinator_server.group.classic.context import ClassicContext
from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.classic.member import ClassicGroupMember
from coordinator_server.group.classic.records import group_metadata_record
from coordinator_server.group.classic.state import COMPLETING_REBALANCE, DEAD, EMPTY, PREPARING_REBALANCE, STABLE
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult, Reply
from coordinator_server.offsets.attribution import rebalance_took
from protocol.error_codes import ErrorCode
from protocol.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from protocol.messages.sync_group import SyncGroupResponse

Result = CoordinatorResult[Any]

# No records. All requests have been answered, or their replies wait.
NOTHING: Result = CoordinatorResult(DEFERRED)


def refresh_session(classic: ClassicContext, member: ClassicGroupMember) -> None:
    """Restart the session of a member that has sent a request."""
    classic.timer.schedule(member.session_key, member.session_timeout_ms, member.expire)


def prepare_or_complete(classic: ClassicContext, group: ClassicGroup, reason: Reason) -> Result:
    """Start a rebalance because a member joins, or continue the one in progress."""
    if group.can_rebalance:
        group.note(reason)
        return prepare_rebalance(classic, group)
    return complete_if_all_joined(classic, group)


def go_on_without(classic: ClassicContext, group: ClassicGroup, reasons: Iterable[Reason]) -> Result:
    """Start a rebalance because members have left, or continue the one in progress."""
    for reason in reasons:
        group.note(reason)
    if group.state in {STABLE, COMPLETING_REBALANCE}:
        return prepare_rebalance(classic, group)
    return complete_if_all_joined(classic, group)


def prepare_rebalance(classic: ClassicContext, group: ClassicGroup) -> Result:
    """Start the join phase. The reason has been noted. Members that wait for their assignment must join again."""
    if group.state is COMPLETING_REBALANCE:
        reset_assignments(classic, group, ErrorCode.REBALANCE_IN_PROGRESS)
    group.pending_syncs.clear()
    classic.timer.cancel(group.sync_key)
    is_initial = group.state is EMPTY
    if group.rebalancing_since_ms is None:
        group.rebalancing_since_ms = classic.clock.now_ms()
    group.transition_to(PREPARING_REBALANCE, classic.clock.wall_ms())
    if is_initial:
        delay_ms = classic.config.live.group_initial_rebalance_delay_ms
        _delay_initial_rebalance(classic, group, delay_ms, max(group.rebalance_timeout_ms - delay_ms, 0))
        return NOTHING
    if group.has_all_members_joined:
        return complete_join_phase(classic, group)
    _await_joins(classic, group)
    return NOTHING


def complete_if_all_joined(classic: ClassicContext, group: ClassicGroup) -> Result:
    """Complete the join phase early if all members have joined, except the initial one, which ends after its delay."""
    if group.state is PREPARING_REBALANCE and group.previous_state is not EMPTY and group.has_all_members_joined:
        return complete_join_phase(classic, group)
    return NOTHING


def complete_join_phase(classic: ClassicContext, group: ClassicGroup) -> Result:
    """End the join phase: the members that joined form the next generation.

    Dynamic members that did not join are removed; static members stay (KIP-345).
    """
    if group.state is DEAD:
        return NOTHING
    classic.timer.cancel(group.join_key)
    for member in [member for member in group.members.values() if member.awaiting_join is None and not member.is_static]:
        group.remove(member.member_id)
        classic.timer.cancel(member.session_key)
        group.note(Reason(Why.JOIN_TIMEOUT, member.member_id))
    if group.members and not group.elect_joined_leader():
        # Only static members that did not join are left. Wait for them, or for the end of their sessions.
        _await_joins(classic, group)
        return NOTHING
    group.start_next_generation(classic.clock.wall_ms())
    if group.state is EMPTY:
        return generation_record(classic, group, {}, None)
    _answer_joins(classic, group)
    return NOTHING


def generation_record(
    classic: ClassicContext,
    group: ClassicGroup,
    assignments: Mapping[str, bytes],
    on_append: Callable[[ErrorCode | None], None] | None,
    on_overdue: Callable[[], int] | None = None,
) -> Result:
    """Return the record of the group's new generation, with its reasons as provenance. It is logged once it is durable."""
    reasons = group.take_reasons()
    record = group_metadata_record(group, assignments)
    since_ms, group.rebalancing_since_ms = group.rebalancing_since_ms, None
    took_ms = None if since_ms is None else classic.clock.now_ms() - since_ms
    told = {
        "group_id": group.group_id,
        "generation": group.generation_id,
        "members": len(group.members),
        "reasons": [f"{each.why} {each.whom}".rstrip() for each in reasons.values()],
        "took_ms": took_ms,
    }
    on_outcome = partial(_generation_written, group, reasons, on_append, partial(classic.tell, "rebalanced", **told))
    why = because(*reasons.values())
    why = why if took_ms is None else why.followed_by(rebalance_took(took_ms))
    return CoordinatorResult(DEFERRED, [record], on_outcome, attribution=why, on_overdue=on_overdue)


def _generation_written(
    group: ClassicGroup,
    reasons: dict[int, Reason],
    on_append: Callable[[ErrorCode | None], None] | None,
    tell: Callable[[], None],
    error: ErrorCode | None,
) -> None:
    if error is None:
        tell()
    else:
        group.take_back(reasons)
    if on_append is not None:
        on_append(error)


def joined(group: ClassicGroup, member_id: str, members: list[JoinGroupResponseMember] | None = None) -> JoinGroupResponse:
    """Return the JoinGroup answer for a member of the present generation; the leader's answer has the members."""
    return JoinGroupResponse(
        generation_id=group.generation_id,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=group.leader_id or "",
        member_id=member_id,
        members=members or [],
    )


def remove_member(classic: ClassicContext, group: ClassicGroup, member: ClassicGroupMember) -> Result:
    """Remove a member whose session has expired."""
    group.remove(member.member_id)
    group.note(Reason(Why.SESSION_TIMEOUT, member.member_id))
    classic.tell(
        "session-expired",
        group_id=group.group_id,
        member_id=member.member_id,
        client_host=member.client_host,
        session_timeout_ms=member.session_timeout_ms,
    )
    if group.state in {STABLE, COMPLETING_REBALANCE}:
        return prepare_rebalance(classic, group)
    return _complete_without(classic, group)


def remove_pending_member(classic: ClassicContext, group: ClassicGroup, member_id: str) -> Result:
    """Remove a pending member id with which no client has joined."""
    group.remove(member_id)
    return _complete_without(classic, group)


def reset_assignments(classic: ClassicContext, group: ClassicGroup, error: ErrorCode) -> None:
    """Clear all assignments, and answer waiting SyncGroups with ``error``. Called when the sync phase has failed."""
    for member in group.members.values():
        member.assignment = b""
    refuse_syncs(classic, group, error)


def refuse_syncs(classic: ClassicContext, group: ClassicGroup, error: ErrorCode) -> int:
    """Answer waiting SyncGroups with ``error``. Return their number."""
    waiting: list[Reply[SyncGroupResponse]] = []
    for member in group.members.values():
        reply = group.take_sync(member)
        if reply is not None:
            refresh_session(classic, member)
            waiting.append(reply)
    classic.answers.give(len(waiting), ((reply, SyncGroupResponse(error_code=error)) for reply in waiting))
    return len(waiting)


def set_assignments(classic: ClassicContext, group: ClassicGroup, assignments: dict[str, bytes]) -> None:
    """Set all assignments, and answer waiting SyncGroups. Called when the sync phase has succeeded.

    Sessions restart, because an expiry was ignored while the member waited and it sent no heartbeats.
    """
    waiting: list[tuple[Reply[SyncGroupResponse], bytes]] = []
    for member in group.members.values():
        member.assignment = assignments.get(member.member_id, b"")
        member.held = None
        reply = group.take_sync(member)
        if reply is not None:
            refresh_session(classic, member)
            waiting.append((reply, member.assignment))
    classic.answers.give(len(waiting), _sync_answers(group.protocol_type, group.protocol_name, waiting))


def _sync_answers(
    protocol_type: str | None, protocol_name: str | None, waiting: Iterable[tuple[Reply[SyncGroupResponse], bytes]]
) -> Iterator[Answer]:
    for reply, assignment in waiting:
        yield reply, SyncGroupResponse(protocol_type=protocol_type, protocol_name=protocol_name, assignment=assignment)


def _await_joins(classic: ClassicContext, group: ClassicGroup) -> None:
    classic.timer.schedule(group.join_key, group.rebalance_timeout_ms, partial(complete_join_phase, classic, group))


def _delay_initial_rebalance(classic: ClassicContext, group: ClassicGroup, delay_ms: int, remaining_ms: int) -> None:
    """Wait for more members to join. All delays together are limited by the rebalance timeout."""
    operation = partial(_extend_or_complete, classic, group, delay_ms, remaining_ms)
    classic.timer.schedule(group.join_key, delay_ms, operation)


def _extend_or_complete(classic: ClassicContext, group: ClassicGroup, delay_ms: int, remaining_ms: int) -> Result:
    if not group.has_new_member or remaining_ms == 0:
        return complete_join_phase(classic, group)
    group.has_new_member = False
    next_delay_ms = min(classic.config.live.group_initial_rebalance_delay_ms, remaining_ms)
    _delay_initial_rebalance(classic, group, next_delay_ms, max(remaining_ms - delay_ms, 0))
    return NOTHING


def _answer_joins(classic: ClassicContext, group: ClassicGroup) -> None:
    waiting: list[tuple[Reply[JoinGroupResponse], str]] = []
    for member in group.members.values():
        reply = group.take_join(member)
        if reply is not None:
            waiting.append((reply, member.member_id))
        refresh_session(classic, member)
        member.is_new = False
        group.pending_syncs[member.member_id] = None
    classic.answers.give(len(waiting), _join_answers(joined(group, ""), group.described_members(), waiting))
    operation = partial(_expire_pending_syncs, classic, group, group.generation_id)
    classic.timer.schedule(group.sync_key, group.rebalance_timeout_ms, operation)


def _join_answers(
    answer: JoinGroupResponse,
    members: list[JoinGroupResponseMember],
    waiting: Iterable[tuple[Reply[JoinGroupResponse], str]],
) -> Iterator[Answer]:
    for reply, member_id in waiting:
        yield reply, replace(answer, member_id=member_id, members=members if member_id == answer.leader else [])


def _expire_pending_syncs(classic: ClassicContext, group: ClassicGroup, generation_id: int) -> Result:
    """Remove the members that joined this generation but sent no SyncGroup."""
    is_past = generation_id != group.generation_id or group.state not in {COMPLETING_REBALANCE, STABLE}
    if is_past or not group.pending_syncs:
        return NOTHING
    silent = list(group.pending_syncs)
    for member_id in silent:
        group.remove(member_id)
        classic.timer.cancel(group.session_key(member_id))
        group.note(Reason(Why.SYNC_TIMEOUT, member_id))
    return prepare_rebalance(classic, group)


def _complete_without(classic: ClassicContext, group: ClassicGroup) -> Result:
    # Unlike ``complete_if_all_joined``, this also ends the initial delay, as Kafka does when a member expires during it.
    if group.state is PREPARING_REBALANCE and group.has_all_members_joined:
        return complete_join_phase(classic, group)
    return NOTHING
