"""A new target assignment that a heartbeat computes itself: what the newer group types have in common of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from coordinator_server.group.assign.spec import Assignor, CannotAssign, GroupSpec, Partitions
from coordinator_server.group.assign.target import change_targets
from coordinator_server.group.modern.context import ModernContext
from coordinator_server.group.modern.group import ModernGroup
from coordinator_server.machine.errors import CoordinatorError
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode


class Target(NamedTuple):
    """The epoch of the group's target assignment, and the target of one member, in Kafka's order."""

    epoch: int
    partitions: Partitions


def changed_targets(
    assignor: Assignor, spec: GroupSpec, group_epoch: int, target_record: Callable[[str, Partitions], CoordinatorRecord]
) -> tuple[dict[str, Partitions], list[CoordinatorRecord]]:
    """Return the targets that change, by member id, and their records. Raises UNKNOWN_SERVER_ERROR if the assignor fails."""
    try:
        changed = change_targets(assignor, spec)
    except CannotAssign as failed:
        raise CoordinatorError(
            ErrorCode.UNKNOWN_SERVER_ERROR, f"Failed to compute a new target assignment for epoch {group_epoch}: {failed}"
        ) from failed
    return dict(changed), [target_record(member_id, partitions) for member_id, partitions in changed]


def is_due(context: ModernContext[Any], group: ModernGroup[Any, Any]) -> bool:
    """Return whether the group may have a new target: the next heartbeat checks it."""
    return group.is_target_due(context.settings_of(group.group_id).assignment_interval_ms, context.clock.wall_ms())
