"""The rebalance timeout of members. A member that does not give up in time what it loses is removed (``leave.py``).

It measures the time that this server has been running, and begins anew after a load.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from coordinator_server.group.modern.context import ModernContext
from coordinator_server.group.modern.leave import NOTHING, Fence
from coordinator_server.group.modern.sessions import RETRY_MS
from coordinator_server.group.why import Why
from coordinator_server.machine.shard import CoordinatorResult

REBALANCE: Final = "rebalance"
"""The timer's name, in ``ModernContext.timers``."""


def await_revocation(context: ModernContext[Any], fence: Fence, group_id: str, member: Any) -> None:
    """Start the rebalance timeout of a member that has something to give up, or stop it if it has nothing."""
    key = context.timer_key(REBALANCE, group_id, member.member_id)
    if not member.is_revoking:
        context.timer.cancel(key)
        return
    expire = partial(expire_revocation, context, fence, group_id, member.member_id, member.member_epoch)
    context.timer.schedule(key, member.metadata.rebalance_timeout_ms, expire, RETRY_MS)


def expire_revocation(
    context: ModernContext[Any], fence: Fence, group_id: str, member_id: str, member_epoch: int
) -> CoordinatorResult[Any]:
    """Remove a member that did not give up in time what it loses, if it is still in the same epoch."""
    group = context.groups.by_id.get(group_id)
    member = None if group is None else group.members.get(member_id)
    if group is None or member is None or member.member_epoch != member_epoch:
        return NOTHING
    return fence(context, group, [member], Why.REVOCATION_TIMEOUT)
