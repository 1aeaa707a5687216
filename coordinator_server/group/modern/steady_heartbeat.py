"""The steady heartbeat: it says nothing new and finds nothing new. The hottest path of the newer groups.

A heartbeat that changed nothing leaves behind what it looked at, and the next one compares. The records of a group are what they
were if it has no later one, and nothing was reverted. Beside them, a heartbeat depends on topics, on settings, and on what its type
names.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from coordinator_server.group.common.settings import GroupSettings
from coordinator_server.group.modern.context import ModernContext, Session
from coordinator_server.group.modern.group import ModernGroup
from coordinator_server.group.modern.sessions import RETRY_MS
from coordinator_server.machine.shard import Again


class _Seen(NamedTuple):
    """What a group was when a heartbeat changed nothing. Its records end before ``end_offset``."""

    group: ModernGroup[Any, Any]
    epoch: int
    end_offset: int
    reverts: int
    settings: GroupSettings
    session_timeout_ms: int


def again(
    context: ModernContext[Any], group: ModernGroup[Any, Any], session: Session, is_same: Callable[[], bool] | None = None
) -> Again:
    """Return the short way of a bare heartbeat that has changed nothing, of a member in the group's epoch.

    ``is_same`` returns whether soft state is what it was, if the type has any on which a heartbeat depends.
    """
    group_id = group.group_id
    timeout_ms = context.settings_of(group_id).session_timeout_ms
    seen = _Seen(group, group.group_epoch, group.end_offset.value, context.groups.reverts, context.settings(group_id), timeout_ms)
    short_way = partial(_again, context, session, seen)
    return short_way if is_same is None else lambda durable: is_same() and short_way(durable)


def _again(context: ModernContext[Any], session: Session, seen: _Seen, durable: int) -> bool:
    """Refresh the session if nothing has changed that the heartbeat checks."""
    group, epoch, end_offset, reverts, settings, timeout_ms = seen
    group_id = group.group_id
    if (
        context.groups.by_id.get(group_id) is not group
        or group.end_offset.value != end_offset
        or context.groups.registry.reverts != reverts
        or group.compared_epoch != epoch
        or context.settings(group_id) is not settings
        or end_offset > durable
    ):
        return False
    context.timer.schedule(session.key, timeout_ms, session.expire, RETRY_MS)
    return True
