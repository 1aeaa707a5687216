"""One member of a classic group: what it told us, what it was assigned, and the request of its that waits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import Any

from coordinator_server.machine.shard import CoordinatorResult, Reply
from protocol.messages.join_group import JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.sync_group import SyncGroupResponse


class ClassicGroupMember:
    """Soft state. At most one JoinGroup and one SyncGroup of a member wait at a time."""

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
    """What its session timer does. Set when the session is started, so that a heartbeat builds nothing."""
    session_key: Hashable

    def __init__(self, member_id: str, group_instance_id: str | None, client_id: str, client_host: str) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout_ms = 0
        self.session_timeout_ms = 0
        self.protocol_type = ""
        # In the order of the member's preference.
        self.protocols: list[JoinGroupRequestProtocol] = []
        self.assignment = b""
        self.awaiting_join: Reply[JoinGroupResponse] | None = None
        self.awaiting_sync: Reply[SyncGroupResponse] | None = None
        # It has not seen a JoinGroup answer yet, so it may be gone without our noticing: its session can expire while it waits.
        self.is_new = False

    @property
    def is_static(self) -> bool:
        return self.group_instance_id is not None

    @property
    def has_satisfied_heartbeat(self) -> bool:
        """A member that waits for an answer of ours cannot be expected to send heartbeats."""
        return not self.is_new and (self.awaiting_join is not None or self.awaiting_sync is not None)

    def metadata(self, protocol_name: str | None) -> bytes:
        """What the member said along with ``protocol_name``, which it must support."""
        for protocol in self.protocols:
            if protocol.name == protocol_name:
                return protocol.metadata
        raise AssertionError(f"member {self.member_id} does not support protocol {protocol_name}")

    def vote(self, candidates: Collection[str]) -> str:
        """The candidate it likes best; it supports at least one."""
        return next(protocol.name for protocol in self.protocols if protocol.name in candidates)
