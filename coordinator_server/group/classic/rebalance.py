"""The two phases of a rebalance, whoever set it off: members join, then wait for the leader's assignments.

    prepare_rebalance ──► join phase ──all joined | join timer──► complete_join_phase ──► sync phase ──► SyncGroup of the leader
                          (first generation: only the timer,                              (sync timer: those who
                          which is extended while members come)                           did not sync are removed)

Each step returns the CoordinatorResult that the operation or timer which led to it hands on: often nothing is to be written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from coordinator_server.group.classic.context import ClassicContext
from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.classic.member import ClassicGroupMember
from coordinator_server.group.classic.records import group_metadata_record
from coordinator_server.group.classic.state import COMPLETING_REBALANCE, DEAD, EMPTY, PREPARING_REBALANCE, STABLE
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult
from protocol.error_codes import ErrorCode
from protocol.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from protocol.messages.sync_group import SyncGroupResponse

Result = CoordinatorResult[Any]

# No records; who has to be answered has been, or waits.
NOTHING: Result = CoordinatorResult(DEFERRED)


def refresh_session(classic: ClassicContext, member: ClassicGroupMember) -> None:
    """The member was heard of: its session starts anew."""
    classic.timer.schedule(member.session_key, member.session_timeout_ms, member.expire)


def prepare_or_complete(classic: ClassicContext, group: ClassicGroup, reason: Reason) -> Result:
    """A member joins: begin a rebalance, or go on with the one that is under way."""
    if group.can_rebalance:
        group.note(reason)
        return prepare_rebalance(classic, group)
    return complete_if_all_joined(classic, group)


def go_on_without(classic: ClassicContext, group: ClassicGroup, reasons: Iterable[Reason]) -> Result:
    """Members are gone: begin a rebalance, or go on with the one that is under way."""
    for reason in reasons:
        group.note(reason)
    if group.state in {STABLE, COMPLETING_REBALANCE}:
        return prepare_rebalance(classic, group)
    return complete_if_all_joined(classic, group)


def prepare_rebalance(classic: ClassicContext, group: ClassicGroup) -> Result:
    """Begin the join phase; why has been noted. Members that wait for their assignment are sent back to join."""
    if group.state is COMPLETING_REBALANCE:
        reset_assignments(classic, group, ErrorCode.REBALANCE_IN_PROGRESS)
    group.pending_syncs.clear()
    classic.timer.cancel(group.sync_key)
    is_initial = group.state is EMPTY
    group.transition_to(PREPARING_REBALANCE, classic.clock.wall_ms())
    if is_initial:
        delay_ms = classic.config.group_initial_rebalance_delay_ms
        _delay_initial_rebalance(classic, group, delay_ms, max(group.rebalance_timeout_ms - delay_ms, 0))
        return NOTHING
    if group.has_all_members_joined:
        return complete_join_phase(classic, group)
    _await_joins(classic, group)
    return NOTHING


def complete_if_all_joined(classic: ClassicContext, group: ClassicGroup) -> Result:
    """Complete the join phase early. The initial one is left to its delay."""
    if group.state is PREPARING_REBALANCE and group.previous_state is not EMPTY and group.has_all_members_joined:
        return complete_join_phase(classic, group)
    return NOTHING


def complete_join_phase(classic: ClassicContext, group: ClassicGroup) -> Result:
    """Those who joined are the next generation. Dynamic members who did not are out; static ones keep their place (KIP-345)."""
    if group.state is DEAD:
        return NOTHING
    classic.timer.cancel(group.join_key)
    for member in [member for member in group.members.values() if member.awaiting_join is None and not member.is_static]:
        group.remove(member.member_id)
        classic.timer.cancel(member.session_key)
        group.note(Reason(Why.JOIN_TIMEOUT, member.member_id))
    if group.members and not group.elect_joined_leader():
        # Only silent static members are left. Their sessions decide.
        _await_joins(classic, group)
        return NOTHING
    group.start_next_generation(classic.clock.wall_ms())
    if group.state is EMPTY:
        return generation_record(group, {}, None)
    _answer_joins(classic, group)
    return NOTHING


def generation_record(
    group: ClassicGroup, assignments: Mapping[str, bytes], on_append: Callable[[ErrorCode | None], None] | None
) -> Result:
    """The group's new generation, and why there is one."""
    told = group.take_reasons()
    record = group_metadata_record(group, assignments)
    on_outcome = partial(_generation_told, group, told, on_append)
    return CoordinatorResult(DEFERRED, [record], on_outcome, attribution=because(*told.values()))


