"""Groups that change between the classic and the consumer protocol: the only module that sees both.

A member of the consumer protocol may replace an empty classic group: its first heartbeat writes the tombstone of that group.
"""

from __future__ import annotations

from coordinator_server.group.classic.records import group_tombstone
from coordinator_server.group.classic.state import EMPTY
from coordinator_server.group.registry import Groups
from coordinator_server.machine.errors import CoordinatorError
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode


def admit_consumer_member(groups: Groups, group_id: str, member_epoch: int) -> list[CoordinatorRecord]:
    """Return the records that precede those of a new consumer group. Raises GROUP_ID_NOT_FOUND if it may not exist."""
    classic = None if group_id in groups.others else groups.classic.find(group_id)
    if group_id not in groups.others and classic is None:
        if member_epoch == 0:
            return []
        kind = "Consumer group" if member_epoch > 0 else "Group"
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"{kind} {group_id} not found.")
    if member_epoch == 0 and classic is not None and classic.state is EMPTY:
        return [group_tombstone(group_id)]
    raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
