"""One member of a classic group: its JoinGroup fields, its assignment, and its waiting request."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import Any

from coordinator_server.machine.shard import CoordinatorResult, Reply
from protocol.messages.join_group import JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.sync_group import SyncGroupResponse


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
        "is_new",
        "member_id",
        "protocol_type",
        "protocols",
        "rebalance_timeout_ms",
        "session_key",
        "session_timeout_ms",
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
        self.awaiting_join: Reply[JoinGroupResponse] | None = None
        self.awaiting_sync: Reply[SyncGroupResponse] | None = None
        # The member has not got a JoinGroup answer yet and may be gone, so its session can expire while it waits.
        self.is_new = False

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
        return next(protocol.name for protocol in self.protocols if protocol.name in candidates)