def _generation_told(
    group: ClassicGroup,
    told: dict[int, Reason],
    on_append: Callable[[ErrorCode | None], None] | None,
    error: ErrorCode | None,
) -> None:
    if error is not None:
        group.take_back(told)
    if on_append is not None:
        on_append(error)


def joined(group: ClassicGroup, member_id: str, members: list[JoinGroupResponseMember] | None = None) -> JoinGroupResponse:
    """What a member hears of the present generation; the leader gets the members as well."""
    return JoinGroupResponse(
        generation_id=group.generation_id,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=group.leader_id or "",
        member_id=member_id,
        members=members or [],
    )


def remove_member(classic: ClassicContext, group: ClassicGroup, member: ClassicGroupMember) -> Result:
    """Let a member go that has not been heard of."""
    group.remove(member.member_id)
    group.note(Reason(Why.SESSION_TIMEOUT, member.member_id))
    if group.state in {STABLE, COMPLETING_REBALANCE}:
        return prepare_rebalance(classic, group)
    return _complete_without(classic, group)


def remove_pending_member(classic: ClassicContext, group: ClassicGroup, member_id: str) -> Result:
    """Nobody came back with this member id."""
    group.remove(member_id)
    return _complete_without(classic, group)


def reset_assignments(classic: ClassicContext, group: ClassicGroup, error: ErrorCode) -> None:
    """The sync phase failed: assignments are void, and those who wait for theirs are told so."""
    for member in group.members.values():
        member.assignment = b""
        if group.complete_sync(member, SyncGroupResponse(error_code=error)):
            refresh_session(classic, member)


def set_assignments(classic: ClassicContext, group: ClassicGroup, assignments: dict[str, bytes]) -> None:
    """The sync phase succeeded: everybody who waits gets its own.

    Sessions start anew: an expiry in the time of waiting was passed over, and no heartbeat has come since.
    """
    for member in group.members.values():
        member.assignment = assignments.get(member.member_id, b"")
        response = SyncGroupResponse(
            protocol_type=group.protocol_type, protocol_name=group.protocol_name, assignment=member.assignment
        )
        if group.complete_sync(member, response):
            refresh_session(classic, member)


def _await_joins(classic: ClassicContext, group: ClassicGroup) -> None:
    classic.timer.schedule(group.join_key, group.rebalance_timeout_ms, partial(complete_join_phase, classic, group))


def _delay_initial_rebalance(classic: ClassicContext, group: ClassicGroup, delay_ms: int, remaining_ms: int) -> None:
    """More members are likely to come: wait for them, all in all no longer than the rebalance timeout."""
    operation = partial(_extend_or_complete, classic, group, delay_ms, remaining_ms)
    classic.timer.schedule(group.join_key, delay_ms, operation)


def _extend_or_complete(classic: ClassicContext, group: ClassicGroup, delay_ms: int, remaining_ms: int) -> Result:
    if not group.has_new_member or remaining_ms == 0:
        return complete_join_phase(classic, group)
    group.has_new_member = False
    next_delay_ms = min(classic.config.group_initial_rebalance_delay_ms, remaining_ms)
    _delay_initial_rebalance(classic, group, next_delay_ms, max(remaining_ms - delay_ms, 0))
    return NOTHING


def _answer_joins(classic: ClassicContext, group: ClassicGroup) -> None:
    for member in group.members.values():
        members = group.described_members() if member.member_id == group.leader_id else None
        group.complete_join(member, joined(group, member.member_id, members))
        refresh_session(classic, member)
        member.is_new = False
        group.pending_syncs[member.member_id] = None
    operation = partial(_expire_pending_syncs, classic, group, group.generation_id)
    classic.timer.schedule(group.sync_key, group.rebalance_timeout_ms, operation)


def _expire_pending_syncs(classic: ClassicContext, group: ClassicGroup, generation_id: int) -> Result:
    """Members that joined this generation but never asked for their assignment are out."""
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
    # Unlike ``complete_if_all_joined`` this ends the initial delay too, as Kafka does when a member expires in it.
    if group.state is PREPARING_REBALANCE and group.has_all_members_joined:
        return complete_join_phase(classic, group)
    return NOTHING
