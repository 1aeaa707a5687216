"""Lines of the server's own log about share groups: one for each new epoch and each expired session."""

from __future__ import annotations

from coordinator_server.group.share.context import ShareContext
from coordinator_server.group.share.member import ShareGroupMember


def log_expired_session(share: ShareContext, group_id: str, member: ShareGroupMember) -> None:
    """Log that the session of a member has expired."""
    share.tell(
        "session-expired",
        group_id=group_id,
        member_id=member.member_id,
        client_host=member.metadata.client_host,
        session_timeout_ms=share.settings(group_id).share.session_timeout_ms,
    )
