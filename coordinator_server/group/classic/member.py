"""One member of a classic group: its JoinGroup fields, its assignment, and its waiting request."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import Any, NamedTuple

from coordinator_server.machine.shard import CoordinatorResult, Reply
from protocol.messages.join_group import JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.sync_group import SyncGroupResponse

# Objects of a member, a pending member id and a protocol, beside their texts: rounded up from measurements.
_MEMBER_BYTES = 1000
_PENDING_BYTES = 500
_PROTOCOL_BYTES = 150
# The timeouts and lengths of a member in the group's record, and the slash before its host.
_ENTRY_BYTES = 40


class MemberSize(NamedTuple):
    """What a member takes in memory, and at most in the record of its group, without its assignment."""

    memory_bytes: int
    record_bytes: int


def member_size(
    member_id: str, group_instance_id: str | None, client_id: str, client_host: str, protocols: list[JoinGroupRequestProtocol]
) -> MemberSize:
    """Return the size of a member. The record has the metadata of one protocol, which is not known yet."""
    texts = len(f"{member_id}{group_instance_id or ''}{client_id}{client_host}".encode())
    of_protocols = largest = 0
    for protocol in protocols:
        size = len(protocol.metadata)
        of_protocols += _PROTOCOL_BYTES + len(protocol.name) + size
        largest = max(largest, size)
    return MemberSize(_MEMBER_BYTES + texts + of_protocols, _ENTRY_BYTES + texts + largest)


def pending_size(member_id: str) -> int:
    """Return what a pending member id takes in memory."""
    return _PENDING_BYTES + len(member_id.encode())


class ClassicGroupMember:
    """The soft state of a member. At most one JoinGroup and one SyncGroup of a member wait at a time."""

    __slots__ = (
        "assignment",
        "awaiting_join",
        "awaiting_sync",
        "client_host",
        "client_id",
        "expire",
        "group_instance_id",
        "held",
        "is_new",
        "member_id",
        "protocol_type",
        "protocols",
        "rebalance_timeout_ms",
        "session_key",
        "session_timeout_ms",
        "size",
    )

    expire: Callable[[], CoordinatorResult[Any]]
    """The operation of its session timer. Set when the session starts, so that a heartbeat allocates nothing."""
    session_key: Hashable

    def __init__(self, member_id: str, group_instance_id: str | None, client_id: str, client_host: str) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout_ms = 0
        self.session_timeout_ms = 0
        self.protocol_type = ""
        # In order of the member's preference.
        self.protocols: list[JoinGroupRequestProtocol] = []
        self.assignment = b""
        # What it has, if that is not its assignment: in a group that was a consumer group, until its next generation.
        self.held: bytes | None = None
        self.awaiting_join: Reply[JoinGroupResponse] | None = None
        self.awaiting_sync: Reply[SyncGroupResponse] | None = None
        # The member has not got a JoinGroup answer yet and may be gone, so its session can expire while it waits.
        self.is_new = False
        # Set by the group, when it counts the member.
        self.size = MemberSize(0, 0)

    @property
    def is_static(self) -> bool:
        return self.group_instance_id is not None

    @property
    def has_satisfied_heartbeat(self) -> bool:
        """Whether the member's session cannot expire, because it waits for an answer and cannot send heartbeats."""
        return not self.is_new and (self.awaiting_join is not None or self.awaiting_sync is not None)

    def metadata(self, protocol_name: str | None) -> bytes:
        """Return the member's metadata for ``protocol_name``, which it must support."""
        for protocol in self.protocols:
            if protocol.name == protocol_name:
                return protocol.metadata
        raise AssertionError(f"member {self.member_id} does not support protocol {protocol_name}")

    def vote(self, candidates: Collection[str]) -> str:
        """Return the member's most preferred candidate. The member must support at least one."""
        first = self.protocols[0].name
        return first if first in candidates else next(each.name for each in self.protocols if each.name in candidates)
