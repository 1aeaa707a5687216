"""The target assignment of a group: what changes in it, and the task of a child process that computes that of a large group."""

from __future__ import annotations

from functools import partial
from typing import Final

from msgspec import Struct

from coordinator_server.group.assign.streams_sticky import assign_sticky
from coordinator_server.group.assign.tasks import NO_TASKS, TaskAssignment, TaskGroup
from coordinator_server.group.modern.target_task import ComputedTargets, encode_targets
from coordinator_server.group.streams.records import RECORDS
from coordinator_server.machine.executor import Task


class TaskTargetRequest(Struct, frozen=True):
    """A group. ``is_ready``: its topology can be assigned; otherwise no member has a task."""

    group_id: str
    group: TaskGroup
    is_ready: bool


def change_tasks(group: TaskGroup, is_ready: bool) -> list[tuple[str, TaskAssignment]]:
    """Return the ids of the members whose targets change and their new targets, in the order of Kafka's records.

    Raises CannotAssign.
    """
    targets = assign_sticky(group) if is_ready else {}
    found = [(member, targets.get(member.member_id, NO_TASKS)) for member in group.members]
    return [(member.member_id, target) for member, target in found if not member.has_target or target != member.target]


def _compute(request: TaskTargetRequest) -> ComputedTargets:
    change = partial(change_tasks, request.group, request.is_ready)
    return encode_targets(change, partial(RECORDS.target, request.group_id))


COMPUTE_TARGETS: Final = Task(
    "coordinator_server.group.streams.target_task:COMPUTE_TARGETS", TaskTargetRequest, ComputedTargets, _compute
)
