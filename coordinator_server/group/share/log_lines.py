"""What the server's own log says of share groups: a line for each new epoch, and for each session that expires."""

from __future__ import annotations

from coordinator_server.group.share.context import ShareContext
from coordinator_server.group.share.member import ShareGroupMember


def log_expired_session(share: ShareContext, group_id: str, member: ShareGroupMember) -> None:
    """Tell that the session of a member has expired."""
    share.tell(
        "session-expired",
        group_id=group_id,
        member_id=member.member_id,
        client_host=member.metadata.client_host,
        session_timeout_ms=share.settings(group_id).share.session_timeout_ms,
    )
