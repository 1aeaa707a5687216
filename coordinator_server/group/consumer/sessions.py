"""Sessions and rebalance timeouts of members. Both measure the time that this server has been running.

A member that sends no heartbeat within the session timeout is removed, and so is one that has to give up partitions and does not
do it within its rebalance timeout. After a load, all of them begin anew. What happens when one ends is in ``leave.py``.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from coordinator_server.group.consumer.context import ConsumerContext, Session
from coordinator_server.group.consumer.member import ConsumerGroupMember, MemberState

RETRY_MS: Final = 500
"""After this time an expiry is repeated whose records were not written."""


def refresh_session(consumer: ConsumerContext, group_id: str, member_id: str, timeout_ms: int | None = None) -> Session:
    """Start the session of a member, or start it again: with the group's timeout, or its own if it uses the classic protocol."""
    session = session_of(consumer, group_id, member_id)
    if timeout_ms is None:
        timeout_ms = consumer.settings(group_id).consumer.session_timeout_ms
    consumer.timer.schedule(session.key, timeout_ms, session.expire, RETRY_MS)
    return session


def session_of(consumer: ConsumerContext, group_id: str, member_id: str) -> Session:
    """Return the timers of a member, which need not run."""
    of_group = consumer.sessions.get(group_id)
    if of_group is None:
        of_group = consumer.sessions[group_id] = {}
    session = of_group.get(member_id)
    if session is None:
        session = of_group[member_id] = Session(group_id, member_id, partial(consumer.on_session_end, group_id, member_id))
    return session


def await_revocation(consumer: ConsumerContext, group_id: str, member: ConsumerGroupMember) -> None:
    """Start the rebalance timeout of a member that has partitions to give up, or stop it if it has none."""
    session = consumer.sessions[group_id][member.member_id]
    if member.state is not MemberState.UNREVOKED_PARTITIONS:
        consumer.timer.cancel(session.rebalance_key)
        return
    expire = partial(consumer.on_revocation_end, group_id, member.member_id, member.member_epoch)
    consumer.timer.schedule(session.rebalance_key, member.metadata.rebalance_timeout_ms, expire, RETRY_MS)


def end_sessions(consumer: ConsumerContext, group_id: str, member_id: str) -> None:
    """Stop the timers of a member that is removed."""
    of_group = consumer.sessions.get(group_id, {})
    session = of_group.pop(member_id, None)
    if session is None:
        return
    for key in session.keys:
        consumer.timer.cancel(key)
    if not of_group:
        del consumer.sessions[group_id]


def restart_sessions(consumer: ConsumerContext, group_id: str, member_id: str) -> None:
    """Start the timers of a member anew: after a load, or when a change of it was not written.

    End its session if it is no longer a member.
    """
    group = consumer.groups.by_id.get(group_id)
    member = None if group is None else group.members.get(member_id)
    if member is None:
        end_sessions(consumer, group_id, member_id)
        return
    refresh_session(consumer, group_id, member_id)
    await_revocation(consumer, group_id, member)


def start_all_sessions(consumer: ConsumerContext) -> None:
    """Start the sessions of all members after a load. Nobody could send heartbeats meanwhile."""
    for group_id, group in consumer.groups.by_id.items():
        for member_id in group.members:
            restart_sessions(consumer, group_id, member_id)
    consumer.memory.count()


def end_all_sessions(consumer: ConsumerContext) -> None:
    """Stop all timers, and forget the rest of the soft state: the shard is unloaded."""
    for group_id, of_group in list(consumer.sessions.items()):
        for member_id in list(of_group):
            end_sessions(consumer, group_id, member_id)
    consumer.memory.forget()
