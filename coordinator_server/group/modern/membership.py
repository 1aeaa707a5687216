"""Which member a heartbeat comes from. Refusals have Kafka's messages."""

from __future__ import annotations

from typing import Any

from coordinator_server.group.modern.group import ModernGroup
from coordinator_server.group.modern.member import M
from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode


def refuse_if_full(group: ModernGroup[Any, Any], member_id: str | None, max_size: int) -> None:
    """Refuse a new member of a group that has no room, also one that would replace a static member; with None, any member.

    Raises GROUP_MAX_SIZE_REACHED.
    """
    if len(group.members) < max_size or (member_id is not None and member_id in group.members):
        return
    raise CoordinatorError(
        ErrorCode.GROUP_MAX_SIZE_REACHED,
        f"The {group.records.type_name} group has reached its maximum capacity of {max_size} members.",
    )


def require_member(group: ModernGroup[M, Any], member_id: str) -> M:
    """Return a member. Raises UNKNOWN_MEMBER_ID."""
    member = group.members.get(member_id)
    if member is None:
        raise unknown_member(group.group_id, member_id)
    return member


def unknown_member(group_id: str, member_id: str) -> CoordinatorError:
    """Return the refusal of a member that the group does not have."""
    return CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {group_id}.")


def fenced_epoch(group: ModernGroup[Any, Any], epoch: int, own: int, more: str = "") -> CoordinatorError:
    """Return the refusal of a member's heartbeat with another epoch than its ``own``."""
    relation = "greater" if epoch > own else "smaller"
    return CoordinatorError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The {group.records.type_name} group member has a {relation} member epoch ({epoch}) than the one known by the group "
        f"coordinator ({own}){more}. The member must abandon all its partitions and rejoin.",
    )
