"""The task of a child process that computes the target assignment of a large share group."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from coordinator_server.group.assign.assignors import SHARE_ASSIGNORS
from coordinator_server.group.assign.order import order_sharing_members
from coordinator_server.group.modern.target_task import ComputedTargets, TargetRequest, compute_targets
from coordinator_server.group.share.records import RECORDS
from coordinator_server.machine.executor import Task


def order(member_ids: Sequence[str], most: int) -> list[str]:
    """Return the order in which the assignor of a share group gets its members, if no request changes one."""
    return order_sharing_members(member_ids, None, most)


COMPUTE_TARGETS: Final = Task(
    "coordinator_server.group.share.target_task:COMPUTE_TARGETS",
    TargetRequest,
    ComputedTargets,
    partial(compute_targets, SHARE_ASSIGNORS, order, RECORDS),
)
