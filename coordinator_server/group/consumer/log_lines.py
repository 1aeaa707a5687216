"""Lines of the server's own log about consumer groups: one for each new epoch and each expired session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.member import ConsumerGroupMember
from coordinator_server.group.modern.epoch_lines import with_epoch_line
from coordinator_server.machine.provenance import Reason
from coordinator_server.machine.shard import CoordinatorResult
from protocol.messages.consumer_group_records import ConsumerGroupMetadataKey


def with_consumer_epoch_line(
    consumer: ConsumerContext, result: CoordinatorResult[Any], reasons: Sequence[Reason]
) -> CoordinatorResult[Any]:
    """Return the result of an operation. If its records start an epoch, that is logged once it is durable."""
    return with_epoch_line(consumer, ConsumerGroupMetadataKey, result, reasons)


def log_expired_session(consumer: ConsumerContext, group_id: str, member: ConsumerGroupMember) -> None:
    """Log that the session of a member has expired."""
    own = member.classic_member_metadata
    timeout_ms = consumer.settings(group_id).consumer.session_timeout_ms if own is None else own.session_timeout_ms
    consumer.tell(
        "session-expired",
        group_id=group_id,
        member_id=member.member_id,
        client_host=member.metadata.client_host,
        session_timeout_ms=timeout_ms,
    )
