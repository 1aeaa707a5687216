"""Lines of the server's own log about groups of the newer protocols: one for each new epoch and each expired session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from coordinator_server.group.modern.context import ModernContext
from coordinator_server.machine.provenance import Reason
from coordinator_server.machine.shard import CoordinatorResult
from protocol.error_codes import ErrorCode

OnAppend = Callable[[ErrorCode | None], None]


def with_epoch_line(
    context: ModernContext[Any], result: CoordinatorResult[Any], reasons: Sequence[Reason]
) -> CoordinatorResult[Any]:
    """Return the result of an operation. If its records start an epoch, that is logged once it is durable."""
    for record in result.records:
        if isinstance(record.key, context.records.epoch_key) and record.value is not None:
            key: Any = record.key
            value: Any = record.value
            told = partial(_tell, context, key.group_id, value.epoch, reasons, result.on_append)
            return replace(result, on_append=told)
    return result


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
