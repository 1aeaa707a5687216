"""The timers of classic members of consumer groups: their own session timeout, and two with their rebalance timeout.

| timer | starts | ends |
|---|---|---|
| session | with each request | |
| join | when the member must join again | with its join, or when it need not join any more |
| sync | with the answer to its join | with its sync |

A member is removed when one of them expires. They measure the time that this server has been running. A revocation has no timer of
its own: the member must join again for it. If the change is not written for which a member has to join, or which its join has made,
neither of the two goes on (``modern/sessions.py``).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import partial
from typing import Any

from coordinator_server.group.consumer.context import JOIN, SYNC, ConsumerContext
from coordinator_server.group.consumer.leave import fence
from coordinator_server.group.consumer.member import ConsumerGroupMember
from coordinator_server.group.modern.sessions import RETRY_MS, refresh_session, restart_session
from coordinator_server.group.registry import Groups
from coordinator_server.group.why import Why
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult


def refresh_classic_session(consumer: ConsumerContext, group_id: str, member: ConsumerGroupMember) -> None:
    """Start the session of a classic member again."""
    own = member.classic_member_metadata
    assert own is not None
    refresh_session(consumer, group_id, member.member_id, own.session_timeout_ms)


def resume_sessions(groups: Groups, group_id: str, member_ids: Iterable[str]) -> None:
    """Bring the sessions in line with the group that is back, of either type, when a conversion of these members is not written.

    With conversions on top of each other it may be of the type that the last one made.
    """
    for member_id in member_ids:
        restart_session(groups.consumer_context, group_id, member_id)
    groups.classic.find(group_id)


def await_join(consumer: ConsumerContext, group_id: str, member: ConsumerGroupMember) -> None:
    """Start the time for a member to join again, unless it runs since an earlier request."""
    key = consumer.timer_key(JOIN, group_id, member.member_id)
    if not consumer.timer.is_scheduled(key):
        _schedule(consumer, group_id, member, key, Why.JOIN_TIMEOUT)


def need_not_join(consumer: ConsumerContext, group_id: str, member_id: str) -> None:
    """End the time for a member to join, if it runs: the member may not have heard that it should."""
    consumer.timer.cancel(consumer.timer_key(JOIN, group_id, member_id))


def await_sync(consumer: ConsumerContext, group_id: str, member: ConsumerGroupMember) -> None:
    """End the time for a member to join, and start the time for its sync."""
    need_not_join(consumer, group_id, member.member_id)
    _schedule(consumer, group_id, member, consumer.timer_key(SYNC, group_id, member.member_id), Why.SYNC_TIMEOUT)


def has_synced(consumer: ConsumerContext, group_id: str, member_id: str) -> None:
    """End the time for a member's sync."""
    consumer.timer.cancel(consumer.timer_key(SYNC, group_id, member_id))


def _schedule(consumer: ConsumerContext, group_id: str, member: ConsumerGroupMember, key: Hashable, why: Why) -> None:
    expire = partial(_expire, consumer, group_id, member.member_id, why)
    consumer.timer.schedule(key, member.metadata.rebalance_timeout_ms, expire, RETRY_MS)


def _expire(consumer: ConsumerContext, group_id: str, member_id: str, why: Why) -> CoordinatorResult[Any]:
    """Remove a member. Do nothing if it has left, or has changed to the consumer protocol."""
    group = consumer.groups.by_id.get(group_id)
    member = None if group is None else group.members.get(member_id)
    if group is None or member is None or member.classic_member_metadata is None:
        return CoordinatorResult(DEFERRED)
    return fence(consumer, group, [member], why)
