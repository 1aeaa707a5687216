"""One JoinGroup request in progress: its context, its fields, and its reply."""

from __future__ import annotations

from coordinator_server.group.classic.member import member_size
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import LONGEST_SAID, Reason
from coordinator_server.machine.shard import Reply, RequestContext
from protocol.error_codes import ErrorCode
from protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse

# What a new member's id has after its client id or group instance id: a dash and a UUID.
ID_SUFFIX_BYTES = 37

_FIRST_VERSION_WITH_REBALANCE_TIMEOUT = 1
_FIRST_VERSION_THAT_REQUIRES_MEMBER_ID = 4
_FIRST_VERSION_WITH_NULL_PROTOCOL_NAME = 7
_FIRST_VERSION_WITH_SKIP_ASSIGNMENT = 9


class JoinAttempt:
    """A request with the meaning of its version. It is also the Reply that waits during the join phase."""

    __slots__ = ("_reply", "context", "request", "size")

    def __init__(self, context: RequestContext, request: JoinGroupRequest, reply: Reply[JoinGroupResponse]) -> None:
        self.context = context
        self.request = request
        self._reply = reply
        # What the member takes, whose id may not exist yet.
        self.size = member_size(
            request.member_id or f"{self.id_prefix}{'-' * ID_SUFFIX_BYTES}",
            request.group_instance_id,
            context.client_id,
            context.client_host,
            request.protocols,
        )

    @property
    def id_prefix(self) -> str:
        """What the id of a new member begins with."""
        instance_id = self.request.group_instance_id
        return self.context.client_id if instance_id is None else instance_id

    @property
    def requires_member_id(self) -> bool:
        """Whether a new member first gets an id, with which it must join again (KIP-394)."""
        return self.context.api_version >= _FIRST_VERSION_THAT_REQUIRES_MEMBER_ID

    @property
    def can_skip_assignment(self) -> bool:
        """Whether the client supports ``skip_assignment`` for a leader (KIP-814)."""
        return self.context.api_version >= _FIRST_VERSION_WITH_SKIP_ASSIGNMENT

    @property
    def rebalance_timeout_ms(self) -> int:
        """The rebalance timeout. Version 0 has only the session timeout."""
        if self.context.api_version < _FIRST_VERSION_WITH_REBALANCE_TIMEOUT:
            return self.request.session_timeout_ms
        return self.request.rebalance_timeout_ms

    def reason(self, why: Why, member_id: str) -> Reason:
        """Return a reason for this join's change of the group, with the client's own reason (KIP-800)."""
        return Reason(why, member_id, (self.request.reason or "")[:LONGEST_SAID])

    def refuse(self, error: ErrorCode, member_id: str) -> None:
        """Answer with an error and the member id to use next."""
        self.complete(JoinGroupResponse(error_code=error, member_id=member_id))

    def complete(self, response: JoinGroupResponse, /) -> None:
        """Answer with ``response``. A missing protocol name is null from version 7 on (KIP-559), empty before."""
        if self.context.api_version < _FIRST_VERSION_WITH_NULL_PROTOCOL_NAME:
            response.protocol_name = response.protocol_name or ""
        else:
            response.protocol_name = response.protocol_name or None
        self._reply.complete(response)

    def fail(self, error: ErrorCode, message: str | None = None, /) -> None:
        """Answer with the API's generic refusal."""
        self._reply.fail(error, message)
