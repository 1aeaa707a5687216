"""Sessions: a member that sends no request within its session timeout is removed.

The timers measure the time that this server has been running. JoinGroup answers, SyncGroup answers, heartbeats and commits
refresh a session. An expiry is ignored while a JoinGroup or SyncGroup of the member waits.
"""

from __future__ import annotations

from functools import partial

from coordinator_server.group.classic.context import ClassicContext
from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.classic.member import ClassicGroupMember
from coordinator_server.group.classic.rebalance import (
    NOTHING,
    Result,
    prepare_rebalance,
    refresh_session,
    remove_member,
    remove_pending_member,
)
from coordinator_server.group.classic.state import DEAD
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason


def start_session(classic: ClassicContext, group: ClassicGroup, member: ClassicGroupMember, timeout_ms: int) -> None:
    """Arm the session timer of a new member."""
    member.expire = partial(_expire_session, classic, group, member.member_id)
    classic.timer.schedule(member.session_key, timeout_ms, member.expire)


def start_pending_session(classic: ClassicContext, group: ClassicGroup, member_id: str, timeout_ms: int) -> None:
    """Arm the session timer of a pending member id, within which a client must join with it."""
    classic.timer.schedule(group.session_key(member_id), timeout_ms, partial(_expire_session, classic, group, member_id))


def start_restored_sessions(classic: ClassicContext, group: ClassicGroup) -> None:
    """Start the whole session timeout of each member of a group that was built from the log."""
    for member in group.members.values():
        member.expire = partial(_expire_session, classic, group, member.member_id)
        refresh_session(classic, member)
    if len(group.members) > classic.config.live.group_max_size:
        # group.max.size was lowered. A rebalance lets the members that will be removed commit first.
        group.note(Reason(Why.GROUP_OVER_MAX_SIZE))
        prepare_rebalance(classic, group)


def _expire_session(classic: ClassicContext, group: ClassicGroup, member_id: str) -> Result:
    if group.state is DEAD:
        return NOTHING
    if member_id in group.pending_joins:
        return remove_pending_member(classic, group, member_id)
    member = group.members.get(member_id)
    if member is None or member.has_satisfied_heartbeat:
        return NOTHING
    return remove_member(classic, group, member)
