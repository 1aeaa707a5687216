"""Limits of what the members of consumer groups may take. Kafka has none of them, except ``group.consumer.max.size``.

| what | limit | answer |
|---|---|---|
| topics that a request names | MAX_TOPICS | INVALID_REQUEST |
| a member's record | `message.max.bytes` | INVALID_REQUEST |
| the members of a group in memory | `group.max.bytes` | GROUP_MAX_SIZE_REACHED |
| those of all groups of a loop | `members.max.bytes` | COORDINATOR_NOT_AVAILABLE, which clients retry |

A member that is too much is refused before it exists, and a present one keeps what it had.
"""

from __future__ import annotations

from typing import Final

from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.group import ConsumerGroup, metadata_bytes
from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_records import ConsumerGroupMemberMetadataValue

MAX_TOPICS: Final = 5_000
"""A request with more would take the loop for long: they are sorted, counted and hashed. A client names one to some hundred."""


def refuse_many_topics(consumer: ConsumerContext, group_id: str, names: int) -> None:
    """Refuse a request that names too many topics. Raises INVALID_REQUEST."""
    if names > MAX_TOPICS:
        consumer.report("member-refused", group_id=group_id, problem="too many topics")
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, f"A member may name {MAX_TOPICS} topics.")


def refuse_too_large(
    consumer: ConsumerContext, group: ConsumerGroup, old: ConsumerGroupMemberMetadataValue, new: ConsumerGroupMemberMetadataValue
) -> None:
    """Refuse new metadata of a member for which there is no room. Raises CoordinatorError."""
    size = metadata_bytes(new)
    # An eighth of the batch is left for the other records of the request, and the memory of a text is more than its bytes.
    if size > consumer.config.message_max_bytes - consumer.config.message_max_bytes // 8:
        consumer.report("member-refused", group_id=group.group_id, problem="metadata too large")
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, "The member's subscription is too large.")
    more = size - metadata_bytes(old)
    if more <= 0:
        return
    used = group.member_bytes.value
    if used + more > consumer.config.group_max_bytes:
        consumer.report("group-full", group_id=group.group_id, members=len(group.members), memory_bytes=used)
        raise CoordinatorError(ErrorCode.GROUP_MAX_SIZE_REACHED, "The members of the consumer group take too much memory.")
    used = consumer.count_memory()
    if used + more > consumer.config.members_max_bytes:
        consumer.report("members-full", memory_bytes=used, action="raise members.max.bytes")
        raise CoordinatorError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
