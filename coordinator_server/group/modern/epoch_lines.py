"""Lines of the server's own log about groups of the newer protocols: one for each new epoch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from msgspec.structs import replace

from coordinator_server.group.modern.group_table import GroupTable
from coordinator_server.machine.provenance import Reason
from coordinator_server.machine.shard import CoordinatorResult, Report
from protocol.error_codes import ErrorCode
from protocol.fields import Message

OnAppend = Callable[[ErrorCode | None], None]


class ReportingContext(Protocol):
    """The context of a type's operations."""

    tell: Report

    @property
    def groups(self) -> GroupTable[Any]: ...


def with_epoch_line(
    context: ReportingContext, epoch_key: type[Message], result: CoordinatorResult[Any], reasons: Sequence[Reason]
) -> CoordinatorResult[Any]:
    """Return the result of an operation. If its records start an epoch, that is logged once it is durable.

    ``epoch_key`` is the key of the record of a group's epoch.
    """
    for record in result.records:
        if isinstance(record.key, epoch_key) and record.value is not None:
            key: Any = record.key
            value: Any = record.value
            told = partial(_tell, context, key.group_id, value.epoch, reasons, result.on_append)
            return replace(result, on_append=told)
    return result


def _tell(
    context: ReportingContext,
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
