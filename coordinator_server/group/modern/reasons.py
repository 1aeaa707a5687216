"""Why an operation writes what it writes: in the attribution of its records, and in the server's own log, which has a line for each
new epoch and each expired session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from coordinator_server.group.modern.context import ModernContext
from coordinator_server.group.modern.member import ModernMember
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import CoordinatorResult
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode

OnAppend = Callable[[ErrorCode | None], None]


def why_of(context: ModernContext[Any], before: ModernMember, changed: Why | None, has_new_target: bool) -> Why:
    """Return why a heartbeat writes records. ``before`` is the member before it, ``changed`` what else it changes; or None."""
    if before.metadata is context.records.no_metadata:
        return Why.MEMBER_JOINED
    if changed is not None:
        return changed
    return Why.ASSIGNMENT_DUE if has_new_target else Why.RECONCILED


def result_because(
    context: ModernContext[Any],
    reasons: Sequence[Reason],
    response: Any,
    records: Sequence[CoordinatorRecord],
    on_append: OnAppend | None = None,
) -> CoordinatorResult[Any]:
    """Return the result of an operation that writes records for these reasons. A new epoch is logged once it is durable."""
    for record in records:
        if isinstance(record.key, context.records.epoch_key) and record.value is not None:
            key: Any = record.key
            value: Any = record.value
            on_append = partial(_tell, context, key.group_id, value.epoch, reasons, on_append)
            break
    return CoordinatorResult(response, records, on_append, attribution=because(*reasons))


def log_expired_session(context: ModernContext[Any], group_id: str, member: Any) -> None:
    """Log that the session of a member has expired."""
    context.tell(
        "session-expired",
        group_id=group_id,
        member_id=member.member_id,
        client_host=member.metadata.client_host,
        session_timeout_ms=context.session_timeout_ms(group_id, member),
    )


def _tell(
    context: ModernContext[Any],
    group_id: str,
    epoch: int,
    reasons: Sequence[Reason],
    on_append: OnAppend | None,
    error: ErrorCode | None,
) -> None:
    group = context.groups.by_id.get(group_id)
    if error is None and group is not None:
        said = [f"{each.why} {each.whom}".rstrip() for each in reasons]
        context.tell("rebalanced", group_id=group_id, epoch=epoch, members=len(group.members), reasons=said)
    if on_append is not None:
        on_append(error)
