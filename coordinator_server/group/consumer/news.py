"""What the server's own log says of consumer groups: a line for each new epoch, and for each session that expires."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.member import ConsumerGroupMember
from coordinator_server.machine.provenance import Reason
from coordinator_server.machine.shard import CoordinatorResult
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_records import ConsumerGroupMetadataKey, ConsumerGroupMetadataValue

OnAppend = Callable[[ErrorCode | None], None]


def with_news(consumer: ConsumerContext, result: CoordinatorResult[Any], reasons: Sequence[Reason]) -> CoordinatorResult[Any]:
    """Return the result of an operation that tells of the epoch that its records begin, if they do, once it is durable."""
    for record in result.records:
        if isinstance(record.key, ConsumerGroupMetadataKey) and isinstance(record.value, ConsumerGroupMetadataValue):
            told = partial(_tell, consumer, record.key.group_id, record.value.epoch, reasons, result.on_append)
            return replace(result, on_append=told)
    return result


def tell_expired(consumer: ConsumerContext, group_id: str, member: ConsumerGroupMember) -> None:
    """Tell that the session of a member has expired."""
    own = member.classic_member_metadata
    timeout_ms = consumer.settings(group_id).consumer.session_timeout_ms if own is None else own.session_timeout_ms
    consumer.tell(
        "session-expired",
        group_id=group_id,
        member_id=member.member_id,
        client_host=member.metadata.client_host,
        session_timeout_ms=timeout_ms,
    )


def _tell(
    consumer: ConsumerContext,
    group_id: str,
    epoch: int,
    reasons: Sequence[Reason],
    on_append: OnAppend | None,
    error: ErrorCode | None,
) -> None:
    group = consumer.groups.by_id.get(group_id)
    if error is None and group is not None:
        said = [f"{each.why} {each.whom}".rstrip() for each in reasons]
        consumer.tell("rebalanced", group_id=group_id, epoch=epoch, members=len(group.members), reasons=said)
    if on_append is not None:
        on_append(error)
