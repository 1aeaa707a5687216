"""One JoinGroup in the making: who asks, for what, and who is to be answered."""

from __future__ import annotations

from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason
from coordinator_server.machine.shard import Reply, RequestContext
from protocol.error_codes import ErrorCode
from protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse

_FIRST_VERSION_WITH_REBALANCE_TIMEOUT = 1
_FIRST_VERSION_THAT_REQUIRES_MEMBER_ID = 4
_FIRST_VERSION_WITH_NULL_PROTOCOL_NAME = 7
_FIRST_VERSION_WITH_SKIP_ASSIGNMENT = 9


class JoinAttempt:
    """A request with what its version means. It is also the Reply that waits while members join."""

    __slots__ = ("_reply", "context", "request")

    def __init__(self, context: RequestContext, request: JoinGroupRequest, reply: Reply[JoinGroupResponse]) -> None:
        self.context = context
        self.request = request
        self._reply = reply

    @property
    def requires_member_id(self) -> bool:
        """Whether a new member is first given an id, and asked to come back with it (KIP-394)."""
        return self.context.api_version >= _FIRST_VERSION_THAT_REQUIRES_MEMBER_ID

    @property
    def can_skip_assignment(self) -> bool:
        """Whether its client knows that a leader may have nothing to assign (KIP-814)."""
        return self.context.api_version >= _FIRST_VERSION_WITH_SKIP_ASSIGNMENT

    @property
    def rebalance_timeout_ms(self) -> int:
        """Version 0 has only the one timeout."""
        if self.context.api_version < _FIRST_VERSION_WITH_REBALANCE_TIMEOUT:
            return self.request.session_timeout_ms
        return self.request.rebalance_timeout_ms

    def reason(self, why: Why, member_id: str) -> Reason:
        """Why the group changes with this join, with what the client says to it (KIP-800)."""
        return Reason(why, member_id, self.request.reason or "")

    def refuse(self, error: ErrorCode, member_id: str) -> None:
        """Answer with an error and the member id to go on with."""
        self.complete(JoinGroupResponse(error_code=error, member_id=member_id))

    def complete(self, response: JoinGroupResponse, /) -> None:
        """Answer. No protocol is null where that is allowed (KIP-559), and empty before."""
        if self.context.api_version < _FIRST_VERSION_WITH_NULL_PROTOCOL_NAME:
            response.protocol_name = response.protocol_name or ""
        else:
            response.protocol_name = response.protocol_name or None
        self._reply.complete(response)

    def fail(self, error: ErrorCode, message: str | None = None, /) -> None:
        """Answer as the edge does when nothing of the protocol is to be said."""
        self._reply.fail(error, message)
