"""Sessions of members, which measure the time that this server has been running.

A member that sends no heartbeat within the session timeout is removed (``leave.py``). After a load, all sessions begin anew. So
do the timers of a member when a change that they follow is not written.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from coordinator_server.group.modern.context import ModernContext, Session
from protocol.error_codes import ErrorCode

RETRY_MS: Final = 500
"""After this time an expiry is repeated whose records were not written."""


def refresh_session(context: ModernContext[Any], group_id: str, member_id: str, timeout_ms: int | None = None) -> Session:
    """Start the session of a member, or start it again: with the group's timeout, unless one is given."""
    of_group = context.sessions.get(group_id)
    if of_group is None:
        of_group = context.sessions[group_id] = {}
    session = of_group.get(member_id)
    if session is None:
        key = context.timer_key("session", group_id, member_id)
        session = of_group[member_id] = Session(key, partial(context.on_session_end, group_id, member_id))
    if timeout_ms is None:
        timeout_ms = context.settings_of(group_id).session_timeout_ms
    context.timer.schedule(session.key, timeout_ms, session.expire, RETRY_MS)
    return session


def end_session(context: ModernContext[Any], group_id: str, member_id: str) -> None:
    """Stop the timers of a member that is removed."""
    of_group = context.sessions.get(group_id, {})
    session = of_group.pop(member_id, None)
    if session is None:
        return
    context.timer.cancel(session.key)
    _cancel_further_timers(context, group_id, member_id)
    if not of_group:
        del context.sessions[group_id]


def end_if_gone(context: ModernContext[Any], group_id: str, member_id: str) -> None:
    """Stop the timers of a member that was replaced, when that is durable: it may have come back meanwhile."""
    if _member_of(context, group_id, member_id) is None:
        end_session(context, group_id, member_id)


def restart_session(context: ModernContext[Any], group_id: str, member_id: str) -> None:
    """Start the timers of a member anew: after a load, or when a change was not written that they follow.

    End its session if it is no longer a member.
    """
    member = _member_of(context, group_id, member_id)
    if member is None:
        end_session(context, group_id, member_id)
        return
    refresh_session(context, group_id, member_id, context.session_timeout_ms(group_id, member))
    _cancel_further_timers(context, group_id, member_id)
    context.on_restart(group_id, member)


def _member_of(context: ModernContext[Any], group_id: str, member_id: str) -> Any:
    group = context.groups.by_id.get(group_id)
    return None if group is None else group.members.get(member_id)


def _cancel_further_timers(context: ModernContext[Any], group_id: str, member_id: str) -> None:
    for name in context.timers:
        context.timer.cancel(context.timer_key(name, group_id, member_id))


def settle_session(
    context: ModernContext[Any], group_id: str, member_id: str, then: Callable[[], None] | None, error: ErrorCode | None
) -> None:
    """Take the outcome of the records that a request has made, or on which its answer depends.

    Restart the timers of the member if they were not written, call ``then`` if so.
    """
    if error is not None:
        restart_session(context, group_id, member_id)
    elif then is not None:
        then()


def start_all_sessions(context: ModernContext[Any]) -> None:
    """Start the sessions of all members after a load. Nobody could send heartbeats meanwhile."""
    for group_id, group in context.groups.by_id.items():
        for member_id in group.members:
            restart_session(context, group_id, member_id)
    context.memory.count()


def end_all_sessions(context: ModernContext[Any]) -> None:
    """Stop all timers, and forget the rest of the soft state: the shard is unloaded."""
    for group_id, of_group in list(context.sessions.items()):
        for member_id in list(of_group):
            end_session(context, group_id, member_id)
    context.memory.forget()
