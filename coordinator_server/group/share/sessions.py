"""Sessions of members, which measure the time that this server has been running.

A member that sends no heartbeat within the session timeout is removed. After a load, all sessions begin anew.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from coordinator_server.group.share.context import ShareContext
from coordinator_server.group.share.session import Session

RETRY_MS: Final = 500
"""After this time an expiry is repeated whose records were not written."""


def refresh_session(share: ShareContext, group_id: str, member_id: str) -> Session:
    """Start the session of a member, or start it again."""
    of_group = share.sessions.get(group_id)
    if of_group is None:
        of_group = share.sessions[group_id] = {}
    session = of_group.get(member_id)
    if session is None:
        session = of_group[member_id] = Session(group_id, member_id, partial(share.on_session_end, group_id, member_id))
    share.timer.schedule(session.key, share.settings(group_id).share.session_timeout_ms, session.expire, RETRY_MS)
    return session


def end_session(share: ShareContext, group_id: str, member_id: str) -> None:
    """Stop the timer of a member that is removed."""
    of_group = share.sessions.get(group_id, {})
    session = of_group.pop(member_id, None)
    if session is not None:
        share.timer.cancel(session.key)
        if not of_group:
            del share.sessions[group_id]


def restart_session(share: ShareContext, group_id: str, member_id: str) -> None:
    """Start a session anew: after a load, or when a change of the member was not written. Stop it if it is not a member."""
    group = share.groups.by_id.get(group_id)
    if group is None or member_id not in group.members:
        end_session(share, group_id, member_id)
    else:
        refresh_session(share, group_id, member_id)


def start_all_sessions(share: ShareContext) -> None:
    """Start the sessions of all members after a load. Nobody could send heartbeats meanwhile."""
    for group_id, group in share.groups.by_id.items():
        for member_id in group.members:
            refresh_session(share, group_id, member_id)
    share.memory.count()


def end_all_sessions(share: ShareContext) -> None:
    """Stop all timers, and forget the rest of the soft state: the shard is unloaded."""
    for group_id, of_group in list(share.sessions.items()):
        for member_id in list(of_group):
            end_session(share, group_id, member_id)
    share.memory.forget()
