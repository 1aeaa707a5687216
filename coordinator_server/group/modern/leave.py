"""Members leave a group: by a heartbeat, or at the end of their session. The group gets a new epoch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from coordinator_server.group.modern.context import ModernContext
from coordinator_server.group.modern.group import ModernGroup
from coordinator_server.group.modern.reasons import log_expired_session, result_because
from coordinator_server.group.modern.sessions import end_session, restart_session
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode

NOTHING: Final[CoordinatorResult[Any]] = CoordinatorResult(DEFERRED)

Fence = Callable[[Any, Any, Sequence[Any], Why], CoordinatorResult[Any]]
"""Removes members: of the context, the group, the members, and why."""


class Removal(NamedTuple):
    """Members that leave a group, and why."""

    members: Sequence[Any]
    why: Why
    records: Sequence[CoordinatorRecord]
    """What follows the tombstones of their records. That of the group's new epoch is the last."""


def remove_members(
    context: ModernContext[Any], group: ModernGroup[Any, Any], removal: Removal, response: Any
) -> CoordinatorResult[Any]:
    """Return the result of a removal. The partitions of the members are free at once."""
    members, why, others = removal
    group_id, records = group.group_id, context.records
    written = [each for member in members for each in records.member_tombstones(group_id, member.member_id)]
    written += others
    member_ids = [member.member_id for member in members]
    for member_id in member_ids:
        end_session(context, group_id, member_id)
    reasons = [Reason(why, member_id) for member_id in member_ids]
    on_append = partial(_take_back, context, group_id, member_ids)
    return result_because(context, reasons, response, written, on_append)


def expire_session(context: ModernContext[Any], fence: Fence, group_id: str, member_id: str) -> CoordinatorResult[Any]:
    """Remove a member whose session has ended."""
    group = context.groups.by_id.get(group_id)
    member = None if group is None else group.members.get(member_id)
    if group is None or member is None:
        end_session(context, group_id, member_id)
        # The member is back if what has removed or replaced it is not written.
        return CoordinatorResult(DEFERRED, on_append=partial(_take_back, context, group_id, [member_id]))
    log_expired_session(context, group_id, member)
    return fence(context, group, [member], Why.SESSION_TIMEOUT)


def _take_back(context: ModernContext[Any], group_id: str, member_ids: Sequence[str], error: ErrorCode | None) -> None:
    if error is not None:
        for member_id in member_ids:
            restart_session(context, group_id, member_id)
