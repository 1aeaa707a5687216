"""Limits of what the members of groups of the newer protocols may take. Kafka has none of them, except the size of a group.

| what | limit | answer |
|---|---|---|
| topics that a request names | MAX_TOPICS | INVALID_REQUEST |
| a member's record | `message.max.bytes` | INVALID_REQUEST |
| the members of a group in memory | `group.max.bytes` | GROUP_MAX_SIZE_REACHED |
| those of all groups of a loop | `members.max.bytes` | COORDINATOR_NOT_AVAILABLE, which clients retry |

A member that is too much is refused before it exists, and a present one keeps what it had.
"""

from __future__ import annotations

from collections.abc import Iterable, Sized
from typing import Any, Final, Protocol

from coordinator_server.config import Config
from coordinator_server.group.modern.members_memory import MembersMemory
from coordinator_server.group.modern.records import GroupRecords
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import Report
from coordinator_server.machine.timeline import TimelineValue
from protocol.error_codes import ErrorCode

MAX_TOPICS: Final = 5_000
"""A request with more would take the loop for long: they are sorted, counted and hashed. A client names one to some hundred."""
# Objects of a member and of a topic that it names, beside their texts: rounded up.
_MEMBER_BYTES: Final = 1000
_NAME_BYTES: Final = 60


class Limiting(Protocol):
    """The context of a type's operations."""

    config: Config
    report: Report
    memory: MembersMemory
    records: GroupRecords


class LimitedGroup(Protocol):
    """A group that knows about what its members take in memory."""

    group_id: str
    member_bytes: TimelineValue[int]

    @property
    def members(self) -> Sized: ...


def texts_bytes(texts: Iterable[str | None], names: Iterable[str]) -> int:
    """Return about what a member with these texts, and the names of its topics, takes in memory."""
    size = _MEMBER_BYTES + sum([len(text.encode()) for text in texts if text])
    return size + sum([_NAME_BYTES + len(name.encode()) for name in names])


def refuse_many_topics(context: Limiting, group_id: str, names: int) -> None:
    """Refuse a request that names too many topics. Raises INVALID_REQUEST."""
    if names > MAX_TOPICS:
        context.report("member-refused", group_id=group_id, problem="too many topics")
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, f"A member may name {MAX_TOPICS} topics.")


def refuse_too_large(context: Limiting, group: LimitedGroup, old: Any, new: Any, other_bytes: int = 0) -> None:
    """Refuse new metadata of a member, and what comes with it, for which there is no room. Raises CoordinatorError."""
    new_bytes = context.records.bytes_of(new) + other_bytes
    # An eighth of the batch is left for the other records of the request, and the memory of a text is more than its bytes.
    if new_bytes > context.config.log.message_max_bytes - context.config.log.message_max_bytes // 8:
        context.report("member-refused", group_id=group.group_id, problem="metadata too large")
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, "The member's subscription is too large.")
    more = new_bytes - context.records.bytes_of(old)
    if more <= 0:
        return
    used = group.member_bytes.value
    if used + more > context.config.live.group_max_bytes:
        context.report("group-full", group_id=group.group_id, members=len(group.members), memory_bytes=used)
        message = f"The members of the {context.records.type_name} group take too much memory."
        raise CoordinatorError(ErrorCode.GROUP_MAX_SIZE_REACHED, message)
    used = context.memory.count()
    if used + more > context.config.live.members_max_bytes:
        context.report("members-full", memory_bytes=used, action="raise members.max.bytes")
        raise CoordinatorError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
